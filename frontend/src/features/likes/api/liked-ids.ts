import { queryOptions } from "@tanstack/react-query";
import { allRows } from "@/lib/all-rows";
import { stale } from "@/lib/query-client";
import { itemKeys, outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** The kinds of things that can be liked. The specification calls an outfit a combine and an item a product. */
export type LikeKind = "outfit" | "item";

/** Columns of `likes` that refer to the target; exactly one is set in each row. */
export const likeColumns = {
  outfit: "combine_id",
  item: "product_id",
} as const satisfies Record<LikeKind, string>;

const keys = { outfit: outfitKeys.likedIds, item: itemKeys.likedIds };

/** Ids of all outfits, or all items, that a user likes, so that a page sends one request and not one per heart. */
export function likedIdsQuery(userId: string, kind: LikeKind) {
  const column = likeColumns[kind];
  return queryOptions({
    queryKey: keys[kind](userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<string[]> => {
      const rows = await allRows(async (from, to) =>
        rowsOf(
          await supabase
            .from("likes")
            .select("combine_id, product_id")
            .eq("user_id", userId)
            .not(column as string, "is", null)
            .order("id")
            .range(from, to)
            .abortSignal(signal),
        ),
      );
      return rows.flatMap((row) => row[column] ?? []);
    },
  });
}
