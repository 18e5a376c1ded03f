// @vitest-environment node
import { expect, test } from "vitest";
import {
  connectLines,
  type FunctionRequest,
  findJsonProblem,
  suggestArguments,
  suggestRow,
  type TableRequest,
  toCurl,
  toHttp,
  toSupabaseJs,
} from "./api-request";

const select: TableRequest = {
  kind: "table",
  schema: "public",
  table: "items",
  verb: "select",
  select: "id, brand(name)",
  filters: [
    { column: "price", operator: "gte", value: "10" },
    { column: "Odd name", operator: "in", value: "a, b(c)" },
  ],
  order: { column: "created_at", descending: true },
  limit: 20,
  body: "",
  rollsBack: true,
};

test("CONSOLE-100 a read is one URL", () => {
  expect(toHttp(select)).toEqual({
    method: "GET",
    path: "/items?select=id,brand(name)&price=gte.10&%22Odd+name%22=in.(a,%22b(c)%22)&order=created_at.desc&limit=20",
    headers: {},
    body: null,
  });
});

test("CONSOLE-100 writes roll back by default and answer with their rows", () => {
  const insert: TableRequest = { ...select, verb: "insert", schema: "shop", body: '{"a": 1}' };

  expect(toHttp(insert)).toEqual({
    method: "POST",
    path: "/items?select=id,brand(name)",
    headers: {
      "Content-Profile": "shop",
      Prefer: "return=representation,tx=rollback",
      "Content-Type": "application/json",
    },
    body: '{"a": 1}',
  });
  expect(toHttp({ ...insert, rollsBack: false }).headers.Prefer).toBe("return=representation");
  expect(toHttp({ ...insert, verb: "upsert" }).headers.Prefer).toContain("merge-duplicates");
});

test("CONSOLE-004 the key in curl is a variable, and quotes survive the shell", () => {
  const update: TableRequest = {
    ...select,
    verb: "update",
    select: "",
    filters: [{ column: "name", operator: "eq", value: "it's" }],
    body: '{\n  "name": "it\'s $HOME"\n}',
    rollsBack: false,
  };
  expect(toCurl(update, "http://127.0.0.1:54321/")).toBe(
    `curl -X PATCH 'http://127.0.0.1:54321/rest/v1/items?name=eq.it%27s' \\
  -H "apikey: $SUPABASE_KEY" \\
  -H "Authorization: Bearer $SUPABASE_KEY" \\
  -H 'Prefer: return=representation' \\
  -H 'Content-Type: application/json' \\
  -d '{"name":"it'\\''s $HOME"}'`,
  );
});

test("CONSOLE-004 supabase-js says the same", () => {
  expect(toSupabaseJs(select)).toBe(`const { data, error } = await supabase
  .from("items")
  .select("id, brand(name)")
  .gte("price", "10")
  .in("Odd name", ["a", "b(c)"])
  .order("created_at", { ascending: false })
  .limit(20);`);
  const call: FunctionRequest = {
    kind: "function",
    schema: "shop",
    name: "find",
    body: '{"term": "x"}',
    rollsBack: true,
  };
  expect(toSupabaseJs(call)).toBe(`const { data, error } = await supabase.schema("shop")
  .rpc("find", {
    term: "x"
  })
  .rollback();`);
  expect(
    toSupabaseJs({
      ...select,
      verb: "delete",
      select: "",
      filters: [{ column: "a", operator: "is", value: "null" }],
      rollsBack: false,
    }),
  ).toBe(`const { data, error } = await supabase
  .from("items")
  .delete()
  .is("a", null)
  .select();`);
});

test("CONSOLE-100 an app is connected by the URL and the publishable key", () => {
  expect(connectLines("http://x", "sb_publishable_1")).toContain(
    '  "http://x",\n  "sb_publishable_1",',
  );
});

test("CONSOLE-100 the form begins with what has to be given", () => {
  const column = { nullable: false, default: null, identity: null, isGenerated: false };
  expect(
    JSON.parse(
      suggestRow([
        { ...column, name: "id", type: "bigint", identity: "a" },
        { ...column, name: "name", type: "text" },
        { ...column, name: "tags", type: "text[]" },
        { ...column, name: "at", type: "date", default: "now()" },
      ]),
    ),
  ).toEqual({ name: "", tags: [] });
  expect(
    JSON.parse(suggestArguments('term text, price numeric(10,2), "Odd" uuid, n integer DEFAULT 1')),
  ).toEqual({
    term: "",
    price: 0,
    Odd: "00000000-0000-0000-0000-000000000000",
  });
  expect(findJsonProblem("{")).not.toBeNull();
  expect(findJsonProblem('{"a": 1}')).toBeNull();
});

test("console_034_numbers_of_64_bits_and_blanks_in_names_survive_a_snippet", () => {
  const insert: TableRequest = {
    ...select,
    verb: "insert",
    select: 'id, "Odd name" , b( c )',
    body: '{"id": 9007199254740993, "price": 1.50, "tags": [], "note": "a \\"b\\" {1}"}',
  };

  expect(toHttp(insert).path).toBe("/items?select=id,%22Odd+name%22,b(c)");
  expect(toCurl(insert, "http://x")).toContain(
    `-d '{"id":9007199254740993,"price":1.50,"tags":[],"note":"a \\"b\\" {1}"}'`,
  );
  expect(toSupabaseJs(insert)).toContain(`insert({
    id: "9007199254740993",
    price: 1.50,
    tags: [],
    note: "a \\"b\\" {1}"
  })`);
});
