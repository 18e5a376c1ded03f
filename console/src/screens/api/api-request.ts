/** A request to the REST API as the explorer's form stores it, and its conversion to URL, curl and supabase-js. */
import { compactJson, isJson, isRounded, layOutJson } from "@/lib/json-text";

export type RestVerb = "select" | "insert" | "upsert" | "update" | "delete";

export interface RestFilter {
  column: string;
  operator: string;
  value: string;
}

export interface TableRequest {
  kind: "table";
  schema: string;
  table: string;
  verb: RestVerb;
  /** The value of `select=`; empty for all columns. */
  select: string;
  filters: RestFilter[];
  order: { column: string; descending: boolean } | null;
  limit: number | null;
  /** JSON of the row or rows to be written. */
  body: string;
  /** Asks the server to undo the write after it has answered. */
  rollsBack: boolean;
}

export interface FunctionRequest {
  kind: "function";
  schema: string;
  name: string;
  /** The arguments as JSON. */
  body: string;
  rollsBack: boolean;
}

export type ApiRequest = TableRequest | FunctionRequest;

export interface HttpRequest {
  method: string;
  /** Below `/rest/v1`, with its query. */
  path: string;
  headers: Record<string, string>;
  body: string | null;
}

export const isWrite = (request: ApiRequest) =>
  request.kind === "function" || request.verb !== "select";

/** Converts the form to an HTTP request. */
export function toHttp(request: ApiRequest): HttpRequest {
  const headers: Record<string, string> = {};
  const isRead = request.kind === "table" && request.verb === "select";
  if (request.schema !== "public") {
    headers[isRead ? "Accept-Profile" : "Content-Profile"] = request.schema;
  }
  const prefer: string[] = [];
  if (isWrite(request)) {
    if (request.kind === "table") prefer.push("return=representation");
    if (request.kind === "table" && request.verb === "upsert") {
      prefer.push("resolution=merge-duplicates");
    }
    if (request.rollsBack) prefer.push("tx=rollback");
  }
  if (prefer.length > 0) headers.Prefer = prefer.join(",");
  if (request.kind === "function") {
    headers["Content-Type"] = "application/json";
    const body = request.body.trim() === "" ? "{}" : request.body;
    return { method: "POST", path: `/rpc/${encodeURIComponent(request.name)}`, headers, body };
  }
  const sendsBody = !["select", "delete"].includes(request.verb);
  if (sendsBody) headers["Content-Type"] = "application/json";
  const query = queryOf(request);
  return {
    method: methods[request.verb],
    path: `/${encodeURIComponent(request.table)}${query === "" ? "" : `?${query}`}`,
    headers,
    body: sendsBody ? request.body : null,
  };
}

const methods: Record<RestVerb, string> = {
  select: "GET",
  insert: "POST",
  upsert: "POST",
  update: "PATCH",
  delete: "DELETE",
};

function queryOf(request: TableRequest): string {
  const query = new URLSearchParams();
  if (request.select.trim() !== "") query.append("select", withoutBlanks(request.select));
  if (hasFilters(request.verb)) {
    for (const { column, operator, value } of request.filters) {
      if (column !== "")
        query.append(quoteColumn(column), `${operator}.${filterValue(operator, value)}`);
    }
  }
  if (request.verb === "select" && request.order !== null) {
    const direction = request.order.descending ? ".desc" : "";
    query.append("order", `${quoteColumn(request.order.column)}${direction}`);
  }
  if (request.verb === "select" && request.limit !== null) {
    query.append("limit", String(request.limit));
  }
  // These characters are part of PostgREST's grammar and need no escape in a query; plain, they can be read.
  return query
    .toString()
    .replaceAll("%2C", ",")
    .replaceAll("%28", "(")
    .replaceAll("%29", ")")
    .replaceAll("%3A", ":")
    .replaceAll("%21", "!");
}

/** Blanks between the parts of a select mean nothing; those in a quoted name belong to it. */
function withoutBlanks(select: string): string {
  return select.replaceAll(/"[^"]*"|\s+/g, (part) => (part.startsWith('"') ? part : ""));
}

export const hasFilters = (verb: RestVerb) => ["select", "update", "delete"].includes(verb);

/** Quotes a column's name that contains characters of the query grammar. */
function quoteColumn(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_$>-]*$/u.test(name)
    ? name
    : `"${name.replaceAll(/["\\]/g, "\\$&")}"`;
}

function filterValue(operator: string, value: string): string {
  if (operator !== "in") return value;
  return value.startsWith("(") ? value : `(${listOf(value).map(quoteListed).join(",")})`;
}

/** The parts of `a, b` as typed into the form. */
export function listOf(value: string): string[] {
  const inner = value.startsWith("(") && value.endsWith(")") ? value.slice(1, -1) : value;
  return inner.split(",").map((part) => part.trim());
}

function quoteListed(value: string): string {
  return /[,()"\\]/.test(value) ? `"${value.replaceAll(/["\\]/g, "\\$&")}"` : value;
}

/** Returns a curl command. The key is read from an environment variable, so that no snippet contains it. */
export function toCurl(request: ApiRequest, apiUrl: string): string {
  const { method, path, headers, body } = toHttp(request);
  const url = `${apiUrl.replace(/\/$/, "")}/rest/v1${path}`;
  const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoteShell(url)}`];
  lines.push(`-H "apikey: $SUPABASE_KEY"`, `-H "Authorization: Bearer $SUPABASE_KEY"`);
  for (const [name, value] of Object.entries(headers)) {
    lines.push(`-H ${quoteShell(`${name}: ${value}`)}`);
  }
  if (body !== null) lines.push(`-d ${quoteShell(isJson(body) ? compactJson(body) : body)}`);
  return lines.join(" \\\n  ");
}

/** In single quotes nothing has a meaning for the shell but the quote itself. */
function quoteShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Converts the call to supabase-js. */
export function toSupabaseJs(request: ApiRequest): string {
  const client =
    request.schema === "public" ? "supabase" : `supabase.schema(${js(request.schema)})`;
  const rollback = isWrite(request) && request.rollsBack ? ["rollback()"] : [];
  if (request.kind === "function") {
    const body = request.body.trim();
    const parameters = body === "" || body === "{}" ? "" : `, ${literalOf(body)}`;
    return chain(client, [`rpc(${js(request.name)}${parameters})`, ...rollback]);
  }
  const calls = [`from(${js(request.table)})`, ...verbCalls(request)];
  if (hasFilters(request.verb)) {
    calls.push(...request.filters.filter(({ column }) => column !== "").map(filterCall));
  }
  if (request.verb === "select" && request.order !== null) {
    const options = request.order.descending ? ", { ascending: false }" : "";
    calls.push(`order(${js(request.order.column)}${options})`);
  }
  if (request.verb === "select" && request.limit !== null) calls.push(`limit(${request.limit})`);
  if (request.verb !== "select") calls.push(`select(${selectOf(request)})`);
  return chain(client, [...calls, ...rollback]);
}

function selectOf({ select }: TableRequest): string {
  return select.trim() === "" ? "" : js(select.trim());
}

function verbCalls(request: TableRequest): string[] {
  switch (request.verb) {
    case "select":
      return [`select(${selectOf(request)})`];
    case "delete":
      return ["delete()"];
    default:
      return [`${request.verb}(${literalOf(request.body)})`];
  }
}

/** Operators that supabase-js has a method for, by the name of both. */
const filterMethods: Record<string, string> = {
  eq: "eq",
  neq: "neq",
  gt: "gt",
  gte: "gte",
  lt: "lt",
  lte: "lte",
  like: "like",
  ilike: "ilike",
  cs: "contains",
  cd: "containedBy",
  ov: "overlaps",
};

function filterCall({ column, operator, value }: RestFilter): string {
  const method = filterMethods[operator];
  if (operator === "is") {
    const word = ["null", "true", "false"].includes(value) ? value : js(value);
    return `is(${js(column)}, ${word})`;
  }
  if (operator === "in") return `in(${js(column)}, [${listOf(value).map(js).join(", ")}])`;
  if (method !== undefined) return `${method}(${js(column)}, ${js(value)})`;
  return `filter(${js(column)}, ${js(operator)}, ${js(value)})`;
}

function chain(client: string, calls: readonly string[]): string {
  return `const { data, error } = await ${client}\n  .${calls.join("\n  .")};`;
}

function js(text: string): string {
  return JSON.stringify(text);
}

/**
 * JSON as an object literal: names that need no quotes have none. A number that JavaScript would round is a text, which PostgreSQL
 * reads as the same number.
 */
function literalOf(json: string): string {
  if (!isJson(json)) return json;
  return layOutJson(json, {
    depth: 1,
    name: (token) => (/^"[A-Za-z_$][\w$]*"$/.test(token) ? token.slice(1, -1) : token),
    value: (token) => (isRounded(token) ? `"${token}"` : token),
  });
}

/** The five lines that connect an app. */
export function connectLines(apiUrl: string, publishableKey: string): string {
  return `import { createClient } from "@supabase/supabase-js";

const supabase = createClient(
  ${js(apiUrl)},
  ${js(publishableKey)},
);`;
}

/** Returns the syntax error of a JSON body; null when it is valid. */
export function findJsonProblem(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : "This is not JSON.";
  }
}

interface ExampleColumn {
  name: string;
  type: string;
  nullable: boolean;
  default: string | null;
  identity: string | null;
  isGenerated: boolean;
}

/** A row to begin with: the columns that have to be given, or else the first that may be. */
export function suggestRow(columns: readonly ExampleColumn[]): string {
  const writable = columns.filter(({ identity, isGenerated }) => identity === null && !isGenerated);
  const needed = writable.filter((column) => !column.nullable && column.default === null);
  const chosen = needed.length > 0 ? needed : writable.slice(0, 2);
  const row = Object.fromEntries(chosen.map(({ name, type }) => [name, exampleOf(type)]));
  return JSON.stringify(row, null, 2);
}

/** Arguments as `name type, name type DEFAULT value` become an object with the needed ones. */
export function suggestArguments(signature: string): string {
  const parameters = splitParameters(signature).flatMap((part) => {
    const match = /^(?:in |inout |variadic )?("[^"]+"|[\w$]+) (.+)$/i.exec(part);
    if (match === null || /^out /i.test(part) || / DEFAULT /i.test(part)) return [];
    const [, name = "", type = ""] = match;
    return [[name.replace(/^"|"$/g, ""), exampleOf(type)] as const];
  });
  return JSON.stringify(Object.fromEntries(parameters), null, 2);
}

/** At commas outside of parentheses, because `numeric(10,2)` has one inside. */
function splitParameters(signature: string): string[] {
  return signature
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function exampleOf(type: string): unknown {
  if (type.endsWith("[]")) return [];
  if (/^(smallint|integer|bigint|numeric|real|double)/.test(type)) return 0;
  if (type === "boolean") return false;
  if (type.startsWith("json")) return {};
  if (type === "uuid") return "00000000-0000-0000-0000-000000000000";
  if (type.startsWith("timestamp") || type === "date") return "2026-01-01";
  return "";
}
