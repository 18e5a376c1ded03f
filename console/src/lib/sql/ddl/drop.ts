/** SQL that removes an object, by its kind. */
import { quoteIdentifier, quoteName } from "../quote";

export interface DroppedObject {
  kind:
    | "tables"
    | "columns"
    | "constraints"
    | "indexes"
    | "triggers"
    | "functions"
    | "types"
    | "views"
    | "extensions"
    | "publications"
    | "roles"
    | "grants";
  schema: string;
  name: string;
  /** Of columns, constraints and triggers. */
  table: string;
  /** For functions: the argument types, which distinguish overloads. */
  arguments: string;
  /** Of functions `procedure` or `aggregate`, of views `materialized view`, of types `domain`, of grants the object's kind. */
  variant: string;
  /** For grants: the role that has the privilege. */
  grantee: string;
  privileges: readonly string[];
}

/** The statement; without `cascade`, because PostgreSQL then names what would go along. */
export function dropObject(object: DroppedObject): string {
  const { kind, schema, name, table, variant } = object;
  const full = quoteName(schema, name);
  switch (kind) {
    case "tables":
      return `drop table ${full};`;
    case "columns":
      return `alter table ${quoteName(schema, table)} drop column ${quoteIdentifier(name)};`;
    case "constraints":
      return `alter table ${quoteName(schema, table)} drop constraint ${quoteIdentifier(name)};`;
    case "indexes":
      return `drop index ${full};`;
    case "triggers":
      return `drop trigger ${quoteIdentifier(name)} on ${quoteName(schema, table)};`;
    case "functions": {
      const word = ["procedure", "aggregate"].includes(variant) ? variant : "function";
      return `drop ${word} ${full}(${object.arguments});`;
    }
    case "types":
      return `drop ${variant === "domain" ? "domain" : "type"} ${full};`;
    case "views":
      return `drop ${variant.startsWith("materialized") ? "materialized view" : "view"} ${full};`;
    case "extensions":
    case "publications":
    case "roles":
      return `drop ${kind.slice(0, -1)} ${quoteIdentifier(name)};`;
    case "grants":
      return revoke(object);
  }
}

function revoke({ schema, name, variant, grantee, privileges }: DroppedObject): string {
  const role = grantee === "PUBLIC" ? "public" : quoteIdentifier(grantee);
  // A function's name comes with its arguments, so that only the part before the parenthesis is a name.
  const [bare = "", rest] = splitAt(name, "(");
  const target =
    variant === "schema"
      ? `schema ${quoteIdentifier(name)}`
      : variant === "function"
        ? `function ${quoteName(schema, bare)}${rest}`
        : quoteName(schema, name);
  return `revoke ${privileges.join(", ")} on ${target} from ${role};`;
}

function splitAt(text: string, sign: string): [string, string] {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at)];
}
