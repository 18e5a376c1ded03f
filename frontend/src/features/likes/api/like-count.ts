import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** How many people like an outfit. Who they are is not public. */
export function likeCountQuery(outfitId: string) {
  return queryOptions({
    queryKey: outfitKeys.likeCount(outfitId),
    queryFn: async ({ signal }): Promise<number> => {
      const row = resultOf(
        await supabase
          .from("like_counts")
          .select("likes")
          .eq("combine_id", outfitId)
          .abortSignal(signal)
          .maybeSingle(),
      );
      return row?.likes ?? 0;
    },
  });
}
