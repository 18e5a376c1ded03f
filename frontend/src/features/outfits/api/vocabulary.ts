import { queryOptions } from "@tanstack/react-query";
import { stale } from "@/lib/query-client";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Outfits list their styles by id; the names are few and rarely change, so they are read once. */
export function outfitStylesQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "outfit-styles"],
    staleTime: stale.vocabulary,
    queryFn: async () =>
      rowsOf(await supabase.from("outfit_styles").select("id, name").order("name")),
    select: namesById,
  });
}

export interface NamedColor {
  id: string;
  name: string;
  hex_code: string;
}

export function colorsQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "colors"],
    staleTime: stale.vocabulary,
    queryFn: async (): Promise<NamedColor[]> =>
      rowsOf(await supabase.from("colors").select("id, name, hex_code").order("name")),
    select: colorsById,
  });
}

// Module-level, so that a render with the same data does not select anew.
function namesById(rows: { id: string; name: string }[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [row.id, row.name]));
}

function colorsById(rows: NamedColor[]): ReadonlyMap<string, NamedColor> {
  return new Map(rows.map((row) => [row.id, row]));
}
