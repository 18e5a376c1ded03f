import type { ListRequest } from "@/lib/admin-list";
import { hasCode, messageOf, rowsOf, ServiceError, uniqueViolation } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

export type CatalogueTable =
  | "brands"
  | "categories"
  | "subcategories"
  | "colors"
  | "styles"
  | "outfit_styles"
  | "items"
  | "combines";

/** The service's response to a change that requests the ids of the changed rows. */
export interface ChangeResponse {
  data: { id: string }[] | null;
  error: { message: string; code: string } | null;
  status: number;
}

/**
 * The row that an update or delete with `select("id")` has changed. Row-level security hides rows from those who may not change
 * them, so a change of nothing is an error too.
 */
export function changedRow(response: ChangeResponse): { id: string } {
  const [row] = rowsOf(response);
  if (row === undefined) {
    throw new ServiceError("The row is gone, or you may not change it.", "", response.status);
  }
  return row;
}

export async function deleteRow(table: CatalogueTable, id: string): Promise<void> {
  changedRow(await supabase.from(table).delete().eq("id", id).select("id"));
}

/** The part of PostgREST's query builder that a table in the admin area uses. */
interface Listable {
  eq(column: string, value: string): this;
  filter(column: string, operator: string, value: string): this;
  order(column: string, options?: { ascending?: boolean }): this;
  range(from: number, to: number): this;
  abortSignal(signal: AbortSignal): this;
}

/** Takes the characters that mean something in a pattern of `like` literally. */
export function containsPattern(term: string): string {
  return `%${term.replace(/[\\%_]/g, "\\$&")}%`;
}

/**
 * Operator and operand of PostgREST for a text that contains the term. PostgREST takes `*` in patterns of `like` for `%`, whatever is
 * in front of it, so a term with it is a regular expression.
 */
export function containing(term: string): ["ilike" | "imatch", string] {
  if (!term.includes("*")) return ["ilike", containsPattern(term)];
  return ["imatch", term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")];
}

/** A filter for `or` of PostgREST: one of the columns contains the term. */
export function anyContains(columns: readonly string[], term: string): string {
  const [operator, operand] = containing(term);
  const quoted = `"${operand.replace(/[\\"]/g, "\\$&")}"`;
  return columns.map((column) => `${column}.${operator}.${quoted}`).join(",");
}

/**
 * Restricts a query to one page of the rows whose name contains the term. The id breaks ties, so that pages never overlap. A
 * column in the address that the table does not sort by falls back to the name.
 */
export function pageByName<Query extends Listable>(
  query: Query,
  request: ListRequest,
  sortable: readonly string[],
  signal: AbortSignal,
): Query {
  const named = request.term === "" ? query : query.filter("name", ...containing(request.term));
  const chosen = request.id === undefined ? named : named.eq("id", request.id);
  return chosen
    .order(sortable.includes(request.sort) ? request.sort : "name", {
      ascending: request.ascending,
    })
    .order("id")
    .range(request.from, request.to)
    .abortSignal(signal);
}

/** What an edit began with: the values of the form, and the version of the row that had them. */
export interface EditBase<Values> {
  values: Values;
  version: number;
}

/** A form's change of a row, or a new row. */
export type RowChange<Values> =
  /** `newId` is chosen by the form: a second attempt after a lost response makes no second row. */
  | { id: null; newId: string; values: Values; before: null }
  /** `before` has the values with which the edit began; the version is not known of an Undo. */
  | { id: string; values: Values; before: Values; version?: number };

/** A saved form. */
export interface SavedRow {
  /** Such as "Brand updated". */
  title: string;
  /** Columns that somebody else has changed meanwhile, and that are kept. */
  others: string[];
}

/**
 * Undoes an edit: saves the former values again, unless somebody has changed them since. New rows are deleted by their own button, and the file of a replaced
 * picture is deleted, so neither can be undone.
 */
export function undoEdit<Values extends object>(
  save: (change: RowChange<Values>) => Promise<unknown>,
  picture?: keyof Values,
): (change: RowChange<Values>) => (() => Promise<unknown>) | null {
  return ({ id, values, before }) => {
    if (id === null || before === null) return null;
    if (picture !== undefined && before[picture] !== values[picture]) return null;
    return () => save({ id, values: before, before: values });
  };
}

/** Why a row could not be saved. `noun` is what the row is, as in "brand". */
export function saveFailureText(noun: string): (error: unknown) => string {
  return (error) =>
    hasCode(error, uniqueViolation)
      ? `There is another ${noun} with this name.`
      : messageOf(error, "Please try again.");
}
