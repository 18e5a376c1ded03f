import { queryOptions } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

export const likedIdsKey = (userId: string) => ["likes", userId, "combine-ids"] as const;

/** Ids of all outfits that a user likes: one question for a page of hearts instead of one per heart. */
export function likedIdsQuery(userId: string) {
  return queryOptions({
    queryKey: likedIdsKey(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<string[]> => {
      const rows = await allRows(async (from, to) =>
        rowsOf(
          await supabase
            .from("likes")
            .select("combine_id")
            .eq("user_id", userId)
            .not("combine_id", "is", null)
            .order("id")
            .range(from, to)
            .abortSignal(signal),
        ),
      );
      return rows.flatMap((row) => row.combine_id ?? []);
    },
  });
}
