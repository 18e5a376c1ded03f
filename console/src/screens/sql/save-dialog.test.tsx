import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { SaveDialog } from "./save-dialog";

/** The snippet `orders` as it is saved; null before it is there. Here a text is its own digest. */
let stored: string | null;
let puts: unknown[];
/** Whether answers are lost on their way, also that of the list which is read after a save. */
let isLost: boolean;

beforeEach(() => {
  stored = null;
  puts = [];
  isLost = false;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit) => {
    if (init.method === "PUT") {
      const body = JSON.parse(String(init.body));
      puts.push(body);
      if (body.base !== undefined && body.base !== stored)
        return Response.json({ code: "conflict", message: "It was saved since" }, { status: 409 });
      stored = body.text;
      if (isLost) throw new TypeError("Failed to fetch");
      return new Response(null, { status: 204 });
    }
    if (isLost) throw new TypeError("Failed to fetch");
    if (path.endsWith("/snippets")) {
      const names = stored === null ? [] : ["orders"];
      return Response.json({ snippets: names.map((name) => ({ name, updated_at: "" })) });
    }
    return stored === null
      ? Response.json({ code: "not_found", message: "No" }, { status: 404 })
      : Response.json({ name: "orders", text: stored, updated_at: "", digest: stored });
  });
});
afterEach(() => vi.unstubAllGlobals());

async function open() {
  const [onSaved, onClose] = [vi.fn(), vi.fn()];
  renderConsole(
    <SaveDialog suggestion="Query 1" text="select 1" onSaved={onSaved} onClose={onClose} />,
  );
  await userEvent.clear(screen.getByLabelText("Name"));
  await userEvent.type(screen.getByLabelText("Name"), "orders");
  return onSaved;
}

const press = async (name: string) => userEvent.click(await screen.findByRole("button", { name }));

it("console_096_a_snippet_that_came_since_the_list_was_read_is_not_replaced_without_a_word", async () => {
  const onSaved = await open();
  stored = "theirs";
  await press("Save");

  expect(await screen.findByText("It was saved since")).toBeVisible();
  expect(onSaved).not.toHaveBeenCalled();
  await press("Replace");
  await waitFor(() => expect(onSaved).toHaveBeenCalledWith("orders"));
  expect(puts).toEqual([
    { text: "select 1", base: null },
    { text: "select 1", base: "theirs" },
  ]);
});

it("console_096_replace_replaces_the_text_that_was_there_when_it_was_offered_and_no_later_one", async () => {
  stored = "theirs";
  const onSaved = await open();
  await screen.findByRole("button", { name: "Replace" });
  await waitFor(() => expect(screen.getByRole("button", { name: "Replace" })).toBeEnabled());
  stored = "later";
  await press("Replace");

  expect(await screen.findByText("It was saved since")).toBeVisible();
  expect(stored).toBe("later");
  await waitFor(async () => {
    await press("Replace");
    expect(onSaved).toHaveBeenCalledWith("orders");
  });
});

it("console_096_a_save_whose_answer_was_lost_is_no_save_of_somebody_else", async () => {
  const onSaved = await open();
  isLost = true;
  await press("Save");
  expect(await screen.findByText("It was not saved")).toBeVisible();
  isLost = false;
  await press("Save");
  await waitFor(() => expect(onSaved).toHaveBeenCalledWith("orders"));
  expect(stored).toBe("select 1");
});
