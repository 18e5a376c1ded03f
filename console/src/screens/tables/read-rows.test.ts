import { expect, it } from "vitest";
import type { Column } from "@/api/catalog-model";
import { readPage } from "@/lib/rows/read-page";
import { makeTable } from "@/testing/tables";
import { stageCells, stageCopy } from "./staging-actions";
import { cellOf, gridRows } from "./table-rows";

const column = (name: string): Column => ({
  name,
  type: "text",
  nullable: true,
  default: null,
  identity: null,
  isGenerated: false,
  comment: null,
});
const [id, note, added] = [column("id"), column("note"), column("added")];
const table = makeTable({ name: "notes", columns: [id, note, added] });

/** A response with a truncated value, which `cuts` lists by row and column. */
const page = {
  columns: [
    { name: "id", type: "text" },
    { name: "gone", type: "text" },
    { name: "note", type: "text" },
  ],
  rows: [["1", "of a dropped column", "xxx"]],
  ids: [{ key: ["1"], xmin: "5" }],
  cuts: [{ row: 0, column: "note", bytes: 5000 }],
  next: null,
  previous: null,
  index_used: true,
  elapsed_ms: 1,
  sql: "",
};
const [row] = gridRows(table, readPage(page), []);
if (row === undefined) throw new Error("no row");

it("console_173_a_cut_cell_has_its_size_and_is_neither_a_base_nor_copied", () => {
  expect(cellOf(row, note)).toEqual({ value: "xxx", bytes: 5000 });
  const [staged] = stageCells([], table, [row], { note: { value: "short" } });
  expect(staged?.change).toMatchObject({ base: {}, values: { note: { value: "short" } } });
  const [copy] = stageCopy([], table, row);
  expect(copy?.change).toMatchObject({ values: { id: { value: "1" } } });
});

it("console_034_a_value_is_never_shown_below_the_title_of_another_column", () => {
  expect(cellOf(row, id)).toEqual({ value: "1" });
  expect(cellOf(row, added)).toEqual({ value: null, isMissing: true });
});
