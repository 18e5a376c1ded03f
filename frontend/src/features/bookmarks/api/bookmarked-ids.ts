import { queryOptions } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Ids of all outfits that a user has bookmarked. */
export function bookmarkedIdsQuery(userId: string) {
  return queryOptions({
    queryKey: outfitKeys.bookmarkedIds(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<string[]> => {
      const rows = await allRows(async (from, to) =>
        rowsOf(
          await supabase
            .from("bookmarks")
            .select("combine_id")
            .eq("user_id", userId)
            .order("id")
            .range(from, to)
            .abortSignal(signal),
        ),
      );
      return rows.map((row) => row.combine_id);
    },
  });
}
