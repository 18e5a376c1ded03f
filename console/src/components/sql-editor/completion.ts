/**
 * Computes what the SQL editor offers at the cursor: columns of the statement's tables (by alias), tables, functions,
 * keywords, and join conditions along foreign keys. It does not depend on CodeMirror; sql-extensions.ts connects the two.
 */
import { quoteIdentifier } from "@/lib/sql/quote";
import { readScope, type Scope } from "@/lib/sql/scope";
import { findStatementAt } from "@/lib/sql/statements";
import { isWord, nameOf, readMeaning, type Token, tokenize } from "@/lib/sql/tokens";

export interface CompletionTable {
  schema: string;
  name: string;
  columns: readonly { name: string; type: string }[];
}

export interface CompletionCatalog {
  schemas: readonly string[];
  tables: readonly CompletionTable[];
  functions: readonly { schema: string; name: string; arguments: string; returns: string }[];
  foreignKeys: readonly {
    table: { schema: string; name: string };
    columns: readonly string[];
    target: { schema: string; name: string };
    targetColumns: readonly string[];
  }[];
}

export type CompletionKind =
  | "column"
  | "table"
  | "schema"
  | "function"
  | "keyword"
  | "alias"
  | "join";

export interface Completion {
  kind: CompletionKind;
  /** The text in the list, which is inserted when it is chosen. */
  label: string;
  insert: string;
  /** Type of a column, arguments of a function. */
  detail?: string;
  /** Matches of equal quality are sorted by this number, the highest first. */
  boost: number;
}

export interface Completions {
  /** Where the replaced text begins. */
  from: number;
  options: Completion[];
}

/** Schemas whose names need not be written, because the search path has them. */
const implicitSchemas = new Set(["public", "pg_catalog"]);

const tablePositions = ["from", "join", "update", "into", "table", "only", "truncate", "using"];

export const keywords =
  `select from where and or not null is in like ilike between exists order by group having limit
  offset insert into values update set delete returning join left join right join inner join full join cross join
  lateral on using as distinct case when then else end with recursive union all except intersect create table alter
  drop index unique view materialized function trigger policy type schema primary key foreign key references default
  check constraint cascade restrict begin commit rollback explain analyze verbose buffers true false asc desc nulls
  first nulls last over partition by window filter coalesce cast grant revoke to enable row level security truncate
  comment vacuum refresh if exists if not exists on conflict do nothing do update set for update current_user`
    .replaceAll(/\s+/g, " ")
    .split(/ (?!by|join|key|all|first|last|level|security|not|exists|conflict|nothing)/)
    .filter((word, index, all) => all.indexOf(word) === index);

/** Completions at an offset; null inside of strings, comments and numbers. `asked` is true for ctrl+space. */
export function completeSql(
  sql: string,
  offset: number,
  catalog: CompletionCatalog,
  asked: boolean,
): Completions | null {
  const tokens = tokenize(sql);
  const index = tokens.findIndex(({ start, end }) => start < offset && offset <= end);
  const token = tokens[index];
  if (token !== undefined && isOpaque(token, offset)) return null;
  const isTyping = token?.kind === "word" || token?.kind === "quoted";
  const before = readMeaning(tokens.slice(0, isTyping ? index : index + 1));
  const from = isTyping && token !== undefined ? token.start : offset;
  const statement = findStatementAt(sql, offset);
  const scope = readScope(statement ?? { tokens: [] });
  if (before.at(-1)?.text === ".") {
    return { from, options: completeMember(before, scope, catalog) };
  }
  if (!isTyping && !asked) return null;
  return { from, options: completeWord(before, scope, catalog) };
}

/** In a literal, a comment or a number nothing is offered. */
function isOpaque(token: Token, offset: number): boolean {
  if (token.kind === "number" || token.kind === "parameter") return true;
  if (token.kind === "string") return true;
  const endsLine = token.text.startsWith("--") && offset === token.end;
  return token.kind === "comment" && (offset < token.end || endsLine);
}

/** Behind a dot: columns of an alias or table, or tables and functions of a schema. */
function completeMember(
  before: readonly Token[],
  scope: Scope,
  catalog: CompletionCatalog,
): Completion[] {
  const owner = before.at(-2);
  if (owner === undefined) return [];
  const name = nameOf(owner);
  const inScope = scope.tables.find(({ alias }) => alias === name);
  if (inScope !== undefined) {
    return columnsOf(findTable(catalog, inScope.schema, inScope.name), scope, inScope.name);
  }
  const byName = findTable(catalog, null, name);
  if (byName !== undefined) return columnsOf(byName, scope, name);
  const tables = catalog.tables.filter(({ schema }) => schema === name);
  const functions = catalog.functions.filter(({ schema }) => schema === name);
  return [
    ...tables.map((table) => tableOption(table, false)),
    ...functions.map((fn) => functionOption(fn, false)),
  ];
}

function columnsOf(
  table: CompletionTable | undefined,
  scope: Scope,
  queryName: string,
): Completion[] {
  const query = scope.queries.find(({ name }) => name === queryName);
  const listed = query?.columns.map((name) => ({ name, type: "" })) ?? [];
  return [...listed, ...(table?.columns ?? [])].map(({ name, type }) => ({
    kind: "column" as const,
    label: name,
    insert: quoteIdentifier(name),
    detail: type,
    boost: 3,
  }));
}

function completeWord(
  before: readonly Token[],
  scope: Scope,
  catalog: CompletionCatalog,
): Completion[] {
  const last = before.at(-1);
  if (isWord(last, ...tablePositions) || isListOfTables(before)) {
    return [
      ...scope.queries.map(({ name }) => option("table", name, 4)),
      ...catalog.tables.map((table) => tableOption(table, true)),
      ...catalog.schemas.map((name) => option("schema", name, -1)),
    ];
  }
  const joins = isWord(last, "on") ? joinConditions(scope, catalog) : [];
  const columns = scope.tables.flatMap(({ schema, name, alias }) =>
    columnsOf(findTable(catalog, schema, name), scope, name).map((column) => ({
      ...column,
      detail: [column.detail, alias].filter(Boolean).join(" · "),
    })),
  );
  const aliases = scope.tables.map(({ alias }) => option("alias", alias, 2));
  return removeRepeated([
    ...joins,
    ...columns,
    ...aliases,
    ...catalog.functions
      .filter(({ schema }) => schema !== "pg_catalog")
      .map((fn) => functionOption(fn, true)),
    ...keywords.map((word) => option("keyword", word, -1)),
    ...catalog.tables.map((table) => tableOption(table, true)),
  ]);
}

/** `from a, |`: whether the comma continues the list of tables, because only names follow FROM. */
function isListOfTables(before: readonly Token[]): boolean {
  if (before.at(-1)?.text !== ",") return false;
  for (let at = before.length - 2; at >= 0; at -= 1) {
    const token = before[at];
    if (isWord(token, "from")) return true;
    if (token?.kind !== "word" && token?.kind !== "quoted" && !".,".includes(token?.text ?? " ")) {
      return false;
    }
    if (isWord(token, "select", "where", "by", "set", "returning", "values")) return false;
  }
  return false;
}

/** Equalities along foreign keys between the table just joined and those before it. */
function joinConditions(scope: Scope, catalog: CompletionCatalog): Completion[] {
  const joined = scope.tables.at(-1);
  if (joined === undefined) return [];
  return catalog.foreignKeys.flatMap((key) => {
    return scope.tables.slice(0, -1).flatMap((other) => {
      const forward = isSame(key.table, joined) && isSame(key.target, other);
      const backward = isSame(key.table, other) && isSame(key.target, joined);
      if (!forward && !backward) return [];
      const [source, target] = forward ? [joined, other] : [other, joined];
      const insert = key.columns
        .map((column, index) => {
          const right = key.targetColumns[index] ?? column;
          return `${quoteIdentifier(source.alias)}.${quoteIdentifier(column)} = ${quoteIdentifier(target.alias)}.${quoteIdentifier(right)}`;
        })
        .join(" and ");
      return [{ kind: "join" as const, label: insert, insert, detail: "foreign key", boost: 9 }];
    });
  });
}

function isSame(
  table: { schema: string; name: string },
  other: { schema: string | null; name: string },
): boolean {
  return table.name === other.name && (other.schema === null || other.schema === table.schema);
}

function findTable(
  catalog: CompletionCatalog,
  schema: string | null,
  name: string,
): CompletionTable | undefined {
  const named = catalog.tables.filter((table) => table.name === name);
  if (schema !== null) return named.find((table) => table.schema === schema);
  return named.find((table) => table.schema === "public") ?? named[0];
}

function option(kind: CompletionKind, name: string, boost: number): Completion {
  const insert = kind === "keyword" ? name : quoteIdentifier(name);
  return { kind, label: name, insert, boost };
}

function tableOption({ schema, name }: CompletionTable, withSchema: boolean): Completion {
  const isImplicit = implicitSchemas.has(schema);
  const prefix = withSchema && !isImplicit ? `${quoteIdentifier(schema)}.` : "";
  return {
    kind: "table",
    label: prefix === "" ? name : `${schema}.${name}`,
    insert: `${prefix}${quoteIdentifier(name)}`,
    detail: schema,
    boost: isImplicit ? 1 : -2,
  };
}

function functionOption(
  { schema, name, arguments: parameters, returns }: CompletionCatalog["functions"][number],
  withSchema: boolean,
): Completion {
  const prefix = withSchema && !implicitSchemas.has(schema) ? `${quoteIdentifier(schema)}.` : "";
  return {
    kind: "function",
    label: prefix === "" ? name : `${schema}.${name}`,
    insert: `${prefix}${quoteIdentifier(name)}(`,
    detail: `(${parameters}) → ${returns}`,
    boost: 0,
  };
}

/** Overloaded functions and columns that several tables share appear once. */
function removeRepeated(options: readonly Completion[]): Completion[] {
  const seen = new Set<string>();
  return options.filter(({ kind, insert }) => {
    const key = `${kind} ${insert}`;
    return !seen.has(key) && seen.add(key);
  });
}
