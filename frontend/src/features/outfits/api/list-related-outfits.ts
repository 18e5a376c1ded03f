import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Outfit, outfitColumns } from "./outfit";

/** One line of cards. The rows are a large part of what the page of an outfit loads. */
const maxResults = 4;

/** Approved outfits by others that share items, styles and colors with this one, closest first. */
export function relatedOutfitsQuery(outfitId: string) {
  return queryOptions({
    queryKey: outfitKeys.related(outfitId),
    queryFn: async ({ signal }): Promise<Outfit[]> =>
      rowsOf(
        await supabase
          .rpc("related_outfits", { outfit_id: outfitId, max_results: maxResults })
          .select(outfitColumns)
          .abortSignal(signal),
      ),
  });
}
