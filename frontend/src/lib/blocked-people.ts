import { queryOptions, useQuery } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { blockKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { useSession } from "@/lib/session";
import { supabase } from "@/lib/supabase";

/** Ids of all people whom a user has blocked. */
export function blockedIdsQuery(userId: string) {
  return queryOptions({
    queryKey: blockKeys.ids(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<string[]> => {
      const rows = await allRows(async (from, to) =>
        rowsOf(
          await supabase
            .from("blocks")
            .select("blocked_id")
            .eq("blocker_id", userId)
            .order("blocked_id")
            .range(from, to)
            .abortSignal(signal),
        ),
      );
      return rows.map((row) => row.blocked_id);
    },
  });
}

/** The id of an outfit's creator; undefined for other rows, such as items. */
function creatorOf(row: object): string | undefined {
  const creator = "creator" in row ? row.creator : undefined;
  const isPerson = typeof creator === "object" && creator !== null && "id" in creator;
  return isPerson && typeof creator.id === "string" ? creator.id : undefined;
}

/** The rows without outfits of people whom the user has blocked. */
export function useWithoutBlocked<Rows extends readonly object[] | undefined>(rows: Rows): Rows {
  const { user } = useSession();
  const { data: blocked = [] } = useQuery({
    ...blockedIdsQuery(user?.id ?? ""),
    enabled: user !== null,
  });
  if (rows === undefined || blocked.length === 0) return rows;
  const shown: readonly object[] = rows.filter((row) => !blocked.includes(creatorOf(row) ?? ""));
  return shown as Rows;
}
