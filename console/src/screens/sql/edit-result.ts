/** Results that can be edited: all that is needed to find the row of a cell in its table again (CONSOLE-096). */
import type { Catalog, Table } from "@/api/catalog-model";
import { StagedBatch, stageUpdate } from "@/lib/rows/staged";
import type { StagedStore } from "@/lib/rows/staged-store";
import { readCell, readRows, type Value } from "@/lib/rows/types";
import type { ResultColumn, StatementResult } from "./runs/run-model";

export interface EditableCell {
  table: Table;
  /** The table's column, which the result may show under another name. */
  column: string;
  /** Values of the primary key in this row. */
  key: { column: string; value: string }[];
}

/** Names the cell wholly: its table, its column and its row. */
export function identifyCell({ table, column, key }: EditableCell): string {
  return JSON.stringify([table.oid, column, key.map(({ value }) => value)]);
}

/** The cell's place in its table; null when the result does not hold the table's whole key. */
export function findEditableCell(
  catalog: Catalog,
  result: Pick<StatementResult, "columns" | "rows" | "cuts">,
  row: number,
  column: number,
): EditableCell | null {
  const columns = result.columns ?? [];
  const values = result.rows[row];
  const origin = columns[column];
  const table = origin && findTable(catalog, origin);
  if (values === undefined || table === undefined || !origin?.column) return null;
  // Only the beginning of the value is known, and an edit of it would lose the rest.
  if (result.cuts.has(`${row}:${column}`)) return null;
  const target = table.columns.find(({ name }) => name === origin.column);
  if (target === undefined || target.isGenerated || target.identity === "a") return null;
  const key = table.key.map((name) => {
    const index = columns.findIndex((each) => each.table === origin.table && each.column === name);
    return { column: name, value: values[index] ?? null };
  });
  const isWhole = key.every((part): part is EditableCell["key"][number] => part.value !== null);
  if (key.length === 0 || !isWhole) return null;
  return { table, column: target.name, key };
}

function findTable(catalog: Catalog, { table }: ResultColumn): Table | undefined {
  const found = table === null ? undefined : catalog.tablesByOid.get(table);
  return found?.kind === "r" || found?.kind === "p" ? found : undefined;
}

/**
 * Stages a new value beside the changes of the table editor. The row is read again first, for its present version: what
 * a query returned may be older than the row.
 */
export async function stageCell(
  store: StagedStore,
  { table, column, key }: EditableCell,
  shown: Value,
  value: Value,
): Promise<void> {
  const page = await readRows({
    table: table.oid,
    columns: [column],
    filters: key.map((part) => ({ ...part, operator: "eq" })),
    sort: [],
    limit: 1,
  });
  const id = page.ids[0];
  const index = page.columns.findIndex(({ name }) => name === column);
  const present = page.rows[0]?.[index];
  if (id === undefined || present === undefined)
    throw new Error("This row does not exist any more.");
  // Of a long value the page has the beginning alone. If the row changes before the whole is read, its version is another one when
  // the change is applied.
  const isCut = page.cuts.length > 0;
  const whole = isCut
    ? await readCell({ table: table.oid, row: id, column, subject: { kind: "admin" } })
    : present;
  if (whole !== shown) {
    throw new Error("The value has changed since the query ran. Run it again, then edit.");
  }
  const staged = new StagedBatch(store.current()).find(table.oid, id);
  if (staged?.change.kind === "delete") {
    throw new Error("This row is staged to be deleted. Discard that change, then edit.");
  }
  store.update((changes) =>
    stageUpdate(changes, table.oid, id, { [column]: shown }, { [column]: { value } }),
  );
}
