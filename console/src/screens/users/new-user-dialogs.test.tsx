import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { CreateUserDialog } from "./new-user-dialogs";

afterEach(() => vi.unstubAllGlobals());

it("console_033_nothing_is_typed_into_a_user_that_is_being_made_and_the_window_closes_at_the_answer", async () => {
  let answer = (_: Response) => {};
  vi.stubGlobal("fetch", (_: string, init?: RequestInit) =>
    init?.method === "POST"
      ? new Promise<Response>((resolve) => {
          answer = resolve;
        })
      : new Promise(() => {}),
  );
  const onCreated = vi.fn();
  renderConsole(<CreateUserDialog onClose={vi.fn()} onCreated={onCreated} />);
  await userEvent.type(screen.getByLabelText(/^Mail address/), "ana@example.com");
  await userEvent.click(screen.getByRole("button", { name: "Create user" }));
  await screen.findByText("Saving…");
  const password = screen.getByLabelText("Password");
  await userEvent.type(password, "secret");
  expect(password).toHaveValue("");

  answer(Response.json({ id: "ana" }));
  await waitFor(() => expect(onCreated).toHaveBeenCalledWith("ana"));
});
