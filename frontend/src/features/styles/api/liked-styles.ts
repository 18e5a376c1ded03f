import { queryOptions } from "@tanstack/react-query";
import { stale } from "@/lib/query-client";
import { likedStyleKeys } from "@/lib/query-keys";
import { resultOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Toggle, useToggle } from "@/lib/use-toggle";

/** Ids of the styles that a user likes, the latest first. */
export function likedStyleIdsQuery(userId: string) {
  return queryOptions({
    queryKey: likedStyleKeys.ids(userId),
    staleTime: stale.mine,
    queryFn: async ({ signal }): Promise<string[]> => {
      const rows = rowsOf(
        await supabase
          .from("liked_styles")
          .select("style_id")
          .eq("user_id", userId)
          .order("created_at", { ascending: false })
          .order("style_id")
          .abortSignal(signal),
      );
      return rows.map((row) => row.style_id);
    },
  });
}

/** Likes a style, or no longer. */
export function useToggleStyle(userId: string) {
  return useToggle({
    mutationKey: ["liked-styles", "toggle"],
    idsKey: likedStyleKeys.ids(userId),
    write: (toggle) => writeStyle(userId, toggle),
    staleKeys: [],
    alreadyOn: { title: "Already chosen", description: "You have chosen this style already." },
    failureText: "This could not be saved. Please try again.",
  });
}

async function writeStyle(userId: string, { id, on }: Toggle): Promise<void> {
  const styles = supabase.from("liked_styles");
  if (on) resultOf(await styles.insert({ user_id: userId, style_id: id }));
  else resultOf(await styles.delete().eq("user_id", userId).eq("style_id", id));
}
