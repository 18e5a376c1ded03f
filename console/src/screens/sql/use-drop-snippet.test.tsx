import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { addDocument, openDocuments } from "./documents";
import { SqlList } from "./sql-list";

/** The snippet `orders` as it is saved, by whom the time tells; null where it is gone. Here a text is its own digest. */
let stored: { text: string; updated_at: string } | null;
let deleted: string[];
/** What another window does between reading and deleting; it runs once. */
let meanwhile: (() => void) | null;

beforeEach(() => {
  stored = { text: "select 1", updated_at: "1" };
  deleted = [];
  meanwhile = null;
  vi.stubGlobal("fetch", async (path: string, init: RequestInit = {}) => {
    const { pathname, searchParams } = new URL(path, "http://console.test");
    if (init.method === "DELETE") {
      meanwhile?.();
      meanwhile = null;
      const base = searchParams.get("base");
      if (base !== stored?.text)
        return Response.json({ code: "conflict", message: "Saved since" }, { status: 409 });
      deleted.push(base);
      stored = null;
      return new Response(null, { status: 204 });
    }
    if (pathname.endsWith("/snippets")) {
      const snippets = stored === null ? [] : [{ name: "orders", updated_at: stored.updated_at }];
      return Response.json({ snippets });
    }
    return stored === null
      ? Response.json({ code: "not_found", message: "No" }, { status: 404 })
      : Response.json({ name: "orders", ...stored, digest: stored.text });
  });
});
afterEach(() => vi.unstubAllGlobals());

async function openList() {
  renderConsole(<SqlList tab="snippets" onTab={() => undefined} onOpen={() => undefined} />);
  await screen.findByRole("button", { name: "Delete orders" });
}

const press = async (name: string) => userEvent.click(await screen.findByRole("button", { name }));
const question = () => screen.findByRole("alertdialog");

it("console_096_a_snippet_is_deleted_as_the_list_has_shown_it_and_no_other_text_without_a_question", async () => {
  await openList();
  stored = { text: "of an editor", updated_at: "2" };
  await press("Delete orders");
  expect(await question()).toHaveTextContent("of an editor");
  expect(deleted).toEqual([]);
  await press("Cancel");
  expect(deleted).toEqual([]);

  // What was agreed to be deleted is that text, and no later one.
  await press("Delete orders");
  await question();
  meanwhile = () => {
    stored = { text: "later", updated_at: "3" };
  };
  await press("Delete it");
  await waitFor(async () => expect(await question()).toHaveTextContent("later"));
  expect(deleted).toEqual([]);
  await press("Delete it");
  await waitFor(() => expect(deleted).toEqual(["later"]));
  expect(screen.queryByRole("alertdialog")).toBeNull();
});

it("console_096_a_snippet_that_is_open_in_a_tab_is_deleted_as_the_tab_has_shown_it", async () => {
  openDocuments("deleting snippets");
  addDocument("select 0", "orders", "orders");
  // The list has been read again since: it tells nothing of what the person knows.
  await openList();
  await press("Delete orders");
  expect(await question()).toHaveTextContent("select 1");
  await press("Delete it");
  await waitFor(() => expect(deleted).toEqual(["select 1"]));
});
