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

interface Created {
  creator?: { id: string } | null;
}

/** The outfits without those of people whom the user has blocked. */
export function useWithoutBlocked<Outfits extends readonly Created[] | undefined>(
  outfits: Outfits,
): Outfits {
  const { user } = useSession();
  const { data: blocked = [] } = useQuery({
    ...blockedIdsQuery(user?.id ?? ""),
    enabled: user !== null,
  });
  if (outfits === undefined || blocked.length === 0) return outfits;
  const shown = outfits.filter(({ creator }) => !blocked.includes(creator?.id ?? ""));
  return shown as readonly Created[] as Outfits;
}
