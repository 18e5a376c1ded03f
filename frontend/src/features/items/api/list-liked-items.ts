import { newestFirst, pagedQuery } from "@/lib/paged-query";
import { itemKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { itemColumns } from "./item";

/** Items that a user likes, the latest like first. */
export function likedItemsQuery(userId: string) {
  return pagedQuery({
    queryKey: itemKeys.liked(userId),
    readPage: async (page) => {
      const likes = supabase
        .from("likes")
        .select(`id, item:items(${itemColumns})`)
        .eq("user_id", userId)
        .not("product_id", "is", null);
      return rowsOf(await newestFirst(likes, page)).map((like) => like.item);
    },
  });
}
