import type { Catalog } from "@/api/catalog-model";
import type { Cell, Change, Value } from "@/lib/rows/types";

const verbs: Record<Change["kind"], string> = {
  insert: "Insert into",
  update: "Update",
  delete: "Delete from",
  update_matching: "Update all that match in",
};

export function tableName(catalog: Catalog, oid: string): string {
  const table = catalog.tablesByOid.get(oid);
  return table === undefined ? `a dropped table (${oid})` : `${table.schema}.${table.name}`;
}

/** One line about a change: what it does, where, and to which row. */
export function describeChange(change: Change, catalog: Catalog): string {
  const where = `${verbs[change.kind]} ${tableName(catalog, change.table)}`;
  if (change.kind === "insert" || change.kind === "update_matching") return where;
  const { key, ctid } = change.row;
  const row = key === undefined ? `row at ${ctid}` : key.map((part) => part ?? "NULL").join(", ");
  return `${where} · ${row}`;
}

export function describeValue(value: Value): string {
  if (value === null) return "NULL";
  return value === "" ? "empty" : value;
}

export function describeStagedCell(cell: Cell): string {
  return "default" in cell ? "default" : describeValue(cell.value);
}
