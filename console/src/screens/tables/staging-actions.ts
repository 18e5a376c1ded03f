import type { Catalog, Table } from "@/api/catalog-model";
import { columnKind } from "@/lib/rows/column-kind";
import { type ReadRow, readValue } from "@/lib/rows/read-page";
import { inBatch, StagedBatch, type StagedChanges, stageInsert } from "@/lib/rows/staged";
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

/** Stages the same cells of rows, whether they exist or are to be inserted. */
export const stageCells = (
  changes: StagedChanges,
  table: Table,
  rows: readonly GridRow[],
  values: Values,
): StagedChanges =>
  inBatch(changes, (batch) => {
    for (const row of rows) stageRow(batch, table, row, values);
  });

function stageRow(batch: StagedBatch, table: Table, row: GridRow, values: Values): void {
  if (row.staged?.change.kind === "insert") batch.editInsert(row.staged.id, values);
  else if (row.read !== null) {
    batch.update(table.oid, row.read.id, baseOf(row.read, Object.keys(values)), values);
  }
}

/** Why cells of a row that was chosen a while ago cannot be staged any more; undefined where they can. */
function whyNotStageable(batch: StagedBatch, table: Table, row: GridRow) {
  if (row.staged?.change.kind === "insert") {
    return batch.has(row.staged.id) ? undefined : ("written" as const);
  }
  const isRemoved =
    row.read !== null && batch.find(table.oid, row.read.id)?.change.kind === "delete";
  return isRemoved ? ("removed" as const) : undefined;
}

/** Of rows that were chosen a while ago, those whose cells can still be staged, and how many cannot by which reason. */
export function sortByStageable(changes: StagedChanges, table: Table, rows: readonly GridRow[]) {
  const batch = new StagedBatch(changes);
  const reasons = rows.map((row) => whyNotStageable(batch, table, row));
  return {
    stageable: rows.filter((_, index) => reasons[index] === undefined),
    /** New rows that were written or discarded since. */
    written: reasons.filter((reason) => reason === "written").length,
    /** Rows that are staged to be deleted. */
    removed: reasons.filter((reason) => reason === "removed").length,
  };
}

export const stageRemovals = (
  changes: StagedChanges,
  table: Table,
  rows: readonly GridRow[],
): StagedChanges =>
  inBatch(changes, (batch) => {
    for (const { staged, read } of rows) {
      if (staged?.change.kind === "insert") batch.discard(staged.id);
      else if (read !== null) {
        batch.remove(table.oid, read.id, baseOf(read, read.places.keys()));
      }
    }
  });

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

export interface Paste {
  table: Table;
  catalog: Catalog;
  columns: readonly GridColumn[];
  rows: readonly GridRow[];
  /** Upper left cell of the block. */
  row: number;
  column: number;
  block: readonly (readonly PastedCell[])[];
}

/** What of a pasted block is not staged, or otherwise than it looks. */
export interface PasteLosses {
  /** Columns of the block that would be right of the last one. */
  beyond: number;
  /** Columns that cannot be written. */
  fixed: ReadonlySet<string>;
  /** New rows that were written or discarded since. */
  written: number;
  /** Rows that are staged to be deleted. */
  removed: number;
  /** Cells with the text `NULL` of another program, which are null now. */
  nulls: number;
}

/** How many rows of the block would be new ones, below the last row. */
export const countNewRows = ({ rows, row, block }: Paste): number =>
  Math.max(0, row + block.length - rows.length);

/** Stages a pasted block: changes existing rows, and adds new rows below the last one. */
export function stageBlock(changes: StagedChanges, paste: Paste) {
  const { table, catalog, columns, rows, row, column, block } = paste;
  const fixed = new Set<string>();
  const lost = { written: 0, removed: 0, nulls: 0 };
  const staged = inBatch(changes, (batch) => {
    block.forEach((cells, offset) => {
      const target = rows[row + offset];
      const reason = target && whyNotStageable(batch, table, target);
      if (reason !== undefined) {
        lost[reason] += 1;
        return;
      }
      const values: Values = {};
      cells.forEach((text, index) => {
        const into = columns[column + index]?.column;
        if (into === undefined) return;
        if (whyFixed(into) !== undefined) {
          fixed.add(into.name);
          return;
        }
        values[into.name] = pastedCell(text, into, catalog);
        if (text === "NULL" && into.nullable) lost.nulls += 1;
      });
      if (Object.keys(values).length === 0) return;
      if (target === undefined) batch.insert(table.oid, values);
      else stageRow(batch, table, target, values);
    });
  });
  const widest = Math.max(0, ...block.map((cells) => cells.length));
  const beyond = Math.max(0, column + widest - columns.length);
  return { staged, losses: { ...lost, beyond, fixed } satisfies PasteLosses };
}
