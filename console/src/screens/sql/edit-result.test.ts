import { afterEach, expect, test, vi } from "vitest";
import { readCatalog } from "@/api/catalog-model";
import { openStagedStore } from "@/lib/rows/staged-store";
import { findEditableCell, stageCell } from "./edit-result";

afterEach(() => vi.unstubAllGlobals());

const catalog = readCatalog({
  version: "1",
  schemas: [],
  tables: {
    oid: ["7"],
    schema: ["public"],
    name: ["items"],
    kind: ["r"],
    rls: [true],
    rights: ["iudo"],
    rows: [1],
    bytes: [1],
    comment: [null],
    key: [["id"]],
  },
  columns: {
    table: [0, 0],
    name: ["id", "name"],
    type: ["bigint", "text"],
    nullable: [false, true],
    default: [null, null],
    identity: ["a", null],
    generated: [null, null],
    comment: [null, null],
  },
  foreign_keys: [],
  enums: [],
  roles: [],
  functions: [],
});
const id = { name: "id", type: "int8", table: "7", column: "id" };
const name = { name: "alias", type: "text", table: "7", column: "name" };
const computed = { name: "upper", type: "text", table: null, column: null };
const cuts = new Map<string, number>();

test("CONSOLE-096 a cell is editable when the result holds its table's key", () => {
  const result = { columns: [id, name, computed], rows: [["1", "shirt", "SHIRT"]], cuts };

  expect(findEditableCell(catalog, result, 0, 1)).toMatchObject({
    column: "name",
    key: [{ column: "id", value: "1" }],
  });
  expect(findEditableCell(catalog, result, 0, 2)).toBeNull();
  // The database alone gives an identity its value.
  expect(findEditableCell(catalog, result, 0, 0)).toBeNull();
});

test("CONSOLE-096 without the key, or with a null in it as outer joins give, nothing is editable", () => {
  expect(findEditableCell(catalog, { columns: [name], rows: [["shirt"]], cuts }, 0, 0)).toBeNull();
  expect(
    findEditableCell(catalog, { columns: [id, name], rows: [[null, null]], cuts }, 0, 1),
  ).toBeNull();
});

test("CONSOLE-096 a value of which only the beginning was sent is not editable", () => {
  const result = { columns: [id, name], rows: [["1", "long"]], cuts: new Map([["0:1", 99_000]]) };

  expect(findEditableCell(catalog, result, 0, 1)).toBeNull();
});

test("console_033_a_long_value_that_has_changed_since_the_query_is_compared_to_its_end", async () => {
  // A U+FEFF at the beginning is a character of the value like any other.
  const shown = `\uFEFF${"x".repeat(3000)}`;
  let stored = `${shown.slice(0, -1)}y`;
  vi.stubGlobal("fetch", async (path: string) =>
    path.includes("/api/rows/cell")
      ? new Response(stored)
      : Response.json({
          columns: [{ name: "name", type: "text" }],
          rows: [[shown.slice(0, 2048)]],
          ids: [{ key: ["1"], xmin: "5" }],
          cuts: [{ row: 0, column: "name", bytes: 3000 }],
        }),
  );
  const [table] = catalog.tables;
  if (table === undefined) throw new Error("The catalog has a table.");
  const cell = { table, column: "name", key: [{ column: "id", value: "1" }] };
  const store = openStagedStore("long values");

  await expect(stageCell(store, cell, shown, "mine")).rejects.toThrow(/has changed since/);
  expect(store.current()).toEqual([]);
  stored = shown;
  await stageCell(store, cell, shown, "mine");
  expect(store.current()).toMatchObject([{ change: { base: { name: shown } } }]);
});
