/** Rows as they were read, with the columns of their own page: another page may have other columns. */
import { type RowId, type RowPage, rowKey, type Value } from "@/lib/rows/types";

export interface ReadRow {
  key: string;
  id: RowId;
  cells: readonly Value[];
  /** Places of the columns in `cells`, by name. While columns are hidden, added or dropped, older rows are still shown. */
  places: ReadonlyMap<string, number>;
  /** Sizes in bytes of cells that were cut, by the column's name. */
  cuts: ReadonlyMap<string, number> | undefined;
}

/** Rows of views and of other servers have no address; what they contain and their place in the page tell them apart. */
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

/** What was read of a column; undefined when the row's page did not have it. */
export function readValue(row: ReadRow | null, column: string): Value | undefined {
  const place = row?.places.get(column);
  return place === undefined ? undefined : row?.cells[place];
}
