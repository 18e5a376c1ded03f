import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { SaveDialog } from "./save-dialog";

afterEach(() => vi.unstubAllGlobals());

it("console_096_a_snippet_that_came_since_the_list_was_read_is_not_replaced_without_a_word", async () => {
  const puts: unknown[] = [];
  let names: string[] = [];
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method !== "PUT") {
      return Response.json({ snippets: names.map((name) => ({ name, updated_at: "" })) });
    }
    const body = JSON.parse(String(init.body));
    puts.push(body);
    return names.length > 0 && body.base === null
      ? Response.json({ code: "conflict", message: "It was saved since" }, { status: 409 })
      : new Response(null, { status: 204 });
  });
  const [onSaved, onClose] = [vi.fn(), vi.fn()];
  renderConsole(
    <SaveDialog suggestion="Query 1" text="select 1" onSaved={onSaved} onClose={onClose} />,
  );
  await userEvent.clear(screen.getByLabelText("Name"));
  await userEvent.type(screen.getByLabelText("Name"), "orders");
  names = ["orders"];
  await userEvent.click(screen.getByRole("button", { name: "Save" }));

  expect(await screen.findByText("It was saved since")).toBeVisible();
  expect(onSaved).not.toHaveBeenCalled();
  await userEvent.click(await screen.findByRole("button", { name: "Replace" }));
  await waitFor(() => expect(onSaved).toHaveBeenCalledWith("orders"));
  expect(puts).toEqual([{ text: "select 1", base: null }, { text: "select 1" }]);
});
