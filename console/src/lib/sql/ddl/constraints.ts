/** SQL for constraints and indexes. */
import { quoteColumns, quoteIdentifier, quoteName, suggestName } from "../quote";
import type { ReferenceAction, TableName } from "./columns";

export type ConstraintDraft = { table: TableName; name: string } & (
  | { kind: "primary key" | "unique"; columns: string[] }
  | { kind: "check"; expression: string }
  | {
      kind: "foreign key";
      columns: string[];
      target: TableName;
      targetColumns: string[];
      onDelete: ReferenceAction;
      onUpdate: ReferenceAction;
    }
);

export function addConstraint(draft: ConstraintDraft): string {
  const table = quoteName(draft.table.schema, draft.table.name);
  const name = quoteIdentifier(draft.name);
  return `alter table ${table} add constraint ${name} ${describeConstraint(draft)};`;
}

function describeConstraint(draft: ConstraintDraft): string {
  switch (draft.kind) {
    case "primary key":
    case "unique":
      return `${draft.kind} ${quoteColumns(draft.columns)}`;
    case "check":
      return `check (${draft.expression.trim()})`;
    case "foreign key": {
      const target = quoteName(draft.target.schema, draft.target.name);
      const actions = [
        draft.onUpdate === "no action" ? "" : ` on update ${draft.onUpdate}`,
        draft.onDelete === "no action" ? "" : ` on delete ${draft.onDelete}`,
      ].join("");
      return `foreign key ${quoteColumns(draft.columns)} references ${target} ${quoteColumns(draft.targetColumns)}${actions}`;
    }
  }
}

export function dropConstraint(table: TableName, name: string, cascades: boolean): string {
  const end = cascades ? " cascade" : "";
  return `alter table ${quoteName(table.schema, table.name)} drop constraint ${quoteIdentifier(name)}${end};`;
}

/** The name that PostgreSQL itself would choose, so that a constraint made by hand and by form are called alike. */
export function suggestConstraintName(draft: ConstraintDraft): string {
  const { name } = draft.table;
  switch (draft.kind) {
    case "primary key":
      return suggestName(name, "pkey");
    case "unique":
      return suggestName(name, ...draft.columns, "key");
    case "check":
      return suggestName(name, "check");
    case "foreign key":
      return suggestName(name, ...draft.columns, "fkey");
  }
}

export const indexMethods = ["btree", "hash", "gin", "gist", "spgist", "brin"] as const;

export interface IndexDraft {
  table: TableName;
  name: string;
  method: (typeof indexMethods)[number];
  isUnique: boolean;
  /** Columns by name, or expressions such as `lower(email)`. */
  keys: { column: string; expression: string; isDescending: boolean }[];
  include: string[];
  /** Condition of a partial index; empty for all rows. */
  where: string;
}

export function createIndex(draft: IndexDraft): string {
  const keys = draft.keys.map(({ column, expression, isDescending }) => {
    const key = column === "" ? `(${expression.trim()})` : quoteIdentifier(column);
    return isDescending ? `${key} desc` : key;
  });
  const parts = [
    draft.isUnique ? "create unique index" : "create index",
    quoteIdentifier(draft.name),
    "on",
    quoteName(draft.table.schema, draft.table.name),
    draft.method === "btree" ? "" : `using ${draft.method}`,
    `(${keys.join(", ")})`,
    draft.include.length === 0 ? "" : `include ${quoteColumns(draft.include)}`,
    draft.where.trim() === "" ? "" : `where ${draft.where.trim()}`,
  ];
  return `${parts.filter((part) => part !== "").join(" ")};`;
}

export function dropIndex(schema: string, name: string): string {
  return `drop index ${quoteName(schema, name)};`;
}

export function suggestIndexName(draft: IndexDraft): string {
  const keys = draft.keys.map(({ column }) => (column === "" ? "expr" : column));
  return suggestName(draft.table.name, ...keys, draft.isUnique ? "key" : "idx");
}
