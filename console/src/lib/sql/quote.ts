/**
 * How names and values get into SQL that the console writes. Every builder of SQL in the browser goes through these
 * functions, so that a table named `"; drop` is a name like any other.
 */

/** Words that PostgreSQL 15 to 18 accept as a name of a column or table only in quotes. */
const reservedWords = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation
   column concurrently constraint create cross current_catalog current_date current_role current_schema current_time
   current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze
   from full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit
   localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
   returning right select session_user similar some symmetric system_user table tablesample then to trailing true
   union unique user using variadic verbose when where window with
   between bigint bit boolean char character coalesce dec decimal exists extract float greatest grouping inout int
   integer interval json json_array json_arrayagg json_exists json_object json_objectagg json_query json_scalar
   json_serialize json_table json_value least merge_action national nchar none normalize nullif numeric out overlay
   position precision real row setof smallint substring time timestamp treat trim values varchar xmlattributes
   xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`.split(
    /\s+/,
  ),
);

const plainName = /^[a-z_][a-z0-9_]*$/;

/** The name as SQL: plain when PostgreSQL would read it back unchanged, else in double quotes. */
export function quoteIdentifier(name: string): string {
  if (plainName.test(name) && !reservedWords.has(name)) return name;
  return `"${name.replaceAll('"', '""')}"`;
}

/** `schema.name`, each part quoted where it has to be. */
export function quoteName(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`;
}

/** Names as a list in parentheses, as constraints and indexes want them. */
export function quoteColumns(columns: readonly string[]): string {
  return `(${columns.map(quoteIdentifier).join(", ")})`;
}

/**
 * The text as a literal. A backslash makes it an escape string, because its meaning in a plain literal depends on the
 * setting `standard_conforming_strings`.
 */
export function quoteLiteral(value: string | null): string {
  if (value === null) return "null";
  const doubled = value.replaceAll("'", "''");
  return value.includes("\\") ? `E'${doubled.replaceAll("\\", "\\\\")}'` : `'${doubled}'`;
}

/** A name for a new object made of the names it is about, within PostgreSQL's limit of 63 bytes. */
export function suggestName(...parts: readonly string[]): string {
  const name = parts.filter((part) => part !== "").join("_");
  const bytes = new TextEncoder();
  let short = name;
  while (bytes.encode(short).length > 63) short = [...short].slice(0, -1).join("");
  return short;
}
