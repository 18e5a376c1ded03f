import { queryOptions } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { rowsOf } from "@/lib/service-error";
import { hasSession, supabase } from "@/lib/supabase";

export const bookmarkedIdsKey = (userId: string) => ["bookmarks", userId, "combine-ids"] as const;

/** Ids of all outfits that a user has bookmarked. */
export function bookmarkedIdsQuery(userId: string) {
  return queryOptions({
    queryKey: bookmarkedIdsKey(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<string[]> => {
      if (!(await hasSession(userId))) return [];
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
