import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { addDocument, keepText, openDocuments, useDocuments, useText } from "./documents";
import { useSaveTab } from "./use-save-tab";

/** The snippet as it is saved; null where it is gone. */
let stored: string | null;
let puts: string[];

/** What another window does between reading and writing; it runs once. */
let meanwhile: (() => void) | null;

beforeEach(() => {
  stored = "select 1";
  puts = [];
  meanwhile = null;
  vi.stubGlobal("fetch", async (_: string, init: RequestInit) => {
    if (init.method === "PUT") {
      meanwhile?.();
      meanwhile = null;
      const { text, base } = JSON.parse(String(init.body));
      // The server compares the digest in its statement; here a text is its own digest.
      if (base !== undefined && base !== stored) {
        return Response.json({ code: "conflict", message: "Saved since" }, { status: 409 });
      }
      stored = text;
      puts.push(text);
      return new Response(null, { status: 204 });
    }
    return stored === null
      ? Response.json({ code: "not_found", message: "No" }, { status: 404 })
      : Response.json({ name: "one", text: stored, updated_at: "", digest: stored });
  });
});
afterEach(() => vi.unstubAllGlobals());

function Tab({ id }: { id: string }) {
  const tab = useDocuments().find((one) => one.id === id);
  if (tab === undefined) throw new Error("The test has opened the tab.");
  const saving = useSaveTab(tab, useText(id));
  return (
    <>
      <button type="button" onClick={saving.save}>
        Save
      </button>
      {saving.overtaken !== null && (
        <>
          <p>{`now ${saving.overtaken.theirs ?? "gone"}`}</p>
          <button type="button" onClick={saving.replace}>
            Replace
          </button>
        </>
      )}
    </>
  );
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

it("console_096_a_snippet_that_an_editor_has_changed_is_not_replaced_without_a_question", async () => {
  openDocuments("snippets");
  const id = addDocument("select 1", "one", "one");
  renderConsole(<Tab id={id} />);
  keepText(id, "select 2");
  await press("Save");
  await waitFor(() => expect(puts).toEqual(["select 2"]));
  // Its own save is no change of somebody else.
  keepText(id, "select 3");
  await press("Save");
  await waitFor(() => expect(puts).toEqual(["select 2", "select 3"]));

  stored = "select 'of the editor'";
  keepText(id, "select 4");
  await press("Save");
  expect(await screen.findByText("now select 'of the editor'")).toBeVisible();
  expect(puts).toHaveLength(2);
  await press("Replace");
  await waitFor(() => expect(puts.at(-1)).toBe("select 4"));
  // One that somebody has deleted is made again only when that is wanted.
  stored = null;
  await press("Save");
  expect(await screen.findByText("now gone")).toBeVisible();
  expect(puts).toHaveLength(3);
  await press("Replace");
  await waitFor(() => expect(puts).toHaveLength(4));
});

it("console_096_a_snippet_that_is_saved_between_reading_and_writing_is_asked_about_too", async () => {
  openDocuments("other snippets");
  const id = addDocument("select 1", "one", "one");
  renderConsole(<Tab id={id} />);
  keepText(id, "mine");
  meanwhile = () => {
    stored = "of the other window";
  };
  await press("Save");
  expect(await screen.findByText("now of the other window")).toBeVisible();
  expect(puts).toEqual([]);

  // What was agreed to be replaced is that text, and no later one.
  meanwhile = () => {
    stored = "later";
  };
  await press("Replace");
  expect(await screen.findByText("now later")).toBeVisible();
  expect(puts).toEqual([]);
  await press("Replace");
  await waitFor(() => expect(puts).toEqual(["mine"]));
});
