import { EditorView } from "@codemirror/view";
import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";
import { renderConsole } from "@/testing/render";
import { MigrationDialog } from "./migration-dialog";

// jsdom has no layout, which CodeMirror asks for.
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;

afterEach(() => vi.unstubAllGlobals());

async function open() {
  vi.stubGlobal("fetch", async () =>
    Response.json({ code: "42601", message: "no" }, { status: 400 }),
  );
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
