import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { Toaster } from "@/components/toaster";
import { stagedStoreOf } from "@/lib/rows/left-overs";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole, testSession } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { BulkEdit } from "./bulk-edit";
import { useStaging } from "./staged/use-staging";
import type { GridRow } from "./table-rows";
import { useTableEditor } from "./use-table-editor";

const rowOf = (key: string): GridRow => ({ key, read: null, staged: undefined, mark: undefined });

function open() {
  const table = makeTable({
    columns: [makeColumn("id"), makeColumn("note", { type: "text", nullable: true })],
  });
  const selected = [rowOf("1"), rowOf("2")];
  const [onClose, onStageSelected, onStageMatching] = [vi.fn(), vi.fn(), vi.fn()];
  const dialog = (rows: GridRow[]) => (
    <BulkEdit
      table={table}
      catalog={makeCatalog(table)}
      filters={[]}
      selected={rows}
      onStageSelected={onStageSelected}
      onStageMatching={onStageMatching}
      onClose={onClose}
    />
  );
  const { rerender } = renderConsole(dialog(selected));
  /** The page is read anew, and these of the selected rows are still on it. */
  const leave = (rows: GridRow[]) => rerender(dialog(rows));
  return { selected, leave, onClose, onStageSelected, onStageMatching };
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

it("console_059_a_value_is_staged_only_after_it_was_chosen_and_asked_about_before_the_window_closes", async () => {
  const { selected, onClose, onStageSelected } = open();
  expect(screen.getByRole("button", { name: "Stage" })).toBeDisabled();
  // Chosen by a button, without a letter typed.
  await press("NULL");
  await userEvent.keyboard("{Escape}");
  expect(await screen.findByText("Discard what you typed?")).toBeVisible();
  expect(onClose).not.toHaveBeenCalled();
  await press("Cancel");
  await press("Stage");

  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(onStageSelected).toHaveBeenCalledWith(selected, { note: { value: null } });
});

it("console_059_selected_rows_that_leave_the_page_under_the_window_never_become_all_rows", async () => {
  const { selected, leave, onClose, onStageSelected, onStageMatching } = open();
  const ofSelected = screen.getByRole("radio", { name: "The selected 2 rows" });
  // A click on what is chosen already.
  await userEvent.click(ofSelected);
  await press("NULL");
  leave([]);

  expect(ofSelected).toBeChecked();
  expect(ofSelected).toBeEnabled();
  await press("Stage");
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(onStageMatching).not.toHaveBeenCalled();
  expect(onStageSelected).toHaveBeenCalledWith(selected, { note: { value: null } });
});

const people = makeTable({ columns: [makeColumn("id"), makeColumn("note")] });
const peopleCatalog = makeCatalog(people);

/** Adds rows, remembers what the selection was, and stages a value for it. */
function Editor() {
  const editor = useTableEditor(people, peopleCatalog, useStaging());
  const [chosen, setChosen] = useState<readonly GridRow[]>([]);
  return (
    <>
      <button type="button" onClick={editor.insert}>
        Add
      </button>
      <button type="button" onClick={() => setChosen(editor.rows)}>
        {`Choose ${editor.rows.length}`}
      </button>
      <button
        type="button"
        onClick={() => editor.stageSelected(chosen, { note: { value: "set" } })}
      >
        {`Stage ${chosen.length}`}
      </button>
    </>
  );
}

it("console_059_a_new_row_that_was_written_under_the_window_is_not_skipped_without_a_word", async () => {
  vi.stubGlobal("fetch", () => new Promise(() => {}));
  renderConsole(
    <>
      <Editor />
      <Toaster />
    </>,
  );
  const store = stagedStoreOf(testSession);
  await press("Add");
  await press("Add");
  await press("Choose 2");
  // Applied in another window.
  store.update((changes) => changes.slice(1));
  await press("Stage 2");

  expect(await screen.findByText("1 selected row was left out")).toBeVisible();
  expect(screen.getByText(/1 new row of the selection is no longer staged/)).toBeVisible();
  expect(store.current().map(({ change }) => "values" in change && change.values)).toEqual([
    { note: { value: "set" } },
  ]);
  vi.unstubAllGlobals();
});
