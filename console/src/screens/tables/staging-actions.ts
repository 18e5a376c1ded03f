import type { Catalog, Table } from "@/api/catalog-model";
import { columnKind } from "@/lib/rows/column-kind";
import { type ReadRow, readValue } from "@/lib/rows/read-page";
import {
  discard,
  editInsert,
  findStaged,
  type StagedChanges,
  stageDelete,
  stageInsert,
  stageUpdate,
} from "@/lib/rows/staged";
import type { Base, Cell, Values } from "@/lib/rows/types";
import type { PastedCell } from "@/screens/tables/clipboard";
import type { GridColumn } from "@/screens/tables/grid/data-grid";
import { cellOf, type GridRow, whyFixed } from "@/screens/tables/table-rows";

/** Returns the values of these columns that were read, on which the edit is based. */
function baseOf(row: ReadRow, columns: Iterable<string>): Base {
  return Object.fromEntries(
    [...columns].flatMap((name) => {
      const value = readValue(row, name);
      // A truncated value cannot be compared; only `xmin` shows whether such a cell has changed.
      return value === undefined || row.cuts?.has(name) ? [] : [[name, value]];
    }),
  );
}

/** Stages cells of a row, whether it exists or is to be inserted. */
export function stageCells(
  changes: StagedChanges,
  table: Table,
  row: GridRow,
  values: Values,
): StagedChanges {
  if (row.staged?.change.kind === "insert") return editInsert(changes, row.staged.id, values);
  if (row.read === null) return changes;
  const base = baseOf(row.read, Object.keys(values));
  return stageUpdate(changes, table.oid, row.read.id, base, values);
}

/** Of rows that were chosen a while ago, those whose cells can still be staged, and how many cannot by which reason. */
export function sortByStageable(changes: StagedChanges, table: Table, rows: readonly GridRow[]) {
  const present = new Set(changes.map(({ id }) => id));
  const isWritten = (row: GridRow) =>
    row.staged?.change.kind === "insert" && !present.has(row.staged.id);
  const isRemoved = (row: GridRow) =>
    row.read !== null && findStaged(changes, table.oid, row.read.id)?.change.kind === "delete";
  return {
    stageable: rows.filter((row) => !isWritten(row) && !isRemoved(row)),
    /** New rows that were written or discarded since. */
    written: rows.filter(isWritten).length,
    /** Rows that are staged to be deleted. */
    removed: rows.filter(isRemoved).length,
  };
}

export function stageRemoval(changes: StagedChanges, table: Table, row: GridRow): StagedChanges {
  if (row.staged?.change.kind === "insert") return discard(changes, row.staged.id);
  if (row.read === null) return changes;
  return stageDelete(changes, table.oid, row.read.id, baseOf(row.read, row.read.places.keys()));
}

/** A new row with the cells of another, but for what must be its own: keys that have a default, and computed columns. */
export function stageCopy(changes: StagedChanges, table: Table, row: GridRow): StagedChanges {
  const values: Values = {};
  for (const column of table.columns) {
    const isOwn =
      table.key.includes(column.name) && (column.default !== null || column.identity !== null);
    if (isOwn || whyFixed(column) !== undefined) continue;
    const cell = cellOf(row, column);
    const isPartial = cell.isMissing || (cell.bytes !== undefined && !cell.isChanged);
    if (cell.isDefault || isPartial) continue;
    values[column.name] = { value: cell.value };
  }
  return stageInsert(changes, table.oid, values);
}

/**
 * A pasted cell as this column's value. One of the console itself is exact. Of a spreadsheet's text, an empty one is null where null
 * is allowed and the type has no empty value.
 */
export function pastedCell(text: PastedCell, column: GridColumn["column"], catalog: Catalog): Cell {
  if (typeof text !== "string") return text;
  const kind = columnKind(column, catalog);
  if (text === "NULL" && column.nullable) return { value: null };
  if (text === "" && kind !== "text") {
    return column.nullable ? { value: null } : { default: true };
  }
  if (kind === "boolean") {
    if (/^(true|yes|1|x)$/i.test(text)) return { value: "t" };
    if (/^(false|no|0)$/i.test(text)) return { value: "f" };
  }
  return { value: text };
}

interface Paste {
  table: Table;
  catalog: Catalog;
  columns: readonly GridColumn[];
  rows: readonly GridRow[];
  /** Upper left cell of the block. */
  row: number;
  column: number;
  block: readonly (readonly PastedCell[])[];
}

/** Stages a pasted block: changes existing rows, and adds new rows below the last one. */
export function stageBlock(
  changes: StagedChanges,
  { table, catalog, columns, rows, row, column, block }: Paste,
): StagedChanges {
  return block.reduce((staged, cells, offset) => {
    const values: Values = {};
    cells.forEach((text, index) => {
      const target = columns[column + index];
      if (target === undefined || whyFixed(target.column) !== undefined) return;
      values[target.column.name] = pastedCell(text, target.column, catalog);
    });
    if (Object.keys(values).length === 0) return staged;
    const target = rows[row + offset];
    return target === undefined
      ? stageInsert(staged, table.oid, values)
      : stageCells(staged, table, target, values);
  }, changes);
}
