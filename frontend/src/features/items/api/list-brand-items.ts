import { newestFirst, pagedQuery } from "@/lib/paged-query";
import { itemKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { itemColumns } from "./item";

/** Every item of a brand, newest first. */
export function brandItemsQuery(brandId: string) {
  return pagedQuery({
    queryKey: itemKeys.ofBrand(brandId),
    readPage: async (page) =>
      rowsOf(
        await newestFirst(supabase.from("items").select(itemColumns).eq("brand_id", brandId), page),
      ),
  });
}
