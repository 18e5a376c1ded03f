import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { BulkEdit } from "./bulk-edit";
import type { GridRow } from "./table-rows";

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
