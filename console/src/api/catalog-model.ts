/** Body of `GET /api/catalog`: one array per property, because that compresses better than one object per table. */
export interface CatalogBody {
  version: string;
  schemas: { name: string; exposed: boolean }[];
  tables: {
    oid: string[];
    schema: string[];
    name: string[];
    kind: TableKind[];
    rls: boolean[];
    rows: number[];
    bytes: number[];
    comment: (string | null)[];
    key: string[][];
    rights: string[];
  };
  columns: {
    table: number[];
    name: string[];
    type: string[];
    nullable: boolean[];
    default: (string | null)[];
    identity: (string | null)[];
    generated: (string | boolean | null)[];
    comment: (string | null)[];
  };
  foreign_keys: ForeignKey[];
  enums: EnumType[];
  roles: Role[];
  functions: FunctionSummary[];
}

export interface Role {
  name: string;
  login: boolean;
  bypassrls: boolean;
  /** Whether this session's database login is a member of the role, and so may alter what the role owns. */
  member: boolean;
}

/** `r` table, `p` partitioned table, `v` view, `m` materialized view, `f` foreign table. */
export type TableKind = "r" | "p" | "v" | "m" | "f";

export interface Column {
  name: string;
  /** The type as PostgreSQL's `format_type` writes it, for example `character varying(20)[]`. */
  type: string;
  nullable: boolean;
  /** The default's SQL expression; null without default. */
  default: string | null;
  /** `a` for always, `d` for by default, null for none. */
  identity: string | null;
  isGenerated: boolean;
  comment: string | null;
}

export interface Table {
  oid: string;
  schema: string;
  name: string;
  kind: TableKind;
  rls: boolean;
  /** Estimate of the planner; negative when it has none. */
  rows: number;
  bytes: number;
  comment: string | null;
  /** Names of the primary key's columns, empty when there is none. */
  key: string[];
  /** The privileges of this session's database login, as letters: `i` insert, `u` update, `d` delete, `o` alter (owners only). */
  rights: string;
  columns: Column[];
}

/** `table` and `target` are oids. */
export interface ForeignKey {
  name: string;
  table: string;
  columns: string[];
  target: string;
  target_columns: string[];
  on_delete: string;
  on_update: string;
}

export interface EnumType {
  schema: string;
  name: string;
  values: string[];
}

export interface FunctionSummary {
  oid: string;
  schema: string;
  name: string;
  arguments: string;
  returns: string;
  kind: string;
}

export interface Catalog {
  version: string;
  schemas: { name: string; exposed: boolean }[];
  tables: Table[];
  tablesByOid: ReadonlyMap<string, Table>;
  foreignKeys: ForeignKey[];
  enums: EnumType[];
  roles: Role[];
  functions: FunctionSummary[];
}

/** Turns the columnar body into tables with their columns. */
export function readCatalog(body: CatalogBody): Catalog {
  const { tables: source, columns } = body;
  const tables = source.oid.map(
    (oid, index): Table => ({
      oid,
      schema: source.schema[index] ?? "",
      name: source.name[index] ?? "",
      kind: source.kind[index] ?? "r",
      rls: source.rls[index] ?? false,
      rows: source.rows[index] ?? -1,
      bytes: source.bytes[index] ?? 0,
      comment: source.comment[index] ?? null,
      key: source.key[index] ?? [],
      rights: source.rights[index] ?? "",
      columns: [],
    }),
  );
  columns.name.forEach((name, index) => {
    tables[columns.table[index] ?? -1]?.columns.push({
      name,
      type: columns.type[index] ?? "",
      nullable: columns.nullable[index] ?? true,
      default: columns.default[index] ?? null,
      identity: columns.identity[index] || null,
      isGenerated: Boolean(columns.generated[index]),
      comment: columns.comment[index] ?? null,
    });
  });
  return {
    version: body.version,
    schemas: body.schemas,
    tables,
    tablesByOid: new Map(tables.map((table) => [table.oid, table])),
    foreignKeys: body.foreign_keys,
    enums: body.enums,
    roles: body.roles,
    functions: body.functions,
  };
}

/** Schemas of the platform, which lists put last. */
export const platformSchemas: ReadonlySet<string> = new Set([
  "auth",
  "storage",
  "realtime",
  "_realtime",
  "vault",
  "extensions",
  "graphql",
  "graphql_public",
  "net",
  "cron",
  "pgmq",
  "pgbouncer",
  "supabase_functions",
  "supabase_migrations",
  "selvedge_console",
  "_selvedge",
]);

export const isView = (table: Table): boolean => table.kind === "v" || table.kind === "m";

const verbs = { i: "insert into", u: "update", d: "delete from", o: "alter" } as const;

export type TableRight = keyof typeof verbs;

/** The reason why this session's database login lacks a privilege on the table; undefined when it has it. */
export function whyNoRight(table: Table, right: TableRight): string | undefined {
  if (table.rights.includes(right)) return undefined;
  return right === "o"
    ? `PostgreSQL lets only the owner of ${table.schema}.${table.name} alter it, and this login is not the owner.`
    : `PostgreSQL does not let this login ${verbs[right]} ${table.schema}.${table.name}.`;
}

/** The reason why this session's database login may not alter what the role owns; undefined when it may. */
export function whyNotOwner(catalog: Catalog | undefined, owner: string): string | undefined {
  const role = catalog?.roles.find(({ name }) => name === owner);
  if (catalog === undefined || role?.member === true) return undefined;
  return `PostgreSQL lets only the owner change it, which is ${owner}.`;
}
