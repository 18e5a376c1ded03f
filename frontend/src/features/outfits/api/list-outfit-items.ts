import { queryOptions } from "@tanstack/react-query";
import { itemKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import type { Outfit } from "./outfit";

export interface OutfitItem {
  id: string;
  slug: string;
  name: string;
  image: string | null;
  image_color: string | null;
  price: number;
  source_url: string | null;
  brand: { id: string; name: string } | null;
}

/** The items of an outfit, in the order of its `item_ids`. */
export function outfitItemsQuery(outfit: Pick<Outfit, "id" | "item_ids">) {
  return queryOptions({
    queryKey: itemKeys.ofOutfit(outfit.id, outfit.item_ids),
    queryFn: async ({ signal }): Promise<OutfitItem[]> => {
      if (outfit.item_ids.length === 0) return [];
      const rows = rowsOf(
        await supabase
          .from("items")
          .select("id, slug, name, image, image_color, price, source_url, brand:brands(id, name)")
          .in("id", outfit.item_ids)
          .abortSignal(signal),
      );
      const byId = new Map(rows.map((row) => [row.id, row]));
      return outfit.item_ids.flatMap((id) => byId.get(id) ?? []);
    },
  });
}
