import { queryOptions } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Names of outfit styles by id. Outfits hold ids only; the few names rarely change, so they are read once. */
export function outfitStylesQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "outfit-styles"],
    staleTime: stale.vocabulary,
    queryFn: async () =>
      rowsOf(await supabase.from("outfit_styles").select("id, name").order("name")),
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
    queryFn: async (): Promise<NamedColor[]> =>
      rowsOf(await supabase.from("colors").select("id, name, hex_code").order("name")),
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
        rowsOf(
          await supabase
            .from("brands")
            .select("id, name")
            .order("name")
            .order("id")
            .range(from, to),
        ),
      ),
  });
}

/** All categories, by name. */
export function categoriesQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "categories"],
    staleTime: stale.vocabulary,
    queryFn: async (): Promise<NamedRow[]> =>
      rowsOf(await supabase.from("categories").select("id, name").order("name")),
  });
}
