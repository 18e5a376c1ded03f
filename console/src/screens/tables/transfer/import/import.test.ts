import { describe, expect, it, vi } from "vitest";
import type { Column, Table } from "@/api/catalog-model";
import { ApiError } from "@/api/error";
import { findMisfits } from "./check-types";
import { importFile, importPath, placeOfFault, writeRejects } from "./import-file";
import { findMappingFault, guessMapping, missingColumns } from "./mapping";
import { guessForm, guessType, nameColumn, previewFile } from "./read-file";

const bytes = (text: string) => new TextEncoder().encode(text);

const column = (name: string, changes: Partial<Column> = {}): Column => ({
  name,
  type: "text",
  nullable: true,
  default: null,
  identity: null,
  isGenerated: false,
  comment: null,
  ...changes,
});

const table: Table = {
  oid: "1",
  schema: "public",
  name: "garments",
  kind: "r",
  rls: true,
  rights: "iudo",
  rows: 0,
  bytes: 0,
  comment: null,
  key: ["id"],
  columns: [
    column("id", { type: "bigint", nullable: false, identity: "d" }),
    column("name", { nullable: false }),
    column("made_at", { nullable: false, default: "now()" }),
    column("slug", { isGenerated: true }),
  ],
};

describe("console_059 the beginning of a file tells how it is written", () => {
  it("finds delimiter, titles and encoding", () => {
    expect(guessForm(bytes("id;name\n1;shirt\n2;coat\n"))).toEqual({
      encoding: "utf-8",
      delimiter: ";",
      hasTitles: true,
    });
    expect(guessForm(bytes("1,shirt\n2,coat\n")).hasTitles).toBe(false);
    expect(guessForm(new Uint8Array([0xe9, 0x2c, 0x61, 0x0a])).encoding).toBe("windows-1252");
    expect(guessForm(new Uint8Array([0xff, 0xfe, 0x61, 0, 0x2c, 0, 0x62, 0])).encoding).toBe(
      "utf-16",
    );
  });

  it("shows rows beside their titles", () => {
    const form = { encoding: "utf-8", delimiter: ",", hasTitles: true } as const;
    expect(previewFile(bytes('a,b\n"x,1",2\n'), form)).toEqual({
      titles: ["a", "b"],
      rows: [["x,1", "2"]],
    });
  });

  it("guesses the narrowest type, and text where in doubt", () => {
    expect(guessType(["1", "-2", ""])).toBe("bigint");
    expect(guessType(["1.5", "2"])).toBe("numeric");
    expect(guessType(["01", "12"])).toBe("text");
    expect(guessType(["2026-01-31"])).toBe("date");
    expect(guessType(["2026-01-31T10:00:00Z"])).toBe("timestamptz");
    expect(guessType(["2026-01-31 10:00:00"])).toBe("timestamp");
    expect(guessType(["yes", "no"])).toBe("boolean");
    expect(guessType(['{"a":1}'])).toBe("jsonb");
    expect(guessType(["{broken"])).toBe("text");
    expect(guessType(["", ""])).toBe("text");
  });

  it("console_059_values_that_a_type_would_change_are_text", () => {
    for (const value of ["+491701234567", "12E4", "007", "-0", "1.", ".5", "NO", "t"]) {
      expect(guessType([value])).toBe("text");
    }
    expect(guessType(["-12", "9007199254740993"])).toBe("bigint");
    expect(guessType(["0.10", "12"])).toBe("numeric");
  });

  it("console_059_a_value_far_below_the_preview_is_seen", async () => {
    const lines = Array.from({ length: 60_000 }, (_, index) => `${index + 1},${index},"a\nb"`);
    lines[50_000] = '50001,00123,"late, with a comma"';
    const file = new File([`id,code,note\n${lines.join("\n")}\n`], "codes.csv");
    const form = { encoding: "utf-8", delimiter: ",", hasTitles: true } as const;
    const { misfits } = await findMisfits(
      file,
      form,
      ["bigint", "bigint", "text"],
      new AbortController().signal,
    );

    expect([...misfits]).toEqual([1]);
  });

  it("console_059_the_row_that_ends_a_piece_is_checked_and_a_quote_without_end_does_not_stop_the_page", async () => {
    const form = { encoding: "utf-8", delimiter: ",", hasTitles: false } as const;
    const check = async (text: string | Uint8Array<ArrayBuffer>, types: string[], more = {}) =>
      (
        await findMisfits(
          new File([text], "x.csv"),
          { ...form, ...more },
          types,
          new AbortController().signal,
        )
      ).misfits;
    // A piece of 256 000 bytes ends exactly behind a row.
    for (const [end, last] of [
      ["\n", "00123456\n"],
      ["\r\n", "0012345\r\n"],
    ] as const) {
      const rows = `${end === "\n" ? "123456789" : "12345678"}${end}`.repeat(25_600 - 1);
      const exact = rows + last.padStart(10, " ");
      expect([...(await check(exact + exact, ["bigint"]))], JSON.stringify(end)).toEqual([0]);
    }
    const signs = [...bytes("12\n34\n")].flatMap((code) => [0, code]);
    const bigEndian = new Uint8Array([0xfe, 0xff, ...signs]);
    expect([...(await check(bigEndian, ["bigint"], { encoding: "utf-16" }))]).toEqual([]);
    const started = performance.now();
    await check(`1,"${"never closed\n".repeat(1_500_000)}`, ["bigint", "text"]);
    // Reading the beginning again with each of 76 pieces took minutes.
    expect(performance.now() - started).toBeLessThan(8000);
  });

  it.each(["\n", "\r\n", "\r"])(
    "console_059_line_ends_in_cells_do_not_hide_rows_that_end_with_%j",
    async (end) => {
      const form = { encoding: "utf-8", delimiter: ",", hasTitles: true } as const;
      const signal = new AbortController().signal;
      for (const inside of ["\n", "\r\n", "\r"]) {
        const rows = Array.from({ length: 2500 }, (_, index) => `${index + 1},note`);
        rows[3] = `4,"two${inside}lines"`;
        rows[2400] = "007,note";
        const file = new File([["code,note", ...rows].join(end) + end], "x.csv");
        const { misfits, checkedRows } = await findMisfits(file, form, ["bigint", "text"], signal);
        expect([[...misfits], checkedRows], JSON.stringify(inside)).toEqual([[0], null]);
      }
      // What is not looked at is said.
      const cut = new File([`code,note${end}1,"${"never closed".repeat(500_000)}`], "x.csv");
      expect((await findMisfits(cut, form, ["bigint", "text"], signal)).checkedRows).toBe(1);
    },
  );

  it("console_059_titles_in_every_language_are_names", () => {
    expect(nameColumn("Prénom", 0)).toBe("prenom");
    expect(nameColumn("Größe (cm)", 0)).toBe("grosse_cm");
    expect(nameColumn("Łódź", 0)).toBe("łodz");
    expect(nameColumn("価格", 0)).toBe("価格");
    expect(nameColumn("Имя клиента", 0)).toBe("имя_клиента");
    expect(nameColumn("हिन्दी", 0)).toBe("हिन्दी");
    expect(new TextEncoder().encode(nameColumn("価".repeat(40), 0)).length).toBeLessThan(60);
  });

  it("makes names of columns out of titles", () => {
    expect(nameColumn("Unit Price (€)", 0)).toBe("unit_price");
    expect(nameColumn("2024", 0)).toBe("_2024");
    expect(nameColumn("", 2)).toBe("column_3");
  });
});

describe("console_059 columns of the file are mapped to those of the table", () => {
  it("by their names, or by their places without titles", () => {
    expect(guessMapping(table, ["Name", "Made at", "other"])).toEqual(["name", "made_at", null]);
    expect(guessMapping(table, ["", ""])).toEqual(["id", "name"]);
  });

  it("says what is missing or chosen twice", () => {
    expect(findMappingFault([null, null])).toMatch(/at least one/);
    expect(findMappingFault(["name", "name"])).toBe("name is chosen twice.");
    expect(missingColumns(table, ["id"])).toEqual(["name"]);
  });
});

describe("console_059 the request and its answers", () => {
  const form = { encoding: "utf-8", delimiter: "\t", hasTitles: true } as const;

  it("names table, columns and form in the query", () => {
    const path = importPath({
      table: "7",
      mapping: ["a", null],
      form,
      nullText: "NULL",
      leavesOut: true,
    });
    expect(Object.fromEntries(new URLSearchParams(path.split("?")[1]))).toEqual({
      table: "7",
      columns: '["a",null]',
      header: "true",
      delimiter: "\t",
      null: "NULL",
      encoding: "utf-8",
      rejects: "true",
    });
  });

  it("names the place of a fault", () => {
    const body = { code: "22P02", message: "no number", line: 4, column: "n" };
    expect(placeOfFault(new ApiError(422, body))).toBe("line 4, column n");
    expect(placeOfFault(new Error("other"))).toBeNull();
  });

  it("writes left out rows with their values unchanged, and errors that are no formulas", () => {
    const rejects = [{ line: 3, message: "=1+1", values: ["x,y", "-5"] }];
    expect(writeRejects(rejects, ["a", null, "b"])).toBe(`line,error,a,b\r\n3,'=1+1,"x,y",-5`);
  });
});

it("console_059_an_answer_that_is_cut_ends_the_import_without_a_claim", async () => {
  class CutRequest {
    upload = {};
    status = 200;
    responseText = '{"rows": 1';
    onload = () => {};
    open() {}
    setRequestHeader() {}
    abort() {}
    send() {
      queueMicrotask(() => this.onload());
    }
  }
  vi.stubGlobal("XMLHttpRequest", CutRequest);
  const form = { encoding: "utf-8", delimiter: ",", hasTitles: true } as const;
  const options = { table: "7", mapping: ["a"], form, nullText: "", leavesOut: false };
  const { result } = importFile(new File(["a"], "a.csv"), options, () => {});

  await expect(result).rejects.toThrow(/not known whether the rows were imported/);
  vi.unstubAllGlobals();
});
