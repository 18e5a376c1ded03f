// @vitest-environment node
import { describe, expect, test } from "vitest";
import { addColumn, alterColumn, dropColumn, emptyColumn } from "./columns";
import {
  addConstraint,
  createIndex,
  type IndexDraft,
  suggestConstraintName,
  suggestIndexName,
} from "./constraints";
import { alterEnum, createEnum } from "./enums";
import { findExpressionFault } from "./expression";
import {
  alterPolicy,
  createPolicy,
  guessOwnerColumn,
  type PolicyDraft,
  policyTemplates,
} from "./policies";
import { createTable, newTable } from "./tables";

const items = { schema: "public", name: "items" };
const column = { ...emptyColumn, name: "price", type: "numeric(10,2)" };

describe("tables and columns", () => {
  test("CONSOLE-070 a new table has its key, row security and comments", () => {
    const sql = createTable({
      ...newTable,
      name: "Odd name",
      comment: "it's odd",
      columns: [
        ...newTable.columns,
        {
          ...column,
          name: "owner",
          type: "uuid",
          references: { schema: "auth", name: "users", column: "id", onDelete: "cascade" },
          comment: "who",
        },
      ],
    });

    expect(sql).toBe(`create table public."Odd name" (
  id bigint generated always as identity,
  created_at timestamptz not null default now(),
  owner uuid references auth.users (id) on delete cascade,
  primary key (id)
);
alter table public."Odd name" enable row level security;
comment on table public."Odd name" is 'it''s odd';
comment on column public."Odd name".owner is 'who';`);
  });

  test("CONSOLE-070 a table without columns is valid SQL", () => {
    expect(createTable({ ...newTable, name: "t", columns: [], enablesRls: false })).toBe(
      "create table public.t ();",
    );
  });

  test("CONSOLE-071 a changed column mentions only what changes", () => {
    expect(alterColumn(items, column, column)).toBe("");
    expect(alterColumn(items, column, { ...column, isNullable: false })).toBe(
      "alter table public.items\n  alter column price set not null;",
    );
    expect(alterColumn(items, column, { ...column, name: "cost", comment: "€" })).toBe(
      "alter table public.items rename column price to cost;\ncomment on column public.items.cost is '€';",
    );
  });

  test("CONSOLE-071 a default that cannot be cast goes before its type", () => {
    const before = { ...column, type: "text", defaultValue: "'0'" };
    expect(alterColumn(items, before, { ...before, type: "int4", defaultValue: "0" })).toBe(
      `alter table public.items
  alter column price drop default,
  alter column price type int4 using price::int4,
  alter column price set default 0;`,
    );
  });

  test("CONSOLE-070 columns are added and dropped", () => {
    expect(addColumn(items, { ...column, isUnique: true, comment: "x" })).toBe(
      "alter table public.items add column price numeric(10,2) unique;\ncomment on column public.items.price is 'x';",
    );
    expect(dropColumn(items, "a b", true)).toBe(
      'alter table public.items drop column "a b" cascade;',
    );
  });
});

describe("constraints, indexes and enums", () => {
  test("CONSOLE-070 a foreign key names its columns, its target and what happens on delete", () => {
    const draft = {
      kind: "foreign key" as const,
      table: items,
      name: "items_owner_fkey",
      columns: ["owner"],
      target: { schema: "auth", name: "users" },
      targetColumns: ["id"],
      onDelete: "set null" as const,
      onUpdate: "no action" as const,
    };
    expect(addConstraint(draft)).toBe(
      `alter table public.items add constraint items_owner_fkey foreign key (owner) references auth.users (id) on delete set null;`,
    );
    expect(suggestConstraintName(draft)).toBe("items_owner_fkey");
  });

  test("CONSOLE-070 an index takes columns, expressions, includes and a condition", () => {
    const draft: IndexDraft = {
      table: items,
      name: "items_idx",
      method: "btree",
      isUnique: true,
      keys: [
        { column: "Brand", expression: "", isDescending: true },
        { column: "", expression: "lower(name)", isDescending: false },
      ],
      include: ["id"],
      where: "deleted_at is null",
    };
    expect(createIndex(draft)).toBe(
      'create unique index items_idx on public.items ("Brand" desc, (lower(name))) include (id) where deleted_at is null;',
    );
    expect(suggestIndexName(draft)).toBe("items_Brand_expr_key");
  });

  test("CONSOLE-070 values of an enum are added where they stand in the list, and renamed before", () => {
    const values = [
      { label: "new", was: null },
      { label: "open!", was: "open" },
      { label: "half", was: null },
      { label: "done", was: "done" },
    ];
    expect(createEnum({ schema: "public", name: "status", values })).toBe(
      "create type public.status as enum ('new', 'open!', 'half', 'done');",
    );
    expect(alterEnum({ schema: "public", name: "status", values })).toBe(
      `alter type public.status rename value 'open' to 'open!';
alter type public.status add value 'new' before 'open!';
alter type public.status add value 'half' after 'open!';`,
    );
  });
});

describe("policies", () => {
  const policy: PolicyDraft = {
    table: items,
    name: "Own rows",
    command: "update",
    isPermissive: true,
    roles: ["authenticated"],
    using: "(select auth.uid()) = owner",
    check: "",
  };

  test("CONSOLE-070 a policy leaves out the condition that its command does not have", () => {
    expect(createPolicy({ ...policy, command: "insert", check: "true" })).toBe(
      `create policy "Own rows" on public.items
  for insert
  to authenticated
  with check (true);`,
    );
    expect(createPolicy({ ...policy, isPermissive: false, roles: ["public"] })).toContain(
      "  as restrictive\n  for update\n  to public\n  using",
    );
  });

  test("CONSOLE-071 a policy is altered in place unless its command or kind changes", () => {
    expect(alterPolicy(policy, { ...policy, name: "Mine", using: "true" })).toBe(
      `alter policy "Own rows" on public.items\n  using (true);\nalter policy "Own rows" on public.items rename to "Mine";`,
    );
    expect(alterPolicy(policy, { ...policy, command: "all" })).toMatch(
      /^drop policy "Own rows" on public.items;\ncreate policy/,
    );
    expect(alterPolicy(policy, { ...policy, using: "", check: "true" })).toMatch(/^drop policy/);
  });

  test("templates are complete policies", () => {
    for (const template of policyTemplates) {
      expect(createPolicy(template.draft(items, "Owner"))).toMatch(/ (using|with check) \(.+\);$/s);
    }
    expect(
      guessOwnerColumn([
        { name: "id", type: "uuid" },
        { name: "owner_id", type: "uuid" },
      ]),
    ).toBe("owner_id");
  });
});

test("CONSOLE-166 an expression that would change the statement around it is refused at its field", () => {
  for (const open of ["a;b", "'x", 'a = "b', "f(x", "a) or (b", "a -- b", "$$x", "/* x"]) {
    expect(findExpressionFault(open), open).not.toBeNull();
  }
  for (const fine of [
    "",
    "now()",
    "'a;b'",
    "(a) = $$;$$",
    "'it''s'",
    "x in ('a', 'b')",
    'x = "y"',
  ]) {
    expect(findExpressionFault(fine), fine).toBeNull();
  }
});
