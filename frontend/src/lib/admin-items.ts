import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { anyContains } from "@/lib/admin-rows";
import type { Gender } from "@/lib/database";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** An item as lists of outfits show it. */
export interface ItemChoice {
  id: string;
  name: string;
  image: string | null;
  gender: Gender;
  product_number: string | null;
  brand: { name: string };
}

const columns = "id, name, image, gender, product_number, brand:brands(name)";

/** How many items a search offers; more words narrow it. */
const offered = 30;

/** Items for an outfit of this gender whose name or retailer's number contains the term, newest first. */
export function itemChoicesQuery(gender: Gender, term: string) {
  return queryOptions({
    queryKey: [...adminKey, "item-choices", gender, term],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ItemChoice[]> => {
      let query = supabase.from("items").select(columns);
      if (gender !== "unisex") query = query.in("gender", [gender, "unisex"]);
      if (term !== "") query = query.or(anyContains(["name", "product_number"], term));
      return rowsOf(
        await query
          .order("created_at", { ascending: false })
          .order("id")
          .limit(offered)
          .abortSignal(signal),
      );
    },
  });
}

/** The items with these ids, in the order of the ids. */
export function itemsByIdQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: [...adminKey, "items-by-id", ids],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ItemChoice[]> => {
      if (ids.length === 0) return [];
      const rows: ItemChoice[] = rowsOf(
        await supabase.from("items").select(columns).in("id", ids).abortSignal(signal),
      );
      return ids.flatMap((id) => rows.find((row) => row.id === id) ?? []);
    },
  });
}
