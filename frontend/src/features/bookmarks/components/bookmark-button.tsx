import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { Bookmark } from "lucide-react";
import { useSession } from "@/lib/session";
import { useSignInGate } from "@/lib/use-sign-in-gate";
import { bookmarkedIdsQuery } from "../api/bookmarked-ids";
import { useToggleBookmark } from "../api/toggle-bookmark";

interface BookmarkButtonProps {
  outfitId: string;
  /** Part of the accessible name: a grid has many bookmark buttons. */
  outfitName: string;
  variant?: "plain" | "floating";
  /** True on the one button that the `b` key of the modal presses. */
  shortcut?: boolean;
}

export function BookmarkButton({
  outfitId,
  outfitName,
  variant = "floating",
  shortcut = false,
}: BookmarkButtonProps) {
  const { user, isLoading } = useSession();
  const userId = user?.id ?? "";
  const { data: bookmarkedIds, isPending } = useQuery({
    ...bookmarkedIdsQuery(userId),
    enabled: userId !== "",
  });
  const toggleBookmark = useToggleBookmark(userId);
  const requireSignIn = useSignInGate();
  const bookmarked = bookmarkedIds?.includes(outfitId) ?? false;

  return (
    <IconButton
      label={bookmarked ? `Remove bookmark from ${outfitName}` : `Bookmark ${outfitName}`}
      aria-pressed={bookmarked}
      aria-keyshortcuts={shortcut ? "b" : undefined}
      data-shortcut={shortcut ? "b" : undefined}
      variant={variant}
      busy={isLoading || (userId !== "" && isPending) || toggleBookmark.isPending}
      onClick={() => {
        if (userId === "") {
          requireSignIn("Please sign in to bookmark this item.", {
            kind: "bookmark",
            id: outfitId,
          });
          return;
        }
        toggleBookmark.mutate({ id: outfitId, on: !bookmarked });
      }}
    >
      <Bookmark className={cn("size-5", bookmarked && "fill-current")} strokeWidth={1.6} />
    </IconButton>
  );
}
