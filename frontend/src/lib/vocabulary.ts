import { queryOptions } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** The part of PostgREST's query builder that is used here. */
interface Ordered {
  order(column: string): this;
  range(from: number, to: number): this;
}

/** A part of a list by name. The id breaks ties, so that parts neither overlap nor leave a row out. */
export const byName = <Query extends Ordered>(query: Query, from: number, to: number): Query =>
  query.order("name").order("id").range(from, to);

/** Names of outfit styles by id. Outfits hold ids only; the few names rarely change, so they are read once. */
export function outfitStylesQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "outfit-styles"],
    staleTime: stale.vocabulary,
    queryFn: (): Promise<NamedRow[]> =>
      allRows(async (from, to) =>
        rowsOf(await byName(supabase.from("outfit_styles").select("id, name"), from, to)),
      ),
    select: namesById,
  });
}

/** A color of the catalogue. */
export interface NamedColor {
  id: string;
  name: string;
  hex_code: string;
}

/** Colors by id. */
export function colorsQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "colors"],
    staleTime: stale.vocabulary,
    queryFn: (): Promise<NamedColor[]> =>
      allRows(async (from, to) =>
        rowsOf(await byName(supabase.from("colors").select("id, name, hex_code"), from, to)),
      ),
    select: colorsById,
  });
}

// At module level: TanStack Query runs `select` again whenever the function changes.
function namesById(rows: { id: string; name: string }[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [row.id, row.name]));
}

function colorsById(rows: NamedColor[]): ReadonlyMap<string, NamedColor> {
  return new Map(rows.map((row) => [row.id, row]));
}

/** A row of a vocabulary, such as a brand or a style. */
export interface NamedRow {
  id: string;
  name: string;
}

/** All brands, by name. */
export function brandsQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "brands"],
    staleTime: stale.vocabulary,
    queryFn: (): Promise<NamedRow[]> =>
      allRows(async (from, to) =>
        rowsOf(await byName(supabase.from("brands").select("id, name"), from, to)),
      ),
  });
}

/** All categories, by name. */
export function categoriesQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "categories"],
    staleTime: stale.vocabulary,
    queryFn: (): Promise<NamedRow[]> =>
      allRows(async (from, to) =>
        rowsOf(await byName(supabase.from("categories").select("id, name"), from, to)),
      ),
  });
}
