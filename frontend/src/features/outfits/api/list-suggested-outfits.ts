import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Outfit, outfitColumns } from "./outfit";

const maxResults = 8;

/** Outfits that resemble one that the user likes, without their own and those that they like already. */
export function suggestedOutfitsQuery(userId: string, likedId: string) {
  return queryOptions({
    queryKey: outfitKeys.suggested(userId, likedId),
    queryFn: async ({ signal }): Promise<Outfit[]> =>
      rowsOf(
        await supabase
          .rpc("suggested_outfits", { liked_id: likedId, max_results: maxResults })
          .select(outfitColumns)
          .abortSignal(signal),
      ),
  });
}

/** A word that many of the newest outfits have. */
export interface FrequentWord {
  kind: "style" | "color" | "brand";
  name: string;
  hex_code: string | null;
}

/** Styles, colors and brands of the newest outfits, the most frequent first. */
export function frequentWordsQuery() {
  return queryOptions({
    queryKey: ["vocabulary", "frequent-words"],
    queryFn: async ({ signal }): Promise<FrequentWord[]> =>
      rowsOf(await supabase.rpc("frequent_words").abortSignal(signal)) as FrequentWord[],
  });
}
