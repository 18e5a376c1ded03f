import { expect, test } from "vitest";
import { type CatalogBody, readCatalog } from "@/api/catalog-model";
import { dropObject } from "@/lib/sql/ddl/drop";
import {
  columnRows,
  filterRows,
  headersOf,
  objectRows,
  type SchemaKind,
  schemaKinds,
  tableRows,
} from "./object-rows";

const body: CatalogBody = {
  version: "1",
  schemas: [{ name: "public", exposed: true }],
  tables: {
    oid: ["1", "2"],
    schema: ["public", "public"],
    name: ["Odd items", "totals"],
    kind: ["r", "v"],
    rls: [true, false],
    rights: ["iudo", "iudo"],
    rows: [-1, 0],
    bytes: [8192, 0],
    comment: [null, null],
    key: [["id"], []],
  },
  columns: {
    table: [0, 0],
    name: ["id", "brand"],
    type: ["bigint", "text"],
    nullable: [false, true],
    default: [null, "'x'"],
    identity: ["a", null],
    generated: [null, null],
    comment: [null, "who made it"],
  },
  foreign_keys: [],
  enums: [],
  roles: [],
  functions: [],
};
const catalog = readCatalog(body);
const dropOf = (kind: SchemaKind, object: Record<string, string | string[]>) => {
  const [row] = objectRows(kind, [{ oid: "1", name: "x", schema: "public", ...object }]);
  return row && dropObject(row.dropped);
};

test("CONSOLE-070 tables and columns come from the catalog, views are no tables", () => {
  expect(tableRows(catalog).map(({ name, cells }) => [name, ...cells])).toEqual([
    ["Odd items", "2", "not counted yet", "8.2 kB", "on", ""],
  ]);
  expect(columnRows(catalog).map(({ cells }) => cells)).toEqual([
    ["Odd items", "bigint", "identity", "no", ""],
    ["Odd items", "text", "'x'", "yes", "who made it"],
  ]);
});

test("CONSOLE-070 each kind has as many cells as headers", () => {
  for (const kind of schemaKinds) {
    if (kind === "tables" || kind === "columns") continue;
    const [row] = objectRows(kind, [{ oid: "1", name: "x" }]);
    expect(row?.cells, kind).toHaveLength(headersOf[kind].length);
  }
});

test("CONSOLE-032 the search finds any cell, and names that begin with it first", () => {
  const rows = columnRows(catalog);
  expect(filterRows(rows, { search: "MADE", schema: "" }).map(({ name }) => name)).toEqual([
    "brand",
  ]);
  expect(filterRows(rows, { search: "b", schema: "public" })[0]?.name).toBe("brand");
  expect(filterRows(rows, { search: "", schema: "auth" })).toEqual([]);
});

test("CONSOLE-166 every kind is dropped by its quoted name", () => {
  const [table] = tableRows(catalog);
  expect(table && dropObject(table.dropped)).toBe('drop table public."Odd items";');
  expect(dropOf("functions", { kind: "procedure", identity_arguments: "a text" })).toBe(
    "drop procedure public.x(a text);",
  );
  expect(dropOf("views", { kind: "materialized view" })).toBe("drop materialized view public.x;");
  expect(dropOf("types", { kind: "domain" })).toBe("drop domain public.x;");
  expect(dropOf("triggers", { table: "T" })).toBe('drop trigger x on public."T";');
  expect(dropOf("roles", { name: 'a"b' })).toBe('drop role "a""b";');
  expect(
    dropOf("grants", {
      name: "f(a text)",
      kind: "function",
      grantee: "PUBLIC",
      privileges: ["execute"],
    }),
  ).toBe("revoke execute on function public.f(a text) from public;");
});
