import type { Table } from "@/api/catalog-model";

/** A table of the catalog with the key `id`; a test gives what it depends on. */
export const makeTable = (given: Partial<Table>): Table => ({
  oid: "9",
  schema: "public",
  name: "items",
  kind: "r",
  rls: true,
  rights: "iudo",
  rows: 1,
  bytes: 0,
  comment: null,
  key: ["id"],
  columns: [],
  ...given,
});
