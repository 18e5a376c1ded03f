// @vitest-environment node
import { describe, expect, it } from "vitest";
import { makeTable } from "@/testing/tables";
import { curlOfRead, javascriptOfRead } from "./action-forms";
import { parseBlock, writeBlock } from "./block";
import { enumOf, kindOf, operatorsOf, shortType } from "./column-kind";
import { readView, type TableView, writeView } from "./table-view";
import { findFault, layOutJson } from "./validate";

describe("addresses", () => {
  it("console_001_a_view_is_the_same_after_a_round_trip_through_the_address", () => {
    const view: TableView = {
      filters: [
        { column: "odd.na->me%2E", operator: "eq", value: "a.b,c" },
        { column: "details", operator: "eq", value: "wool", path: ["care", "0.5"] },
        { column: "name", operator: "eq", value: "" },
      ],
      sort: [
        { column: "price", descending: true, nulls_first: true },
        { column: "a.b", descending: false, nulls_first: true },
        { column: "c", descending: true, nulls_first: false },
      ],
      hidden: ["a", "b,c"],
      fromEnd: true,
      subject: { kind: "user", id: "u-1", aal: "aal2" },
      row: '["1"]',
    };

    expect(readView(new URLSearchParams(writeView(view).toString()))).toEqual(view);
  });

  it("console_001_claims_are_not_written_into_the_address", () => {
    const view = readView(new URLSearchParams());
    const text = writeView({
      ...view,
      subject: { kind: "claims", claims: { sub: "secret" } },
    }).toString();

    expect(text).toBe("");
  });
});

describe("types", () => {
  it.each([
    ["numeric(10,2)", "number"],
    ["timestamp(3) with time zone", "timestamp"],
    ["text[]", "array"],
    ["tstzrange", "range"],
    ["jsonb", "json"],
    ["public.mood", "enum"],
    ["tsvector", "text"],
  ])("console_052_%s_is_shown_and_filtered_as_%s", (type, kind) => {
    expect(kindOf(type, [{ schema: "public", name: "mood", values: ["ok"] }])).toBe(kind);
  });

  it("console_053_an_enum_with_an_odd_name_is_found", () => {
    const enums = [{ schema: "public", name: "Odd Name", values: ["a"] }];

    expect(enumOf('public."Odd Name"', enums)).toBe(enums[0]);
  });

  it("console_052_every_type_can_be_filtered_for_null", () => {
    for (const kind of ["text", "number", "boolean", "json", "bytea", "range"] as const) {
      expect(operatorsOf(kind).map(({ name }) => name)).toContain("is");
    }
  });

  it("console_052_long_type_names_are_shortened", () => {
    expect(shortType("timestamp with time zone[]")).toBe("timestamptz[]");
  });
});

describe("blocks of cells", () => {
  it.each([
    [
      "a\tb\nc\td",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    ['"x\ny"\tz\r\n', [["x\ny", "z"]]],
    ['"she said ""no"""', [['she said "no"']]],
    ['"so" he said\tb', [['"so" he said', "b"]]],
    ["\t", [["", ""]]],
    ["", []],
  ])("console_054_reads_the_pasted_block_%j", (text, rows) => {
    expect(parseBlock(text)).toEqual(rows);
  });

  it("console_054_a_copied_block_is_pasted_as_it_was", () => {
    const rows = [
      ["a\tb", 'say "x"'],
      ["", "two\nlines"],
    ];

    expect(parseBlock(writeBlock(rows))).toEqual(rows);
  });
});

describe("faults that are told before the server does", () => {
  it.each([
    ["json", "jsonb", "{", true],
    ["json", "jsonb", "1e400", false],
    ["uuid", "uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", false],
    ["uuid", "uuid", "{a0eebc999c0b4ef8bb6d6bb9bd380a11}", false],
    ["uuid", "uuid", "a0ee", true],
    ["number", "integer", "1_000", false],
    ["number", "integer", "one", true],
    ["number", "numeric", "NaN", false],
    ["bytea", "bytea", "\\xabc", true],
    ["timestamp", "timestamptz", "tomorrow", false],
  ] as const)("console_053_%s %s %s", (kind, type, text, isFault) => {
    expect(findFault(kind, type, text) !== null).toBe(isFault);
  });

  it("console_034_json_with_numbers_beyond_the_browser_is_not_laid_out", () => {
    expect(layOutJson('{"a":12345678901234567890}')).toBe('{"a":12345678901234567890}');
    expect(layOutJson('{"a":1}')).toBe('{\n  "a": 1\n}');
  });
});

describe("show as", () => {
  const table = makeTable({ schema: "shop" });
  const action = {
    apiUrl: "http://127.0.0.1:54321",
    table,
    columns: ["id", "name"],
    filters: [
      { column: "name", operator: "ilike", value: "%it's%" },
      { column: "gone", operator: "is", value: "not_null" },
    ],
    sort: [{ column: "id", descending: true, nulls_first: false }],
    limit: 100,
  };

  it("console_004_curl_reads_the_same_rows_without_showing_a_key", () => {
    expect(curlOfRead(action)).toBe(
      [
        "curl --get 'http://127.0.0.1:54321/rest/v1/items' \\",
        '  --header "apikey: $SUPABASE_KEY" \\',
        "  --header 'accept-profile: shop' \\",
        "  --data-urlencode 'select=id,name' \\",
        "  --data-urlencode 'name=ilike.%it'\\''s%' \\",
        "  --data-urlencode 'gone=not.is.null' \\",
        "  --data-urlencode 'order=id.desc.nullslast' \\",
        "  --data-urlencode 'limit=100'",
      ].join("\n"),
    );
  });

  it("console_004_supabase_js_reads_the_same_rows", () => {
    expect(javascriptOfRead(action)).toContain(
      [
        'supabase.schema("shop")',
        '  .from("items")',
        '  .select("id,name")',
        '  .ilike("name", "%it\'s%")',
        '  .not("gone", "is", null)',
        '  .order("id", { ascending: false, nullsFirst: false })',
        "  .limit(100);",
      ].join("\n"),
    );
  });

  it("console_004_names_that_hold_separators_are_quoted_and_rows_come_in_the_order_of_their_key", () => {
    const odd = { ...action, columns: ["a,b", 'say "x"', "größe 2"], filters: [], sort: [] };

    expect(curlOfRead(odd)).toContain(`'select="a,b","say \\"x\\"",größe 2'`);
    expect(curlOfRead(odd)).toContain("'order=id.asc'");
    expect(javascriptOfRead(odd)).toContain('.order("id", { ascending: true, nullsFirst: false })');
  });
});
