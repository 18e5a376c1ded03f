import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Outfit, outfitColumns } from "./outfit";

const maxResults = 8;

/** The newest outfits in a style. */
export function styleOutfitsQuery(styleId: string) {
  return queryOptions({
    queryKey: outfitKeys.withStyle(styleId),
    queryFn: async ({ signal }): Promise<Outfit[]> =>
      rowsOf(
        await supabase
          .rpc("search_outfits", { styles: [styleId], max_results: maxResults })
          .select(outfitColumns)
          .abortSignal(signal),
      ),
  });
}
