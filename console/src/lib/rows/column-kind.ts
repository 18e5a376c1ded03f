import type { Catalog, Column, EnumType } from "@/api/catalog-model";

/** How a column's values are shown, edited and filtered. */
export type ColumnKind =
  | "text"
  | "number"
  | "boolean"
  | "timestamp"
  | "date"
  | "time"
  | "uuid"
  | "enum"
  | "array"
  | "json"
  | "bytea"
  | "range";

const kinds: Record<string, ColumnKind> = {
  smallint: "number",
  integer: "number",
  bigint: "number",
  real: "number",
  "double precision": "number",
  numeric: "number",
  money: "number",
  oid: "number",
  boolean: "boolean",
  "timestamp without time zone": "timestamp",
  "timestamp with time zone": "timestamp",
  date: "date",
  "time without time zone": "time",
  "time with time zone": "time",
  uuid: "uuid",
  json: "json",
  jsonb: "json",
  bytea: "bytea",
};

/** The type without its parameters: `numeric(10,2)` becomes `numeric`, `timestamp(3) with time zone` loses the 3. */
export function plainType(type: string): string {
  return type
    .replace(/\([^)]*\)/, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** The enum of a type's name, with or without its schema and quotes. */
export function enumOf(type: string, enums: readonly EnumType[]): EnumType | undefined {
  const plain = type.replaceAll('"', "");
  return enums.find(({ schema, name }) => plain === name || plain === `${schema}.${name}`);
}

export function kindOf(type: string, enums: readonly EnumType[] = []): ColumnKind {
  const plain = plainType(type);
  if (plain.endsWith("[]")) return "array";
  const known = kinds[plain];
  if (known !== undefined) return known;
  if (/(range|multirange)$/.test(plain)) return "range";
  return enumOf(type, enums) === undefined ? "text" : "enum";
}

export function columnKind(column: Column, catalog: Catalog): ColumnKind {
  return kindOf(column.type, catalog.enums);
}

/** Short names of types with long ones, for headings. */
const shortTypes: Record<string, string> = {
  "timestamp with time zone": "timestamptz",
  "timestamp without time zone": "timestamp",
  "time with time zone": "timetz",
  "time without time zone": "time",
  "character varying": "varchar",
  "double precision": "float8",
  bigint: "int8",
  integer: "int4",
  smallint: "int2",
  boolean: "bool",
};

export function shortType(type: string): string {
  const array = type.endsWith("[]") ? "[]" : "";
  const element = type.slice(0, type.length - array.length);
  return (shortTypes[plainType(element)] ?? element) + array;
}

export interface Operator {
  /** The kind's name in the REST API. */
  name: string;
  /** The symbol of the kind in a column's chip. */
  sign: string;
  label: string;
}

const comparison: Operator[] = [
  { name: "eq", sign: "=", label: "equals" },
  { name: "neq", sign: "≠", label: "is not" },
];
const order: Operator[] = [
  { name: "gt", sign: ">", label: "greater than" },
  { name: "gte", sign: "≥", label: "at least" },
  { name: "lt", sign: "<", label: "less than" },
  { name: "lte", sign: "≤", label: "at most" },
];
const texts: Operator[] = [
  { name: "ilike", sign: "~~*", label: "like (any case)" },
  { name: "like", sign: "~~", label: "like" },
  { name: "match", sign: "~", label: "matches regex" },
];
const containment: Operator[] = [
  { name: "cs", sign: "@>", label: "contains" },
  { name: "cd", sign: "<@", label: "contained in" },
];
const isOperator: Operator = { name: "is", sign: "is", label: "is" };
const inOperator: Operator = { name: "in", sign: "in", label: "one of" };
const overlap: Operator = { name: "ov", sign: "&&", label: "overlaps" };

/** The operators that make sense for a type, the most usual first. */
export function operatorsOf(kind: ColumnKind): readonly Operator[] {
  switch (kind) {
    case "boolean":
      return [isOperator, ...comparison];
    case "number":
    case "date":
    case "time":
    case "timestamp":
      return [...comparison, ...order, inOperator, isOperator];
    case "uuid":
    case "enum":
      return [...comparison, inOperator, isOperator];
    case "array":
      return [...containment, overlap, ...comparison, isOperator];
    case "json":
      return [...containment, ...comparison, isOperator];
    case "range":
      return [...containment, overlap, ...comparison, isOperator];
    case "bytea":
      return [...comparison, isOperator];
    case "text":
      return [...comparison, ...texts, ...order, inOperator, isOperator];
  }
}

/** The values that the filter operator `is` accepts for a kind. */
export function isValues(kind: ColumnKind): readonly string[] {
  return kind === "boolean" ? ["true", "false", "null", "not_null"] : ["null", "not_null"];
}

export const operatorSign = (name: string): string =>
  [...comparison, ...order, ...texts, ...containment, isOperator, inOperator, overlap].find(
    (operator) => operator.name === name,
  )?.sign ?? name;
