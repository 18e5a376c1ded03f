/** SQL for tables. */
import { quoteColumns, quoteIdentifier, quoteLiteral, quoteName } from "../quote";
import { type ColumnDraft, describeColumn, emptyColumn, type TableName } from "./columns";

export interface TableDraft extends TableName {
  comment: string;
  enablesRls: boolean;
  columns: ColumnDraft[];
}

/** The draft of a new table: an identity column as primary key, and the time of creation. */
export const newTable: TableDraft = {
  schema: "public",
  name: "",
  comment: "",
  enablesRls: true,
  columns: [
    { ...emptyColumn, name: "id", type: "bigint", identity: "always", isPrimary: true },
    {
      ...emptyColumn,
      name: "created_at",
      type: "timestamptz",
      isNullable: false,
      defaultValue: "now()",
    },
  ],
};

export function createTable(table: TableDraft): string {
  const name = quoteName(table.schema, table.name);
  const lines = table.columns.map((column) => `  ${describeColumn(column)}`);
  const key = table.columns.filter(({ isPrimary }) => isPrimary).map((column) => column.name);
  if (key.length > 0) lines.push(`  primary key ${quoteColumns(key)}`);
  const body = lines.length === 0 ? "()" : `(\n${lines.join(",\n")}\n)`;
  const statements = [`create table ${name} ${body};`];
  if (table.enablesRls) statements.push(setRls(table, true));
  if (table.comment !== "") statements.push(commentOnTable(table, table.comment));
  for (const column of table.columns) {
    if (column.comment === "") continue;
    const path = `${name}.${quoteIdentifier(column.name)}`;
    statements.push(`comment on column ${path} is ${quoteLiteral(column.comment)};`);
  }
  return statements.join("\n");
}

export function renameTable(table: TableName, name: string): string {
  return `alter table ${quoteName(table.schema, table.name)} rename to ${quoteIdentifier(name)};`;
}

export function dropTable(table: TableName, cascades: boolean): string {
  return `drop table ${quoteName(table.schema, table.name)}${cascades ? " cascade" : ""};`;
}

export function setRls(table: TableName, isEnabled: boolean): string {
  const verb = isEnabled ? "enable" : "disable";
  return `alter table ${quoteName(table.schema, table.name)} ${verb} row level security;`;
}

export function commentOnTable(table: TableName, comment: string): string {
  const text = quoteLiteral(comment === "" ? null : comment);
  return `comment on table ${quoteName(table.schema, table.name)} is ${text};`;
}
