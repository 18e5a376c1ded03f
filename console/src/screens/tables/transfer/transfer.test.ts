import { describe, expect, it } from "vitest";
import type { Column } from "@/api/catalog-model";
import { readView } from "@/lib/rows/table-view";
import { makeTable } from "@/testing/tables";
import { describeRows } from "./export-dialog";
import { exportBody } from "./export-request";

const column = (name: string, type = "text"): Column => ({
  name,
  type,
  nullable: true,
  default: null,
  identity: null,
  isGenerated: false,
  comment: null,
});

const table = makeTable({
  columns: [column("id", "integer"), column("name"), column("price", "numeric")],
});

describe("export", () => {
  it("console_058_the_file_has_the_filters_the_order_and_the_columns_of_the_grid", () => {
    const view = readView(new URLSearchParams("f=name.eq.coat&s=price.desc&hide=id&as=anon"));

    expect(exportBody(table, view, "csv")).toEqual({
      table: "9",
      format: "csv",
      filters: [{ column: "name", operator: "eq", value: "coat" }],
      sort: [{ column: "price", descending: true, nulls_first: true }],
      columns: ["name", "price"],
      subject: { kind: "anon" },
    });
    expect(exportBody(table, readView(new URLSearchParams()), "sql")).toEqual({
      table: "9",
      format: "sql",
      filters: [],
      sort: [],
    });
  });

  it("console_058_a_sentence_says_which_rows_the_file_gets", () => {
    const plain = readView(new URLSearchParams());
    const narrowed = readView(new URLSearchParams("f=name.eq.coat&s=price&hide=id&as=anon"));

    expect(describeRows(plain, { count: 1, exact: true })).toBe("1 row of the table.");
    expect(describeRows(narrowed, { count: 60_000, exact: false })).toMatch(
      /^≈ 60.000 rows that match the filters, in the order of the grid, without 1 hidden column, as anon sees them\.$/,
    );
  });
});
