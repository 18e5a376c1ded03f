import { pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { outfitColumns } from "./outfit";

/** Outfits of those whom a user follows, newest first. */
export function followedOutfitsQuery(userId: string) {
  return pagedQuery({
    queryKey: outfitKeys.followed(userId),
    readPage: async ({ from, to, signal }) =>
      rowsOf(
        await supabase
          .rpc("followed_outfits", { page_offset: from, max_results: to - from + 1 })
          .select(outfitColumns)
          .abortSignal(signal),
      ),
  });
}
