import type { Table } from "@/api/catalog-model";
import type { Filter, Sort } from "@/lib/rows/types";

export interface ReadAction {
  apiUrl: string;
  table: Table;
  /** Visible columns, or null for all. */
  columns: string[] | null;
  filters: readonly Filter[];
  sort: readonly Sort[];
  limit: number;
}

/** A name in the grammar of REST, where other characters than these would separate names. */
const restName = (name: string): string =>
  /^[\p{L}\p{N}_ ]+$/u.test(name) ? name : `"${name.replaceAll(/[\\"]/g, "\\$&")}"`;

const columnName = (filter: Filter): string => {
  const path = filter.path ?? [];
  const column = restName(filter.column);
  if (path.length === 0) return column;
  return `${[column, ...path.slice(0, -1)].join("->")}->>${path.at(-1)}`;
};

const selectOf = (columns: string[] | null): string =>
  columns === null ? "*" : columns.map(restName).join(",");

const quoteShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** `is` has no `not_null`, but REST negates every operator. */
function restOperator({ operator, value }: Filter): string {
  return operator === "is" && value === "not_null" ? "not.is.null" : `${operator}.${value}`;
}

function orderOf({ column, descending, nulls_first }: Sort): string {
  const nulls = nulls_first === descending ? "" : nulls_first ? ".nullsfirst" : ".nullslast";
  return `${restName(column)}.${descending ? "desc" : "asc"}${nulls}`;
}

/** The order of the grid: what was chosen, and then the key, without which a page is not the same every time. */
function wholeOrder({ sort, table }: ReadAction): Sort[] {
  const rest = table.key.filter((name) => !sort.some(({ column }) => column === name));
  return [...sort, ...rest.map((column) => ({ column, descending: false, nulls_first: false }))];
}

/** Reading these rows by curl, with the key as a variable so that none is copied. */
export function curlOfRead(action: ReadAction): string {
  const { apiUrl, table, columns, filters, limit } = action;
  const sort = wholeOrder(action);
  const parameters: [string, string][] = [
    ["select", selectOf(columns)],
    ...filters.map((filter): [string, string] => [columnName(filter), restOperator(filter)]),
  ];
  if (sort.length > 0) parameters.push(["order", sort.map(orderOf).join(",")]);
  parameters.push(["limit", String(limit)]);
  const url = `${apiUrl}/rest/v1/${encodeURIComponent(table.name)}`;
  const lines = [
    `curl --get ${quoteShell(url)}`,
    `  --header "apikey: $SUPABASE_KEY"`,
    ...(table.schema === "public"
      ? []
      : [`  --header ${quoteShell(`accept-profile: ${table.schema}`)}`]),
    ...parameters.map(
      ([name, value]) => `  --data-urlencode ${quoteShell(`${encodeURIComponent(name)}=${value}`)}`,
    ),
  ];
  return lines.join(" \\\n");
}

const literal = (text: string): string => JSON.stringify(text);

function filterCall(filter: Filter): string {
  const name = literal(columnName(filter));
  const { operator, value } = filter;
  switch (operator) {
    case "eq":
    case "neq":
    case "gt":
    case "gte":
    case "lt":
    case "lte":
    case "like":
    case "ilike":
      return `.${operator}(${name}, ${literal(value)})`;
    case "is":
      return value === "not_null"
        ? `.not(${name}, "is", null)`
        : `.is(${name}, ${value === "true" || value === "false" ? value : "null"})`;
    default:
      return `.filter(${name}, ${literal(operator)}, ${literal(value)})`;
  }
}

/** Reading these rows by supabase-js. */
export function javascriptOfRead(action: ReadAction): string {
  const { apiUrl, table, columns, filters, limit } = action;
  const sort = wholeOrder(action);
  const schema = table.schema === "public" ? "" : `.schema(${literal(table.schema)})`;
  const calls = [
    `.from(${literal(table.name)})`,
    `.select(${columns === null ? "" : literal(selectOf(columns))})`,
    ...filters.map(filterCall),
    ...sort.map(
      ({ column, descending, nulls_first }) =>
        `.order(${literal(column)}, { ascending: ${!descending}, nullsFirst: ${nulls_first} })`,
    ),
    `.limit(${limit})`,
  ];
  return [
    `import { createClient } from "@supabase/supabase-js";`,
    "",
    `const supabase = createClient(${literal(apiUrl)}, process.env.SUPABASE_KEY);`,
    `const { data, error } = await supabase${schema}`,
    `${calls.map((call) => `  ${call}`).join("\n")};`,
  ].join("\n");
}
