import { newestFirst, pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { outfitColumns } from "./outfit";

/** Outfits that a user likes, the latest like first. One that is no longer approved keeps its like, but is null. */
export function likedOutfitsQuery(userId: string) {
  return pagedQuery({
    queryKey: outfitKeys.liked(userId),
    readPage: async (page) => {
      const likes = supabase
        .from("likes")
        .select(`id, combine:combines(${outfitColumns})`)
        .eq("user_id", userId)
        .not("combine_id", "is", null);
      return rowsOf(await newestFirst(likes, page)).map((like) => like.combine);
    },
  });
}

/** Outfits that a user has bookmarked, the latest bookmark first. */
export function bookmarkedOutfitsQuery(userId: string) {
  return pagedQuery({
    queryKey: outfitKeys.bookmarked(userId),
    readPage: async (page) => {
      const bookmarks = supabase
        .from("bookmarks")
        .select(`id, combine:combines(${outfitColumns})`)
        .eq("user_id", userId);
      return rowsOf(await newestFirst(bookmarks, page)).map((bookmark) => bookmark.combine);
    },
  });
}
