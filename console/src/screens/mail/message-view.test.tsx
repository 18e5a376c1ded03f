import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Link } from "react-router";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { mailKey } from "./api";
import { MessageView } from "./message-view";
import { Screen } from "./screen";

afterEach(() => vi.unstubAllGlobals());

const messageOf = (id: string) => ({
  id,
  time: "2026-01-01T00:00:00Z",
  from: "shop@example.com",
  to: [`${id}@example.com`],
  subject: `To ${id}`,
  snippet: "",
  kind: "mail",
  html: null,
  text: `Hello ${id}`,
  headers: [],
});

it("console_031_a_message_that_somebody_else_has_deleted_stays_readable_and_cannot_be_deleted", async () => {
  let isGone = false;
  vi.stubGlobal("fetch", async () =>
    isGone
      ? Response.json({ code: "not_found", message: "Gone." }, { status: 404 })
      : Response.json(messageOf("ana")),
  );
  const { client } = renderConsole(<MessageView id="ana" onDeleted={() => undefined} />);
  expect(await screen.findByRole("button", { name: "Delete" })).toBeEnabled();
  isGone = true;
  await act(() => client.invalidateQueries({ queryKey: mailKey }));

  expect(await screen.findByText(/Somebody has deleted this message/)).toBeVisible();
  expect(screen.getByText("Hello ana")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Delete" })).not.toBeInTheDocument();
});

it("console_031_the_deletion_of_one_message_does_not_close_the_one_that_was_opened_since", async () => {
  let answer = () => {};
  let isDeleted = false;
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    if (init?.method === "DELETE") {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      isDeleted = true;
      return new Response(null, { status: 204 });
    }
    const id = url.match(/mail\/(\w+)$/)?.[1];
    if (id !== undefined) return Response.json(messageOf(id));
    const all = ["ana", "ben"].filter((one) => one !== "ana" || !isDeleted);
    return Response.json({ messages: all.map(messageOf), next: null });
  });
  renderConsole(
    <>
      <Screen />
      {/* jsdom has no layout, so the list draws no lines. */}
      <Link to="?open=ben">The message to Ben</Link>
    </>,
    "/mail?open=ana",
  );
  await userEvent.click(await screen.findByRole("button", { name: "Delete" }));
  await userEvent.type(screen.getByRole("textbox", { name: /to confirm/ }), "ana@example.com");
  await userEvent.click(screen.getByRole("button", { name: "Delete message" }));
  await userEvent.keyboard("{Escape}");
  await userEvent.click(screen.getByText("The message to Ben"));
  expect(await screen.findByText("Hello ben")).toBeVisible();
  answer();
  await waitFor(() => expect(isDeleted).toBe(true));
  await act(async () => {});

  expect(screen.getByText("Hello ben")).toBeVisible();
});
