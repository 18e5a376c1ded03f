// @vitest-environment node
import { expect, test } from "vitest";
import { findMissingParts, toCsv, toJson, toTabSeparated } from "./export-result";

const column = (name: string) => ({ name, type: "text", table: null, column: null });

test("CONSOLE-034 null and the empty text differ in CSV, and signs of the format are quoted", () => {
  const result = {
    columns: [column("a"), column("b,c")],
    rows: [
      [null, ""],
      ['say "hi"', "two\nlines"],
    ],
  };

  expect(toCsv(result)).toBe('a,"b,c"\n,""\n"say ""hi""","two\nlines"\n');
});

test("console_034_columns_of_one_name_are_numbered_and_none_is_dropped", () => {
  const result = {
    columns: [column("id"), column("id_2"), column("id"), column("id")],
    rows: [["1", "2", "3", "4"]],
  };

  expect(JSON.parse(toJson(result))).toEqual([{ id: "1", id_2: "2", id_3: "3", id_4: "4" }]);
  expect(toCsv(result)).toBe("id,id_2,id_3,id_4\n1,2,3,4\n");
  expect(toTabSeparated(result)).toBe("id\tid_2\tid_3\tid_4\n1\t2\t3\t4");
});

test("console_173_cut_values_are_named_before_a_file_is_saved_without_their_rest", () => {
  const cuts = new Map([["3:1", 70_000]]);

  expect(findMissingParts({ columns: [column("a"), column("body")], cuts })).toEqual([
    { row: 4, column: "body", bytes: 70_000 },
  ]);
});
