import { outfitKeys } from "@/lib/query-keys";
import { hasCode, insufficientPrivilege, resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Notice, type Toggle, useToggle } from "@/lib/use-toggle";

/** Bookmarks an outfit or removes the bookmark. */
export function useToggleBookmark(userId: string) {
  return useToggle({
    mutationKey: ["bookmarks", "toggle"],
    idsKey: outfitKeys.bookmarkedIds(userId),
    write: (toggle) => writeBookmark(userId, toggle),
    staleKeys: [outfitKeys.bookmarked(userId)],
    switchedOn: {
      title: "Bookmarked!",
      description: "This outfit has been added to your bookmarks",
    },
    switchedOff: {
      title: "Bookmark removed",
      description: "This outfit has been removed from your bookmarks",
    },
    alreadyOn: {
      title: "Already bookmarked",
      description: "You've already bookmarked this outfit combination",
    },
    failureText: "Failed to bookmark the item. Please try again.",
    explainError: explainDenial,
  });
}

async function writeBookmark(userId: string, { id, on }: Toggle): Promise<void> {
  const bookmarks = supabase.from("bookmarks");
  if (on) resultOf(await bookmarks.insert({ user_id: userId, combine_id: id }));
  else resultOf(await bookmarks.delete().eq("user_id", userId).eq("combine_id", id));
}

function explainDenial(error: unknown, toggle: Toggle): Notice | undefined {
  if (!hasCode(error, insufficientPrivilege)) return undefined;
  console.warn("[security] bookmark refused", toggle);
  return {
    title: "Access denied",
    description: "You don't have permission to perform this action.",
  };
}
