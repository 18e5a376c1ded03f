/** SQL for columns: as part of a new table, added, changed or dropped. */
import { quoteColumns, quoteIdentifier, quoteLiteral, quoteName } from "../quote";

export interface TableName {
  schema: string;
  name: string;
}

export type ReferenceAction = "no action" | "restrict" | "cascade" | "set null" | "set default";

export interface ColumnDraft {
  name: string;
  /** A type as PostgreSQL writes it: `text`, `numeric(10,2)`, `public.status[]`. */
  type: string;
  isNullable: boolean;
  /** An expression; empty for none. */
  defaultValue: string;
  identity: "" | "always" | "by default";
  isPrimary: boolean;
  isUnique: boolean;
  references: (TableName & { column: string; onDelete: ReferenceAction }) | null;
  comment: string;
}

export const emptyColumn: ColumnDraft = {
  name: "",
  type: "text",
  isNullable: true,
  defaultValue: "",
  identity: "",
  isPrimary: false,
  isUnique: false,
  references: null,
  comment: "",
};

/** The column's line in CREATE TABLE or ADD COLUMN; the primary key is a line of the table. */
export function describeColumn(column: ColumnDraft): string {
  const parts = [quoteIdentifier(column.name), column.type.trim()];
  if (column.identity !== "") parts.push(`generated ${column.identity} as identity`);
  if (!column.isNullable && !column.isPrimary) parts.push("not null");
  if (column.defaultValue.trim() !== "") parts.push(`default ${column.defaultValue.trim()}`);
  if (column.isUnique && !column.isPrimary) parts.push("unique");
  if (column.references !== null) {
    const { schema, name, column: target, onDelete } = column.references;
    parts.push(`references ${quoteName(schema, name)} ${quoteColumns([target])}`);
    if (onDelete !== "no action") parts.push(`on delete ${onDelete}`);
  }
  return parts.join(" ");
}

export function addColumn(table: TableName, column: ColumnDraft): string {
  const name = quoteName(table.schema, table.name);
  const add = `alter table ${name} add column ${describeColumn(column)};`;
  return [add, ...commentOnColumn(table, column.name, "", column.comment)].join("\n");
}

export function dropColumn(table: TableName, column: string, cascades: boolean): string {
  const name = quoteName(table.schema, table.name);
  return `alter table ${name} drop column ${quoteIdentifier(column)}${cascades ? " cascade" : ""};`;
}

/** The statements that turn one form of a column into another; attributes that stay are not mentioned. */
export function alterColumn(table: TableName, before: ColumnDraft, after: ColumnDraft): string {
  const name = quoteName(table.schema, table.name);
  const statements: string[] = [];
  if (before.name !== after.name) {
    const names = `${quoteIdentifier(before.name)} to ${quoteIdentifier(after.name)}`;
    statements.push(`alter table ${name} rename column ${names};`);
  }
  const column = quoteIdentifier(after.name);
  const actions = listActions(before, after).map((action) => `  alter column ${column} ${action}`);
  if (actions.length > 0) statements.push(`alter table ${name}\n${actions.join(",\n")};`);
  if (!before.isUnique && after.isUnique) {
    statements.push(`alter table ${name} add unique ${quoteColumns([after.name])};`);
  }
  statements.push(...commentOnColumn(table, after.name, before.comment, after.comment));
  return statements.join("\n");
}

function listActions(before: ColumnDraft, after: ColumnDraft): string[] {
  const actions: string[] = [];
  const changesType = before.type.trim() !== after.type.trim();
  const hadDefault = before.defaultValue.trim();
  const hasDefault = after.defaultValue.trim();
  // PostgreSQL cannot cast most defaults along with the type, so the old one goes first.
  if (hadDefault !== "" && (hasDefault === "" || changesType)) actions.push("drop default");
  if (changesType) {
    const type = after.type.trim();
    actions.push(`type ${type} using ${quoteIdentifier(after.name)}::${type}`);
  }
  if (hasDefault !== "" && (hasDefault !== hadDefault || changesType)) {
    actions.push(`set default ${hasDefault}`);
  }
  if (before.isNullable !== after.isNullable) {
    actions.push(after.isNullable ? "drop not null" : "set not null");
  }
  if (before.identity !== after.identity) {
    if (before.identity === "") actions.push(`add generated ${after.identity} as identity`);
    else if (after.identity === "") actions.push("drop identity");
    else actions.push(`set generated ${after.identity}`);
  }
  return actions;
}

function commentOnColumn(table: TableName, column: string, before: string, after: string) {
  if (before === after) return [];
  const path = `${quoteName(table.schema, table.name)}.${quoteIdentifier(column)}`;
  return [`comment on column ${path} is ${quoteLiteral(after === "" ? null : after)};`];
}
