/** Objects of the schema by kind, and one of them with its definition and dependants. */
import { queryOptions } from "@tanstack/react-query";
import { request, withQuery } from "@/api/client";

export type ObjectKind =
  | "tables"
  | "constraints"
  | "indexes"
  | "triggers"
  | "functions"
  | "types"
  | "views"
  | "extensions"
  | "publications"
  | "roles"
  | "grants"
  | "policies";

export type ObjectValue = string | number | boolean | null | readonly unknown[];

/** The members that all kinds of objects have; each kind has further ones. */
export interface SchemaObject {
  oid: string;
  schema?: string;
  name: string;
  table?: string;
  [detail: string]: ObjectValue | undefined;
}

export interface ObjectDescription {
  /** Statements that make the object again. */
  definition: string;
  dependants: { kind: string; name: string; oid: string; how: string }[];
}

export const objectsQuery = (kind: ObjectKind, schema: string | null) =>
  queryOptions({
    queryKey: ["objects", kind, schema],
    queryFn: async ({ signal }) => {
      const path = withQuery(`/api/objects/${kind}`, { schema });
      return (await request<{ objects: SchemaObject[] }>(path, { signal })).objects;
    },
  });

export const objectQuery = (kind: ObjectKind, oid: string) =>
  queryOptions({
    queryKey: ["object", kind, oid],
    queryFn: ({ signal }) =>
      request<ObjectDescription>(`/api/objects/${kind}/${encodeURIComponent(oid)}`, { signal }),
  });

/** A text of the object; empty where it has none. */
export function textOf(object: SchemaObject, key: string): string {
  const value = object[key];
  return typeof value === "string" ? value : "";
}

export function listOf(object: SchemaObject, key: string): string[] {
  const value = object[key];
  return Array.isArray(value) ? value.map(String) : [];
}
