import { itemKeys, outfitKeys } from "@/lib/query-keys";
import { resultOf } from "@/lib/service-error";
import { myProfileKey } from "@/lib/session";
import { supabase } from "@/lib/supabase";
import { type Toggle, useToggle } from "@/lib/use-toggle";
import { type LikeKind, likeColumns, likedIdsQuery } from "./liked-ids";

/** Words of the specification's notices. */
const nouns = {
  outfit: { short: "outfit", long: "outfit combination" },
  item: { short: "product", long: "product" },
} as const satisfies Record<LikeKind, { short: string; long: string }>;

/** Likes an outfit or an item, or takes the like back. */
export function useToggleLike(userId: string, kind: LikeKind) {
  const { short, long } = nouns[kind];
  return useToggle({
    mutationKey: ["likes", "toggle"],
    idsKey: likedIdsQuery(userId, kind).queryKey,
    write: (toggle) => writeLike(userId, kind, toggle),
    staleKeys:
      kind === "outfit"
        ? [
            outfitKeys.liked(userId),
            outfitKeys.tops(),
            outfitKeys.likeCounts(),
            myProfileKey(userId),
          ]
        : [itemKeys.liked(userId), myProfileKey(userId)],
    switchedOn: { title: "Liked!", description: `This ${short} has been added to your favorites` },
    switchedOff: {
      title: "Unliked",
      description: `This ${short} has been removed from your favorites`,
    },
    alreadyOn: { title: "Already liked", description: `You've already liked this ${long}` },
    failureText: "Failed to like the item. Please try again.",
  });
}

async function writeLike(userId: string, kind: LikeKind, { id, on }: Toggle): Promise<void> {
  const likes = supabase.from("likes");
  const target = kind === "outfit" ? { combine_id: id } : { product_id: id };
  if (on) resultOf(await likes.insert({ user_id: userId, ...target }));
  else resultOf(await likes.delete().eq("user_id", userId).eq(likeColumns[kind], id));
}
