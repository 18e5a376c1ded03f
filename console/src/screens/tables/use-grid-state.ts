import { useCallback, useState } from "react";
import type { Column, Table } from "@/api/catalog-model";
import type { Cell } from "@/lib/rows/types";
import { toast } from "@/lib/toast";
import type { Place } from "@/screens/tables/grid/data-grid";
import { cellOf, type GridRow, whyFixed } from "@/screens/tables/table-rows";
import { useCellEdit } from "@/screens/tables/use-cell-edit";
import { followRow, type TableEditor } from "@/screens/tables/use-table-editor";

/** The active cell, the selection, and the cell that is being edited. */
export function useGridState(table: Table, editor: TableEditor) {
  const { rows, columns, readOnly } = editor;
  const [active, setActive] = useState<Place>({ row: 0, column: 0 });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [anchor, setAnchor] = useState(0);
  const cellEdit = useCellEdit(editor);
  const { begin, finish } = cellEdit;
  const [whole, setWhole] = useState<{ row: GridRow; column: Column } | null>(null);
  const { fromEnd } = editor.view;
  const [known, setKnown] = useState({ rows, fromEnd });
  if (known.rows !== rows || known.fromEnd !== fromEnd) {
    setKnown({ rows, fromEnd });
    const moved = followRow(known.rows, rows, active.row, fromEnd);
    if (moved !== active.row) setActive({ row: moved, column: active.column, isShifted: true });
  }
  const row = rows[active.row];
  const column = columns[active.column];
  const activate = useCallback(
    (place: Place) => {
      finish();
      setActive(place);
    },
    [finish],
  );
  const select = useCallback(
    (index: number, isRange: boolean) => {
      setSelected((before) => {
        const next = new Set(before);
        const [from, to] = isRange
          ? [Math.min(anchor, index), Math.max(anchor, index)]
          : [index, index];
        const keys = rows.slice(from, to + 1).map(({ key }) => key);
        const isOn = isRange || keys.some((key) => !next.has(key));
        for (const key of keys) {
          if (isOn) next.add(key);
          else next.delete(key);
        }
        return next;
      });
      setAnchor(index);
    },
    [anchor, rows],
  );
  const edit = useCallback(
    (place: Place) => {
      const target = rows[place.row];
      const wanted = columns[place.column];
      if (target === undefined || wanted === undefined || target.mark === "removed") return;
      const reason = readOnly ?? whyFixed(wanted.column);
      if (reason !== undefined) {
        toast({ title: "This cell cannot be edited", description: reason });
        return;
      }
      activate(place);
      const cell = cellOf(target, wanted.column);
      if (cell.isMissing) return;
      if (cell.bytes !== undefined && !cell.isChanged)
        setWhole({ row: target, column: wanted.column });
      else begin(target, wanted);
    },
    [rows, columns, readOnly, activate, begin],
  );
  return {
    active,
    activate,
    selected,
    clearSelection: () => setSelected(new Set()),
    select,
    selectAll: () =>
      setSelected((before) =>
        before.size >= rows.length ? new Set() : new Set(rows.map(({ key }) => key)),
      ),
    selectedRows: rows.filter(({ key }) => selected.has(key)),
    edit,
    /** The edit of the active cell; null while none is edited. */
    cellEdit: cellEdit.edit !== null && cellEdit.edit.row.key === row?.key ? cellEdit.edit : null,
    changeCell: cellEdit.change,
    cancel: cellEdit.cancel,
    commit(cell: Cell, move: { rows: number; columns: number }) {
      cellEdit.change(cell);
      finish();
      setActive({
        row: Math.max(0, Math.min(rows.length - 1, active.row + move.rows)),
        column: Math.max(0, Math.min(columns.length - 1, active.column + move.columns)),
      });
    },
    row,
    column,
    table,
    whole,
    setWhole,
  };
}

export type GridState = ReturnType<typeof useGridState>;
