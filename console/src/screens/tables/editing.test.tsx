import { fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Cell } from "@/lib/rows/types";
import { makeCatalog, makeColumn } from "@/testing/columns";
import { renderConsole } from "@/testing/render";
import { makeTable } from "@/testing/tables";
import { BulkEdit } from "./bulk-edit";
import { CellEditor } from "./editors/cell-editor";
import { ValueInput } from "./editors/value-input";
import type { GridRow } from "./table-rows";
import { useCellEdit } from "./use-cell-edit";

const shortcuts = vi.hoisted(() => ({ isMac: false }));
vi.mock("@/lib/shortcuts", async (original) => ({
  ...(await original<object>()),
  get isMac() {
    return shortcuts.isMac;
  },
}));

beforeEach(() => {
  shortcuts.isMac = false;
});
afterEach(() => vi.unstubAllGlobals());

const note = makeColumn("note");
const table = makeTable({
  columns: [
    makeColumn("id"),
    note,
    makeColumn("is_new", { type: "boolean" }),
    makeColumn("mood", { type: "mood" }),
  ],
});

it("console_053_option_and_backspace_delete_a_word_on_a_mac_and_null_an_empty_field", () => {
  const change = vi.fn();
  const field = (cell: Cell) => (
    <ValueInput
      aria-label="note"
      column={note}
      kind="text"
      enumType={undefined}
      cell={cell}
      onChange={change}
    />
  );
  const { rerender } = renderConsole(field({ value: "two words" }));
  const press = () =>
    fireEvent.keyDown(screen.getByLabelText("note"), { key: "Backspace", altKey: true });
  shortcuts.isMac = true;

  // The browser's own action, which deletes the word, is not prevented.
  expect(press()).toBe(true);
  expect(change).not.toHaveBeenCalled();
  rerender(field({ value: "" }));
  expect(press()).toBe(false);
  expect(change).toHaveBeenLastCalledWith({ value: null });

  shortcuts.isMac = false;
  rerender(field({ value: "two words" }));
  press();
  expect(change).toHaveBeenCalledTimes(2);
});

it("console_034_editing_a_word_keeps_the_line_ends_of_the_whole_value", () => {
  const change = vi.fn();
  renderConsole(
    <ValueInput
      aria-label="note"
      column={note}
      kind="text"
      enumType={undefined}
      cell={{ value: "one\r\ntwo\r\nthree" }}
      onChange={change}
    />,
  );
  fireEvent.change(screen.getByLabelText("note"), { target: { value: "one\nTWO\nthree" } });

  expect(change).toHaveBeenCalledWith({ value: "one\r\nTWO\r\nthree" });
});

it("console_053_the_enter_of_an_input_method_does_not_end_the_edit_of_a_cell", () => {
  const commit = vi.fn();
  renderConsole(
    <CellEditor
      column={note}
      kind="text"
      enumType={undefined}
      target={undefined}
      cell={{ value: "に" }}
      onChange={() => {}}
      onCommit={commit}
      onCancel={() => {}}
    />,
  );
  const field = screen.getByLabelText("note");
  fireEvent.keyDown(field, { key: "Enter", isComposing: true });
  expect(commit).not.toHaveBeenCalled();
  fireEvent.keyDown(field, { key: "Enter" });
  expect(commit).toHaveBeenCalledOnce();
});

const rowOf = (value: string): GridRow => ({
  key: '["1"]',
  read: {
    key: '["1"]',
    id: { key: ["1"], xmin: value },
    cells: ["1", value],
    places: new Map([
      ["id", 0],
      ["note", 1],
    ]),
    cuts: undefined,
  },
  staged: undefined,
  mark: undefined,
});

const gridColumn = {
  column: note,
  kind: "text" as const,
  width: 100,
  isKey: false,
  isForeignKey: false,
};

function Editing({ rows, stage }: { rows: GridRow[]; stage: (row: GridRow) => void }) {
  const { edit, begin, change } = useCellEdit({ rows, stage });
  const [row] = rows;
  return (
    <>
      <button type="button" onClick={() => row !== undefined && begin(row, gridColumn)}>
        Edit
      </button>
      <button type="button" onClick={() => change({ value: "typed" })}>
        Type
      </button>
      <p>{edit === null ? "not editing" : JSON.stringify(edit.cell)}</p>
    </>
  );
}

it("console_033_a_cell_is_staged_on_the_row_that_was_read_when_its_edit_began", () => {
  const stage = vi.fn();
  const first = rowOf("old");
  const { rerender, unmount } = renderConsole(<Editing rows={[first]} stage={stage} />);
  fireEvent.click(screen.getByRole("button", { name: "Edit" }));
  fireEvent.click(screen.getByRole("button", { name: "Type" }));

  // Another person has changed the row, and it was read again.
  rerender(<Editing rows={[rowOf("theirs")]} stage={stage} />);
  expect(screen.getByText('{"value":"typed"}')).toBeVisible();
  expect(stage).not.toHaveBeenCalled();

  // Another screen is opened, and React tells of no blur.
  unmount();
  expect(stage).toHaveBeenCalledExactlyOnceWith(first, { note: { value: "typed" } });
});

it("console_031_a_typed_cell_is_staged_when_its_row_leaves_the_loaded_pages", () => {
  const stage = vi.fn();
  const { rerender } = renderConsole(<Editing rows={[rowOf("old")]} stage={stage} />);
  fireEvent.click(screen.getByRole("button", { name: "Edit" }));
  fireEvent.click(screen.getByRole("button", { name: "Type" }));
  rerender(<Editing rows={[]} stage={stage} />);

  expect(stage).toHaveBeenCalledOnce();
  expect(screen.getByText("not editing")).toBeVisible();
});

it("console_057_a_value_for_many_rows_has_to_be_chosen", async () => {
  const stageSelected = vi.fn();
  const selected = ["1", "2"].map(
    (key): GridRow => ({ key, read: null, staged: undefined, mark: undefined }),
  );
  const catalog = {
    ...makeCatalog(table),
    enums: [{ schema: "public", name: "mood", values: ["sad", "happy"] }],
  };
  renderConsole(
    <BulkEdit
      table={table}
      catalog={catalog}
      filters={[]}
      selected={selected}
      onStageSelected={stageSelected}
      onStageMatching={() => {}}
      onClose={() => {}}
    />,
  );
  const stage = () => screen.getByRole("button", { name: "Stage" });
  const column = () => screen.getByLabelText("Column");
  const value = () => screen.getByLabelText("New value");

  fireEvent.change(column(), { target: { value: "note" } });
  expect(stage()).toBeDisabled();
  fireEvent.change(column(), { target: { value: "is_new" } });
  expect(stage()).toBeDisabled();
  expect(value()).toHaveDisplayValue("Choose a value");
  fireEvent.change(value(), { target: { value: "f" } });
  expect(stage()).toBeEnabled();

  fireEvent.change(column(), { target: { value: "note" } });
  fireEvent.click(screen.getByRole("button", { name: "empty" }));
  expect(screen.getByText("The column is set to the empty text.")).toBeVisible();
  fireEvent.click(stage());
  await waitFor(() =>
    expect(stageSelected).toHaveBeenCalledWith(selected, { note: { value: "" } }),
  );
});
