import { pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { outfitColumns } from "./outfit";

/** Published outfits of a collection, the latest that was put into it first. */
export function collectedOutfitsQuery(collectionId: string) {
  return pagedQuery({
    queryKey: outfitKeys.collected(collectionId),
    readPage: async ({ from, to, signal }) =>
      rowsOf(
        await supabase
          .rpc("shared_collection_outfits", {
            collection_id: collectionId,
            page_offset: from,
            max_results: to - from + 1,
          })
          .select(outfitColumns)
          .abortSignal(signal),
      ),
  });
}
