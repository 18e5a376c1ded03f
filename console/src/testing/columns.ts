import type { Catalog, Column, Table } from "@/api/catalog-model";

/** A nullable column; a test gives what it depends on. */
export const makeColumn = (name: string, given: Partial<Column> = {}): Column => ({
  name,
  type: "text",
  nullable: true,
  default: null,
  identity: null,
  isGenerated: false,
  comment: null,
  ...given,
});

export const makeCatalog = (...tables: Table[]): Catalog => ({
  version: "1",
  schemas: [],
  tables,
  tablesByOid: new Map(tables.map((table) => [table.oid, table])),
  foreignKeys: [],
  enums: [],
  roles: [],
  functions: [],
});
