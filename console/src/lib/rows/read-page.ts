/** Rows with the columns of the page in which they were read. Pages may differ in their columns after a schema change. */
import { type RowId, type RowPage, rowKey, type Value } from "@/lib/rows/types";

export interface ReadRow {
  key: string;
  id: RowId;
  cells: readonly Value[];
  /** Indexes of the columns in `cells`, by name. Rows stay shown while others are read with changed columns. */
  places: ReadonlyMap<string, number>;
  /** Full sizes in bytes of truncated cells, by the column's name. */
  cuts: ReadonlyMap<string, number> | undefined;
}

/** A row's React key. Rows of views and foreign tables have no id, so their values and index in the page are used. */
function keyOfRow(id: RowId, cells: readonly Value[], index: number): string {
  return id.key === undefined && id.ctid === undefined
    ? `row:${index}:${JSON.stringify(cells)}`
    : rowKey(id);
}

export function readPage(page: RowPage): ReadRow[] {
  const places = new Map(page.columns.map(({ name }, index) => [name, index]));
  const cuts = new Map<number, Map<string, number>>();
  for (const { row, column, bytes } of page.cuts) {
    const ofRow = cuts.get(row) ?? new Map<string, number>();
    cuts.set(row, ofRow.set(column, bytes));
  }
  return page.rows.map((cells, index) => {
    const id = page.ids[index] ?? {};
    return { key: keyOfRow(id, cells, index), id, cells, places, cuts: cuts.get(index) };
  });
}

/** The value of a column; undefined when the row's page does not have the column. */
export function readValue(row: ReadRow | null, column: string): Value | undefined {
  const place = row?.places.get(column);
  return place === undefined ? undefined : row?.cells[place];
}
