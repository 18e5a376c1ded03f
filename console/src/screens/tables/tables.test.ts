import { describe, expect, it, vi } from "vitest";
import type { Catalog, Column, Table } from "@/api/catalog-model";
import { findMappingFault, mapColumns, previewCsv } from "./files/csv-preview";
import { moveOf, runGridKey } from "./grid/grid-keys";
import { pastedCell, stageBlock, stageCopy } from "./staging-actions";
import { sortSchemas } from "./table-list";
import { cellOf, gridRows } from "./table-rows";

const column = (name: string, type: string, more: Partial<Column> = {}): Column => ({
  name,
  type,
  nullable: true,
  default: null,
  identity: null,
  isGenerated: false,
  comment: null,
  ...more,
});

const table: Table = {
  oid: "9",
  schema: "public",
  name: "items",
  kind: "r",
  rls: true,
  rows: 2,
  bytes: 0,
  comment: null,
  key: ["id"],
  columns: [
    column("id", "bigint", { nullable: false, identity: "d" }),
    column("name", "text", { nullable: false }),
    column("price", "integer"),
    column("total", "integer", { isGenerated: true }),
  ],
};

const catalog: Catalog = {
  version: "1",
  schemas: [],
  tables: [table],
  tablesByOid: new Map([["9", table]]),
  foreignKeys: [],
  enums: [],
  roles: [],
  functions: [],
};

const columns = table.columns.map((entry, readIndex) => ({
  column: entry,
  kind: "text" as const,
  width: 100,
  isKey: false,
  isForeignKey: false,
  readIndex,
}));
const readIndex = new Map(table.columns.map(({ name }, index) => [name, index]));
const rows = gridRows(
  table,
  [
    {
      key: '["1"]',
      id: { key: ["1"], xmin: "5" },
      cells: ["1", "shirt", "30", "60"],
      cuts: undefined,
    },
  ],
  [],
);

describe("staging in the grid", () => {
  it("console_054_a_block_is_pasted_over_rows_and_below_the_last_as_new_ones", () => {
    const staged = stageBlock([], {
      table,
      catalog,
      columns,
      rows,
      readIndex,
      row: 0,
      column: 1,
      block: [
        ["coat", "", "ignored"],
        ["scarf", "12", "x"],
      ],
    });

    expect(staged.map(({ change }) => change)).toEqual([
      {
        kind: "update",
        table: "9",
        row: { key: ["1"], xmin: "5" },
        base: { name: "shirt", price: "30" },
        values: { name: { value: "coat" }, price: { value: null } },
      },
      {
        kind: "insert",
        table: "9",
        values: { name: { value: "scarf" }, price: { value: "12" } },
      },
    ]);
  });

  it("console_054_a_duplicate_gets_a_key_of_its_own", () => {
    const [row] = rows;
    const staged = row === undefined ? [] : stageCopy([], table, row, readIndex);

    expect(staged[0]?.change).toEqual({
      kind: "insert",
      table: "9",
      values: { name: { value: "shirt" }, price: { value: "30" } },
    });
  });

  it("console_053_pasted_booleans_may_be_words", () => {
    expect(pastedCell("TRUE", column("b", "boolean"), catalog)).toEqual({ value: "t" });
    expect(pastedCell("", column("b", "boolean", { nullable: false }), catalog)).toEqual({
      default: true,
    });
    expect(pastedCell("", column("t", "text"), catalog)).toEqual({ value: "" });
  });

  it("console_034_an_unset_cell_of_a_new_row_is_the_default_and_not_null", () => {
    const staged = [
      {
        id: "i",
        change: { kind: "insert" as const, table: "9", values: { name: { value: null } } },
      },
    ];
    const [row] = gridRows(table, [], staged);
    const [id, name] = table.columns;

    if (row === undefined || id === undefined || name === undefined) throw new Error("no row");
    expect(cellOf(row, id, 0)).toEqual({ value: null, isDefault: true });
    expect(cellOf(row, name, 1)).toEqual({ value: null, isChanged: true });
  });
});

describe("keys of the grid", () => {
  const commands = {
    edit: vi.fn(),
    open: vi.fn(),
    select: vi.fn(),
    setNull: vi.fn(),
    remove: vi.fn(),
    duplicate: vi.fn(),
    toStart: vi.fn(),
    toEnd: vi.fn(),
  };
  const press = (init: KeyboardEventInit) =>
    runGridKey(
      new KeyboardEvent("keydown", init) as unknown as Parameters<typeof runGridKey>[0],
      commands,
    );

  it("console_002_keys_with_mod_never_begin_an_edit", () => {
    expect(press({ key: "e", ctrlKey: true })).toBe(false);
    expect(press({ key: "e" })).toBe(true);
    expect(commands.edit).toHaveBeenCalledOnce();
  });

  it("console_053_alt_backspace_sets_null", () => {
    press({ key: "Backspace", altKey: true });

    expect(commands.setNull).toHaveBeenCalledOnce();
  });

  it("console_002_arrows_stay_within_the_grid", () => {
    expect(moveOf("up", { row: 0, column: 1 }, 5, 3)).toEqual({ row: 0, column: 1 });
    expect(moveOf("mod+right", { row: 2, column: 0 }, 5, 3)).toEqual({ row: 2, column: 2 });
    expect(moveOf("pagedown", { row: 2, column: 0 }, 5, 3)).toEqual({ row: 4, column: 0 });
  });
});

describe("CSV files", () => {
  it("console_059_columns_are_mapped_by_name_whatever_their_spelling", () => {
    expect(mapColumns(table, ["Name", "PRICE", "total", "other"], true)).toEqual([
      "name",
      "price",
      null,
      null,
    ]);
    expect(mapColumns(table, ["1", "shirt"], false)).toEqual(["id", "name"]);
  });

  it("console_059_a_mapping_without_a_needed_column_is_a_fault", () => {
    expect(findMappingFault(table, ["price"])).toBe("name must not be null and has no default.");
    expect(findMappingFault(table, ["name", "name"])).toBe("name is mapped twice.");
    expect(findMappingFault(table, ["name"])).toBeNull();
  });

  it("console_059_the_preview_finds_separator_and_encoding", async () => {
    const latin = new Blob([new Uint8Array([0x61, 0x3b, 0xe4, 0x0a, 0x31, 0x3b, 0x32])]);

    expect(await previewCsv(latin, "iso-8859-1", "")).toEqual({
      delimiter: ";",
      rows: [
        ["a", "ä"],
        ["1", "2"],
      ],
    });
  });
});

it("console_032_schemas_of_the_project_come_before_those_of_the_platform", () => {
  expect(sortSchemas(["auth", "shop", "public", "storage"])).toEqual([
    "public",
    "shop",
    "auth",
    "storage",
  ]);
});
