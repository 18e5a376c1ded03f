// @vitest-environment node
import { describe, expect, test } from "vitest";
import { findDangers } from "./dangers";
import { quoteIdentifier, quoteLiteral, quoteName, suggestName } from "./quote";
import { readScope } from "./scope";
import { findStatementAt, findWordAt, offsetOfPosition, splitStatements } from "./statements";
import { tokenize } from "./tokens";

const textsOf = (sql: string) => splitStatements(sql).map(({ text }) => text);
const dangersOf = (sql: string) => findDangers(sql).map(({ kind, target }) => `${kind}: ${target}`);
function scopeOf(sql: string) {
  const [statement] = splitStatements(sql);
  return readScope(statement ?? { tokens: [] });
}

describe("quoting", () => {
  test("CONSOLE-166 names that PostgreSQL would fold, split or refuse are quoted", () => {
    expect(
      ["items", "Items", "two words", 'a"b', "select", "1st", "ä", ""].map(quoteIdentifier),
    ).toEqual(["items", '"Items"', '"two words"', '"a""b"', '"select"', '"1st"', '"ä"', '""']);
    expect(quoteName("public", 'x"; drop table t; --')).toBe('public."x""; drop table t; --"');
  });

  test("CONSOLE-166 literals double their quotes and escape backslashes", () => {
    expect(["it's", "a\\' or 1=1", null].map(quoteLiteral)).toEqual([
      "'it''s'",
      "E'a\\\\'' or 1=1'",
      "null",
    ]);
  });

  test("suggested names stay within 63 bytes without cutting a character", () => {
    expect(suggestName("ä".repeat(40), "idx")).toBe("ä".repeat(31));
  });
});

describe("tokens and statements", () => {
  test("tokens together are the text, whatever it is", () => {
    const sql = `select e'a\\'b', $x$ ; $x$, "q""r", /* a /* b */ c */ 1.5e3::numeric -- end\n; 'open`;
    expect(
      tokenize(sql)
        .map(({ text }) => text)
        .join(""),
    ).toBe(sql);
  });

  test("CONSOLE-091 semicolons in quotes, comments, parentheses and bodies do not end a statement", () => {
    expect(textsOf("select ';'; select $$;$$ ; /* ; */ select 1 -- ;\n;;")).toEqual([
      "select ';'",
      "select $$;$$",
      "select 1",
    ]);
    const body =
      "create function f() returns int begin atomic select case when true then 1 end; select 2; end";
    expect(textsOf(`${body}; select 3`)).toEqual([body, "select 3"]);
    expect(
      textsOf("create rule r as on insert to t do (select 1; select 2); select 3"),
    ).toHaveLength(2);
  });

  test("the statement at the cursor is the one that was just typed", () => {
    const sql = "select 1;\n\nselect 2;\n";
    expect(findStatementAt(sql, 3)?.text).toBe("select 1");
    expect(findStatementAt(sql, 10)?.text).toBe("select 1");
    expect(findStatementAt(sql, sql.length)?.text).toBe("select 2");
    expect(findStatementAt("", 0)).toBeNull();
  });

  test("CONSOLE-090 an error's position counts characters and marks a whole word", () => {
    const sql = "select '😀', nope from t";
    const offset = offsetOfPosition(sql, 13);
    expect(sql.slice(offset)).toMatch(/^nope/);
    const { from, to } = findWordAt(sql, offset);
    expect(sql.slice(from, to)).toBe("nope");
    expect(findWordAt("select", 99)).toEqual({ from: 0, to: 6 });
  });
});

describe("dangers", () => {
  test("CONSOLE-094 delete and update without where, drop and truncate are found", () => {
    expect(
      dangersOf(`delete from items; update public."Big Items" set a = 1; truncate only a, b;
                 drop table if exists public.x cascade; drop materialized view m;
                 alter table t drop column c, drop constraint k; alter table t disable row level security`),
    ).toEqual([
      "delete_all: items",
      "update_all: public.Big Items",
      "truncate: a",
      "drop: table public.x",
      "drop: materialized view m",
      "drop_column: column c of t",
      "disable_rls: t",
    ]);
  });

  test("CONSOLE-094 every object that a statement names is counted, under its quoted name", () => {
    const objectsOf = (sql: string) => findDangers(sql).map(({ objects }) => objects);
    expect(
      objectsOf(`truncate table only a, public."Big Items" restart identity cascade;
                 drop table if exists x, y cascade; delete from only t as u using v;
                 drop view v; drop function f(int, text), g(); drop policy p on t`),
    ).toEqual([
      [
        { kind: "table", name: "a" },
        { kind: "table", name: 'public."Big Items"' },
      ],
      [
        { kind: "table", name: "x" },
        { kind: "table", name: "y" },
      ],
      [{ kind: "table", name: "t" }],
      [{ kind: "relation", name: "v" }],
      [
        { kind: "function", name: "f" },
        { kind: "function", name: "g" },
      ],
      [],
    ]);
  });

  test("CONSOLE-094 a where in a subquery does not count, one of the statement does", () => {
    expect(dangersOf("update t set a = (select b from c where d)")).toEqual(["update_all: t"]);
    expect(dangersOf("delete from t where id = 1; update t set a = 1 where b")).toEqual([]);
    expect(dangersOf("with x as (select 1 where true) delete from t")).toEqual(["delete_all: t"]);
    expect(dangersOf("explain analyze delete from t")).toEqual(["delete_all: t"]);
    expect(dangersOf("explain delete from t; select 'drop table x'; -- truncate t")).toEqual([]);
  });
});

test("console_094_a_delete_in_with_and_one_of_a_merge_are_found", () => {
  expect(
    dangersOf(`with gone as (delete from items returning *) select * from gone;
               with a as materialized (update t set b = 1), c as (select 1) delete from u where x;
               with a as (delete from t where b) select 1;
               merge into stock s using news n on s.id = n.id
                 when matched and n.amount = 0 then delete when matched then delete;
               merge into stock s using news n on s.id = n.id when matched and s.a then delete`),
  ).toEqual(["delete_all: items", "update_all: t", "merge_delete: stock"]);
});

test("console_090_a_literal_of_16_megabytes_is_one_token", () => {
  const text = "x".repeat(16_000_000);
  for (const [open, close] of [
    ["'", "'"],
    ["E'", "'"],
    ['"', '"'],
    ["$a$", "$a$"],
    ["'", ""],
  ] as const) {
    const start = performance.now();
    const statements = splitStatements(`select ${open}${text}${close}`);
    expect(statements[0]?.tokens).toHaveLength(2);
    expect(performance.now() - start).toBeLessThan(3000);
  }
});

describe("scope", () => {
  test("CONSOLE-090 tables are found under their aliases", () => {
    expect(
      scopeOf('select * from public.items i, "Big" as b left join auth.users on true where x')
        .tables,
    ).toEqual([
      { schema: "public", name: "items", alias: "i" },
      { schema: null, name: "Big", alias: "b" },
      { schema: "auth", name: "users", alias: "users" },
    ]);
  });

  test("CONSOLE-090 writes name their table, and a FROM inside a function names none", () => {
    expect(scopeOf("insert into items (id) values (1)").tables).toEqual([
      { schema: null, name: "items", alias: "items" },
    ]);
    expect(scopeOf("update items set a = extract(day from b)").tables).toHaveLength(1);
    expect(scopeOf("select a is distinct from b from t").tables.map(({ name }) => name)).toEqual([
      "t",
    ]);
  });

  test("CONSOLE-090 queries of WITH are offered with the columns they list", () => {
    expect(
      scopeOf("with a as (select 1), b(x, y) as (select 1, 2) select * from a").queries,
    ).toEqual([
      { name: "a", columns: [] },
      { name: "b", columns: ["x", "y"] },
    ]);
  });
});
