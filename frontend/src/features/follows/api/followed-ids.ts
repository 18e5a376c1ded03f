import { queryOptions } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { followKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Ids of all people whom a user follows. */
export function followedIdsQuery(userId: string) {
  return queryOptions({
    queryKey: followKeys.ids(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<string[]> => {
      const rows = await allRows(async (from, to) =>
        rowsOf(
          await supabase
            .from("follows")
            .select("followed_id")
            .eq("follower_id", userId)
            .order("followed_id")
            .range(from, to)
            .abortSignal(signal),
        ),
      );
      return rows.map((row) => row.followed_id);
    },
  });
}
