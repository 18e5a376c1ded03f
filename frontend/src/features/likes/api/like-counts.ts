import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Likes of some outfits, by their ids. */
export function likeCountsQuery(outfitIds: readonly string[]) {
  return queryOptions({
    queryKey: [...outfitKeys.likeCounts(), outfitIds],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const rows = rowsOf(
        await supabase
          .from("like_counts")
          .select("combine_id, likes")
          .in("combine_id", outfitIds)
          .abortSignal(signal),
      );
      return new Map(rows.map(({ combine_id, likes }) => [combine_id, likes]));
    },
  });
}
