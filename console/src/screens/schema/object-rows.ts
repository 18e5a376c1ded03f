/** Objects of every kind as lines of one list: what its columns are, and what the lines say in them. */
import type { Catalog, Column, Table } from "@/api/catalog-model";
import { isView, whyNoRight, whyNotOwner } from "@/api/catalog-model";
import { listOf, type ObjectKind, type SchemaObject, textOf } from "@/api/objects";
import { formatBytes, formatNumber } from "@/lib/format";
import type { DroppedObject } from "@/lib/sql/ddl/drop";

/** The tabs. Policies have a separate screen. */
export const schemaKinds = [
  "tables",
  "columns",
  "constraints",
  "indexes",
  "triggers",
  "functions",
  "types",
  "views",
  "extensions",
  "publications",
  "roles",
  "grants",
] as const;
export type SchemaKind = (typeof schemaKinds)[number];

export const isSchemaKind = (text: string | undefined): text is SchemaKind =>
  schemaKinds.some((kind) => kind === text);

/** Kinds that belong to the whole database and to no schema. */
export const isGlobal = (kind: SchemaKind) =>
  kind === "extensions" || kind === "publications" || kind === "roles";

export interface ObjectRow {
  /** An id that is unique among objects of the same kind. */
  id: string;
  schema: string;
  name: string;
  table: string;
  /** One text per header. */
  cells: string[];
  /** The object, as the statement that drops it needs it. */
  dropped: DroppedObject;
  object: SchemaObject | null;
  /** The table itself, or the one that a column belongs to. */
  owner: Table | null;
  column: Column | null;
}

/** Headers behind the name; the first cell is always schema and name. */
export const headersOf: Record<SchemaKind, readonly string[]> = {
  tables: ["Columns", "Rows", "Size", "RLS", "Comment"],
  columns: ["Table", "Type", "Default", "Nullable", "Comment"],
  constraints: ["Table", "Kind", "Definition"],
  indexes: ["Table", "Method", "Keys", "Size", "Scans"],
  triggers: ["Table", "When", "Function", "Enabled"],
  functions: ["Arguments", "Returns", "Language", "Runs as"],
  types: ["Kind", "Values"],
  views: ["Kind", "Rights"],
  extensions: ["Installed", "Available", "What it does"],
  publications: ["Tables", "Operations"],
  roles: ["Rights", "Member of"],
  grants: ["Kind", "Grantee", "Privileges"],
};

export function tableRows(catalog: Catalog): ObjectRow[] {
  return catalog.tables
    .filter((table) => !isView(table))
    .map((table) => ({
      ...base("tables", table.oid, table.schema, table.name),
      cells: [
        String(table.columns.length),
        table.rows < 0 ? "not counted yet" : `≈ ${formatNumber(table.rows)}`,
        formatBytes(table.bytes),
        table.rls ? "on" : "off",
        table.comment ?? "",
      ],
      owner: table,
    }));
}

export function columnRows(catalog: Catalog): ObjectRow[] {
  return catalog.tables.flatMap((table) =>
    table.columns.map((column) => ({
      ...base("columns", `${table.oid}.${column.name}`, table.schema, column.name, table.name),
      cells: [
        table.name,
        column.type,
        column.identity === null ? (column.default ?? "") : "identity",
        column.nullable ? "yes" : "no",
        column.comment ?? "",
      ],
      owner: table,
      column,
    })),
  );
}

export function objectRows(kind: SchemaKind, objects: readonly SchemaObject[]): ObjectRow[] {
  return objects.map((object) => {
    const row = base(
      kind,
      object.oid || object.name,
      object.schema ?? "",
      object.name,
      object.table ?? "",
    );
    return {
      ...row,
      cells: cellsOf(kind, object),
      object,
      dropped: {
        ...row.dropped,
        arguments: textOf(object, "identity_arguments"),
        variant: textOf(object, "kind"),
        grantee: textOf(object, "grantee"),
        privileges: listOf(object, "privileges"),
      },
    };
  });
}

function base(kind: SchemaKind, id: string, schema: string, name: string, table = ""): ObjectRow {
  const dropped = { kind, schema, name, table, arguments: "", variant: "" };
  return {
    id,
    schema,
    name,
    table,
    cells: [],
    dropped: { ...dropped, grantee: "", privileges: [] },
    object: null,
    owner: null,
    column: null,
  };
}

function cellsOf(kind: SchemaKind, object: SchemaObject): string[] {
  const text = (key: string) => textOf(object, key);
  const list = (key: string) => listOf(object, key).join(", ");
  const table = object.table ?? "";
  switch (kind) {
    case "constraints":
      return [table, text("type"), text("expression")];
    case "indexes":
      return [
        table,
        indexKind(object),
        list("columns"),
        sizeOf(object.bytes),
        countOf(object.scans),
      ];
    case "triggers":
      return [table, `${text("timing")} ${list("events")}`, text("function"), text("enabled")];
    case "functions":
      return [
        text("arguments"),
        text("returns"),
        text("language"),
        object.security_definer === true ? "definer" : "invoker",
      ];
    case "types":
      return [text("kind"), list("values") || text("base")];
    case "views":
      return [text("kind"), object.security_invoker === true ? "of the caller" : "of the owner"];
    case "extensions":
      return [text("version"), text("default_version"), text("comment")];
    case "publications":
      return [object.all_tables === true ? "all tables" : list("tables"), operationsOf(object)];
    case "roles":
      return [rightsOf(object), list("member_of")];
    case "grants":
      return [text("kind"), text("grantee"), list("privileges")];
    default:
      return [];
  }
}

function indexKind(object: SchemaObject): string {
  const words = [textOf(object, "method")];
  if (object.primary === true) words.push("primary key");
  else if (object.unique === true) words.push("unique");
  if (object.valid === false) words.push("invalid");
  return words.join(", ");
}

const sizeOf = (value: unknown) => (typeof value === "number" ? formatBytes(value) : "");
const countOf = (value: unknown) => (typeof value === "number" ? formatNumber(value) : "");

function operationsOf(object: SchemaObject): string {
  return ["insert", "update", "delete", "truncate"]
    .filter((name) => object[name] === true)
    .join(", ");
}

function rightsOf(object: SchemaObject): string {
  const words: Record<string, string> = {
    superuser: "superuser",
    login: "login",
    bypassrls: "bypasses RLS",
    create_role: "creates roles",
    create_db: "creates databases",
    replication: "replication",
  };
  return Object.keys(words)
    .filter((name) => object[name] === true)
    .map((name) => words[name])
    .join(", ");
}

export interface RowFilter {
  search: string;
  schema: string;
}

/** Lines with the text anywhere in them. Those whose name begins with it come first. */
export function filterRows(rows: readonly ObjectRow[], { search, schema }: RowFilter): ObjectRow[] {
  const wanted = search.trim().toLowerCase();
  const inSchema = schema === "" ? rows : rows.filter((row) => row.schema === schema);
  if (wanted === "") return [...inSchema];
  const found = inSchema.filter((row) =>
    [row.schema, row.name, ...row.cells].some((text) => text.toLowerCase().includes(wanted)),
  );
  const begins = (row: ObjectRow) => Number(row.name.toLowerCase().startsWith(wanted));
  return found.sort((a, b) => begins(b) - begins(a));
}

/** The kind and oid under which the server describes the line; a column is described by its table. */
export function describedAs(kind: SchemaKind, row: ObjectRow): { kind: ObjectKind; oid: string } {
  if (kind === "tables" || kind === "columns") return { kind: "tables", oid: row.owner?.oid ?? "" };
  return { kind, oid: row.object?.oid ?? "" };
}

/** Kinds of objects with their own owner. Constraints, indexes and triggers belong to the owner of their table. */
const owned: readonly SchemaKind[] = ["functions", "types", "views"];

/** The reason why this session's database login may not alter the object; undefined when it may, or the catalog does not say. */
export function whyNotChangeable(
  catalog: Catalog | undefined,
  kind: SchemaKind,
  row: ObjectRow,
): string | undefined {
  if (row.owner !== null) return whyNoRight(row.owner, "o");
  if (row.object === null) return undefined;
  if (owned.includes(kind)) return whyNotOwner(catalog, textOf(row.object, "owner"));
  const table = catalog?.tablesByOid.get(textOf(row.object, "table_oid"));
  return table === undefined ? undefined : whyNoRight(table, "o");
}
