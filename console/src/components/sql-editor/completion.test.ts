// @vitest-environment node
import { expect, test } from "vitest";
import { type CompletionCatalog, completeSql, keywords } from "./completion";

const catalog: CompletionCatalog = {
  schemas: ["public", "auth"],
  tables: [
    {
      schema: "public",
      name: "items",
      columns: [
        { name: "id", type: "uuid" },
        { name: "Brand", type: "text" },
        { name: "owner", type: "uuid" },
      ],
    },
    { schema: "auth", name: "users", columns: [{ name: "email", type: "text" }] },
  ],
  functions: [
    { schema: "public", name: "slug", arguments: "name text", returns: "text" },
    { schema: "pg_catalog", name: "now", arguments: "", returns: "timestamptz" },
  ],
  foreignKeys: [
    {
      table: { schema: "public", name: "items" },
      columns: ["owner"],
      target: { schema: "auth", name: "users" },
      targetColumns: ["id"],
    },
  ],
};

/** Returns the completions at the position of `|`. */
function complete(text: string, asked = false) {
  const offset = text.indexOf("|");
  return completeSql(text.replace("|", ""), offset, catalog, asked);
}
const insertsOf = (text: string, asked = false) =>
  complete(text, asked)?.options.map(({ insert }) => insert);

test("CONSOLE-090 an alias offers the columns of its table, also when its FROM comes later", () => {
  expect(insertsOf("select i.| from items i")).toEqual(["id", '"Brand"', "owner"]);
  expect(insertsOf("select i.ow| from public.items as i")).toContain("owner");
  expect(insertsOf("select users.| from auth.users")).toEqual(["email"]);
});

test("CONSOLE-090 a schema offers its tables, and FROM tables with a schema where one is needed", () => {
  expect(insertsOf("select * from auth.|")).toEqual(["users"]);
  expect(insertsOf("select * from u|")).toEqual(["items", "auth.users", "public", "auth"]);
  expect(insertsOf("select * from items, u|")).toContain("auth.users");
});

test("CONSOLE-090 JOIN … ON offers the foreign key's condition first", () => {
  const [first] = complete("select * from auth.users u join items i on |", true)?.options ?? [];
  expect(first?.insert).toBe("i.owner = u.id");
});

test("CONSOLE-090 names of WITH are tables, and their listed columns are known", () => {
  expect(insertsOf("with recent(id, at) as (select 1, 2) select * from r|")?.[0]).toBe("recent");
  expect(insertsOf("with recent(id, at) as (select 1, 2) select recent.| from recent")).toEqual([
    "id",
    "at",
  ]);
});

test("CONSOLE-090 nothing is offered in strings, comments and numbers, or unasked between words", () => {
  for (const text of ["select 'a|'", "select 1|", "-- no|", "/* i| */", "select |", "select $1|"]) {
    expect(complete(text), text).toBeNull();
  }
  expect(insertsOf("select |", true)).toContain("slug(");
});

test("the range to replace begins with the word, and statements do not mix", () => {
  expect(complete("select 1; select em| from auth.users")?.from).toBe(17);
  expect(insertsOf("select * from items; select | from auth.users", true)).not.toContain("owner");
});

test("keywords of two words stay together", () => {
  expect(keywords).toEqual(expect.arrayContaining(["order by", "left join", "on conflict"]));
});
