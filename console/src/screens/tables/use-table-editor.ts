import { useCallback, useMemo, useState } from "react";
import { type Catalog, type Column, type Table, whyNoRight } from "@/api/catalog-model";
import { useSession, whyReadOnly } from "@/api/session";
import { parseBlock, writeBlock } from "@/lib/rows/block";
import { stageBulk, stageInsert } from "@/lib/rows/staged";
import type { Cell, Values } from "@/lib/rows/types";
import { toast } from "@/lib/toast";
import type { Place } from "@/screens/tables/grid/data-grid";
import { useGridColumns } from "@/screens/tables/grid/use-grid-columns";
import type { Staging } from "@/screens/tables/staged/use-staging";
import { stageBlock, stageCells, stageCopy, stageRemoval } from "@/screens/tables/staging-actions";
import { cellOf, type GridRow, useGridRows, whyFixed } from "@/screens/tables/table-rows";
import { useOpenRow } from "@/screens/tables/use-open-row";
import { useRowPages } from "@/screens/tables/use-row-pages";
import { useTableView } from "@/screens/tables/use-table-view";

/** Why rows of this table cannot be written by this session, or undefined. */
function whyNotWritable(table: Table, readOnly: string | undefined, isViewedAs: boolean) {
  if (readOnly !== undefined) return readOnly;
  if (isViewedAs) return "You are viewing as somebody else; go back to your own login to edit.";
  if (table.kind === "m") return "A materialized view is refreshed, not edited.";
  if (table.kind === "v") return "Rows of a view are edited in its tables.";
  if (table.kind === "f")
    return "Rows of a foreign table are changed on their own server or by SQL.";
  return undefined;
}

/** State of an open table: its view, rows, staged changes, active cell and selection, and what can be done with them. */
export function useTableEditor(table: Table, catalog: Catalog, staging: Staging) {
  const session = useSession();
  const [view, changeView] = useTableView();
  const { columns, resize } = useGridColumns(table, catalog, view.hidden);
  const names = useMemo(() => columns.map(({ column }) => column.name), [columns]);
  const { query, rows: read, pages } = useRowPages(table, names, view);
  const rows = useGridRows(table, read, staging.changes);
  const hasAllColumns = names.length === table.columns.length;
  const open = useOpenRow(table, view.row, rows, hasAllColumns, staging.changes);
  const noWriting = whyNotWritable(table, whyReadOnly(session), view.subject.kind !== "admin");
  const { store } = staging;
  const stage = (row: GridRow, values: Values) =>
    store.update((changes) => stageCells(changes, table, row, values));
  return {
    session,
    view,
    changeView,
    staging,
    columns,
    names,
    resize,
    query,
    pages,
    rows,
    open,
    /** Reasons why rows cannot be changed, inserted or deleted, by the account's level, the chosen role and PostgreSQL's privileges. */
    readOnly: noWriting ?? whyNoRight(table, "u"),
    noInsert: noWriting ?? whyNoRight(table, "i"),
    noDelete: noWriting ?? whyNoRight(table, "d"),
    stage,
    insert() {
      store.update((changes) => stageInsert(changes, table.oid, {}));
      const added = store.current().at(-1);
      if (added !== undefined) changeView({ row: `new:${added.id}` });
    },
    duplicate: (row: GridRow) => store.update((changes) => stageCopy(changes, table, row)),
    remove: (removed: readonly GridRow[]) =>
      store.update((changes) =>
        removed.reduce((staged, row) => stageRemoval(staged, table, row), changes),
      ),
    stageSelected: (chosen: readonly GridRow[], values: Values) =>
      store.update((changes) =>
        chosen.reduce((staged, row) => stageCells(staged, table, row, values), changes),
      ),
    stageMatching: (values: Values, expected: number) =>
      store.update((changes) =>
        stageBulk(changes, {
          kind: "update_matching",
          table: table.oid,
          filters: view.filters,
          values,
          expected,
        }),
      ),
    paste(place: Place, text: string) {
      const block = parseBlock(text);
      store.update((changes) =>
        stageBlock(changes, { table, catalog, columns, rows, ...place, block }),
      );
    },
    copy(place: Place, selected: ReadonlySet<string>): string {
      const chosen = rows.filter(({ key }) => selected.has(key));
      const active = rows[place.row];
      const of = (row: GridRow, column: Column) => cellOf(row, column).value;
      if (chosen.length > 0) {
        return writeBlock(chosen.map((row) => columns.map(({ column }) => of(row, column))));
      }
      const column = columns[place.column]?.column;
      return active === undefined || column === undefined ? "" : (of(active, column) ?? "");
    },
  };
}

export type TableEditor = ReturnType<typeof useTableEditor>;

/**
 * The index of the active row when other rows were loaded: the same row where it is still there, else the same place. Of another
 * part of the table it is the edge that is shown.
 */
export function followRow(
  before: readonly { key: string }[],
  after: readonly { key: string }[],
  active: number,
  fromEnd: boolean,
): number {
  const key = before[active]?.key;
  if (key === undefined || after[active]?.key === key) return active;
  const index = after.findIndex((row) => row.key === key);
  if (index >= 0) return index;
  const last = Math.max(0, after.length - 1);
  const kept = new Set(after.map((row) => row.key));
  if (before.some((row) => kept.has(row.key))) return Math.min(active, last);
  return fromEnd ? last : 0;
}

/** The active cell, the selection, and the cell that is being edited. */
export function useGridState(table: Table, editor: TableEditor) {
  const { rows, columns, readOnly, stage } = editor;
  const [active, setActive] = useState<Place>({ row: 0, column: 0 });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [anchor, setAnchor] = useState(0);
  const [editing, setEditing] = useState(false);
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
  const activate = useCallback((place: Place) => {
    setEditing(false);
    setActive(place);
  }, []);
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
      setActive(place);
      const cell = cellOf(target, wanted.column);
      if (cell.isMissing) return;
      if (cell.bytes !== undefined && !cell.isChanged)
        setWhole({ row: target, column: wanted.column });
      else setEditing(true);
    },
    [rows, columns, readOnly],
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
    isEditing: editing && row !== undefined && column !== undefined,
    cancel: () => setEditing(false),
    commit(cell: Cell, move: { rows: number; columns: number }) {
      setEditing(false);
      if (row !== undefined && column !== undefined) stage(row, { [column.column.name]: cell });
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
