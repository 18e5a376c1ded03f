import { infiniteQueryOptions } from "@tanstack/react-query";
import { rowsOf } from "@/lib/service-error";
import { hasSession, supabase } from "@/lib/supabase";
import { joinPages, type OutfitPage, outfitColumns, outfitPage, outfitPageSize } from "./outfit";

/** Outfits that a user likes, the latest like first. */
export function likedOutfitsQuery(userId: string) {
  return infiniteQueryOptions({
    queryKey: ["outfits", "liked", userId],
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }): Promise<OutfitPage> => {
      const rows = rowsOf(
        await supabase
          .from("likes")
          .select(`id, combine:combines(${outfitColumns})`)
          .eq("user_id", userId)
          .not("combine_id", "is", null)
          .order("created_at", { ascending: false })
          .order("id")
          .range(pageParam, pageParam + outfitPageSize - 1)
          .abortSignal(signal),
      );
      // An outfit that is no longer approved keeps its like, but is not shown.
      return outfitPage(
        rows.flatMap((row) => row.combine ?? []),
        pageParam,
        rows.length,
      );
    },
    getNextPageParam: (last) => last.nextOffset,
    select: (data) => joinPages(data.pages),
  });
}

/** Outfits that a user has bookmarked, the latest bookmark first. */
export function bookmarkedOutfitsQuery(userId: string) {
  return infiniteQueryOptions({
    queryKey: ["outfits", "bookmarked", userId],
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }): Promise<OutfitPage> => {
      if (!(await hasSession(userId))) return outfitPage([], pageParam);
      const rows = rowsOf(
        await supabase
          .from("bookmarks")
          .select(`id, combine:combines(${outfitColumns})`)
          .eq("user_id", userId)
          .order("created_at", { ascending: false })
          .order("id")
          .range(pageParam, pageParam + outfitPageSize - 1)
          .abortSignal(signal),
      );
      return outfitPage(
        rows.flatMap((row) => row.combine ?? []),
        pageParam,
        rows.length,
      );
    },
    getNextPageParam: (last) => last.nextOffset,
    select: (data) => joinPages(data.pages),
  });
}
