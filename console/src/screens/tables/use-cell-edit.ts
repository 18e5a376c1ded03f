/**
 * The cell that is being edited in the grid. What is typed belongs to the row and the values that were read when the edit began: rows
 * that are read meanwhile neither replace the text nor become what it is compared with.
 */
import { isSameValue } from "@ui/merge-edit";
import { useOnLeave } from "@ui/use-on-leave";
import { useCallback, useEffect, useRef, useState } from "react";
import type { Cell } from "@/lib/rows/types";
import type { GridColumn } from "@/screens/tables/grid/data-grid";
import { cellOf, type GridRow } from "@/screens/tables/table-rows";
import type { TableEditor } from "@/screens/tables/use-table-editor";

export interface CellEdit {
  /** The row as it was read when the edit began. */
  row: GridRow;
  column: GridColumn;
  cell: Cell;
  isTyped: boolean;
}

export function useCellEdit({ rows, stage }: Pick<TableEditor, "rows" | "stage">) {
  const [edit, setEdit] = useState<CellEdit | null>(null);
  /** The newest state, also for events that come before the next drawing. */
  const newest = useRef<CellEdit | null>(null);
  const put = useCallback((next: CellEdit | null) => {
    newest.current = next;
    setEdit(next);
  }, []);
  const begin = useCallback(
    (row: GridRow, column: GridColumn) => {
      const { value, isDefault } = cellOf(row, column.column);
      put({ row, column, cell: isDefault ? { default: true } : { value }, isTyped: false });
    },
    [put],
  );
  const change = useCallback(
    (cell: Cell) => {
      const before = newest.current;
      if (before === null || isSameValue(before.cell, cell)) return;
      put({ ...before, cell, isTyped: true });
    },
    [put],
  );
  const cancel = useCallback(() => put(null), [put]);
  const newestStage = useRef(stage);
  useEffect(() => {
    newestStage.current = stage;
  });
  /** Stages what was typed and ends the edit. */
  const finish = useCallback(() => {
    const ended = newest.current;
    if (ended === null) return;
    put(null);
    if (ended.isTyped) newestStage.current(ended.row, { [ended.column.column.name]: ended.cell });
  }, [put]);
  const isRowThere = edit === null || rows.some(({ key }) => key === edit.row.key);
  useEffect(() => {
    // The row has left the loaded pages, and its editor with it.
    if (!isRowThere) finish();
  }, [isRowThere, finish]);
  useOnLeave(finish);
  return { edit, begin, change, cancel, finish };
}
