import { describe, expect, it, vi } from "vitest";
import type { Catalog, Column } from "@/api/catalog-model";
import { makeTable } from "@/testing/tables";
import { moveOf, runGridKey } from "./grid/grid-keys";
import { pastedCell, stageBlock, stageCopy } from "./staging-actions";
import { sortSchemas } from "./table-list";
import { cellOf, gridRows } from "./table-rows";
import { followRow } from "./use-table-editor";

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

const table = makeTable({
  columns: [
    column("id", "bigint", { nullable: false, identity: "d" }),
    column("name", "text", { nullable: false }),
    column("price", "integer"),
    column("total", "integer", { isGenerated: true }),
  ],
});

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

const columns = table.columns.map((entry) => ({
  column: entry,
  kind: "text" as const,
  width: 100,
  isKey: false,
  isForeignKey: false,
}));
const places = new Map(table.columns.map(({ name }, index) => [name, index]));
const rows = gridRows(
  table,
  [
    {
      key: '["1"]',
      id: { key: ["1"], xmin: "5" },
      cells: ["1", "shirt", "30", "60"],
      places,
      cuts: undefined,
    },
  ],
  [],
);

describe("staging in the grid", () => {
  it("console_054_a_block_is_pasted_over_rows_and_below_the_last_as_new_ones", () => {
    const { staged } = stageBlock([], {
      table,
      catalog,
      columns,
      rows,
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
    const staged = row === undefined ? [] : stageCopy([], table, row);

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
    expect(cellOf(row, id)).toEqual({ value: null, isDefault: true });
    expect(cellOf(row, name)).toEqual({ value: null, isChanged: true });
  });
});

describe("the active row", () => {
  const page = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => ({ key: `${from + index}` }));

  it("console_050_stays_on_its_row_when_rows_are_read_before_it", () => {
    expect(followRow(page(100, 200), page(0, 200), 5, true)).toBe(105);
  });

  it("console_050_is_the_last_one_after_a_jump_to_the_end", () => {
    expect(followRow(page(0, 100), page(900, 1000), 3, true)).toBe(99);
  });

  it("console_050_is_the_first_one_after_a_jump_to_the_start", () => {
    expect(followRow(page(900, 1000), page(0, 100), 60, false)).toBe(0);
  });

  it("console_054_is_the_next_one_when_its_row_is_gone", () => {
    expect(followRow(page(0, 3), page(0, 2), 2, false)).toBe(1);
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

it("console_032_schemas_of_the_project_come_before_those_of_the_platform", () => {
  expect(sortSchemas(["auth", "shop", "public", "storage"])).toEqual([
    "public",
    "shop",
    "auth",
    "storage",
  ]);
});
