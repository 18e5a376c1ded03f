import { EditorView } from "@codemirror/view";
import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { MigrationDialog } from "./migration-dialog";

// jsdom has no layout, which CodeMirror asks for.
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;

afterEach(() => vi.unstubAllGlobals());

const refuse: typeof fetch = async () =>
  Response.json({ code: "42601", message: "no" }, { status: 400 });

async function open(answer = refuse) {
  vi.stubGlobal("fetch", answer);
  const close = vi.fn();
  renderConsole(<MigrationDialog title="Add a column" sql="select 1" onClose={close} />);
  const editor = await waitFor(() => {
    const found = document.querySelector<HTMLElement>(".cm-editor");
    const view = found === null ? null : EditorView.findFromDOM(found);
    if (view === null) throw new Error("The editor is not there yet.");
    return view;
  });
  return { close, editor };
}

it("console_031_sql_that_was_pasted_into_a_migration_is_asked_about_at_escape_and_a_reload", async () => {
  const { close, editor } = await open();
  // As CodeMirror does it: a paste in it is no event of a field.
  act(() =>
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: "select 2" } }),
  );
  await userEvent.click(screen.getByLabelText("Name of the migration"));
  await userEvent.keyboard("{Escape}");

  expect(await screen.findByText("Discard what you typed?")).toBeVisible();
  expect(close).not.toHaveBeenCalled();
  expect(window.dispatchEvent(new Event("beforeunload", { cancelable: true }))).toBe(false);
});

it("console_031_a_migration_that_was_only_looked_at_closes_at_once", async () => {
  const { close } = await open();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(close).toHaveBeenCalledOnce());
});

it("console_033_neither_name_nor_sql_of_a_migration_is_edited_while_it_runs", async () => {
  const effects = {
    locks: [],
    rewrites: false,
    rows: null,
    dropped: [],
    dependants: [],
    notes: [],
  };
  const { editor } = await open(async (_, init) =>
    String(init?.body).includes('"preview":true')
      ? Response.json({ sql: "select 1", ...effects })
      : new Promise(() => {}),
  );
  const save = screen.getByRole("button", { name: "Save as migration" });
  await waitFor(() => expect(save).toBeEnabled());
  await userEvent.click(save);
  await screen.findByText("Saving…");

  expect(screen.getByLabelText("Name of the migration")).toBeDisabled();
  expect(editor.dom.closest("[inert]")).not.toBeNull();
});
