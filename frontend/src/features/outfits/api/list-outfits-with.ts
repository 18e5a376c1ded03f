import { newestFirst, pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { outfitColumns } from "./outfit";

/** Approved outfits that contain an item, newest first. */
export function outfitsWithItemQuery(itemId: string) {
  return pagedQuery({
    queryKey: outfitKeys.withItem(itemId),
    readPage: async (page) =>
      rowsOf(
        await newestFirst(
          supabase.rpc("outfits_with_item", { item_id: itemId }).select(outfitColumns),
          page,
        ),
      ),
  });
}

/** Approved outfits that contain an item of a brand, newest first. */
export function outfitsWithBrandQuery(brandId: string) {
  return pagedQuery({
    queryKey: outfitKeys.withBrand(brandId),
    readPage: async (page) =>
      rowsOf(
        await newestFirst(
          supabase.rpc("outfits_with_brand", { brand_id: brandId }).select(outfitColumns),
          page,
        ),
      ),
  });
}
