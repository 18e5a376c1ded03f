import { expect, test } from "vitest";
import { toCsv } from "./export-result";

test("CONSOLE-034 null and the empty text differ in CSV, and signs of the format are quoted", () => {
  const column = (name: string) => ({ name, type: "text", table: null, column: null });
  const result = {
    columns: [column("a"), column("b,c")],
    rows: [
      [null, ""],
      ['say "hi"', "two\nlines"],
    ],
  };

  expect(toCsv(result)).toBe('a,"b,c"\n,""\n"say ""hi""","two\nlines"\n');
});
