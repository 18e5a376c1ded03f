import { useQuery } from "@tanstack/react-query";
import { Heart } from "lucide-react";
import { useState } from "react";
import { IconButton } from "@/components/ui/icon-button";
import { cn } from "@/lib/cn";
import { useSession } from "@/lib/session";
import { useSignInGate } from "@/lib/use-sign-in-gate";
import { likedIdsQuery } from "../api/liked-ids";
import { useToggleLike } from "../api/toggle-like";

interface LikeButtonProps {
  combineId: string;
  /** Names the outfit, so that hearts in a grid can be told apart by ear. */
  outfitName: string;
  variant?: "plain" | "floating";
  /** Set on the one button that the `l` key presses. */
  shortcut?: boolean;
}

export function LikeButton({
  combineId,
  outfitName,
  variant = "floating",
  shortcut = false,
}: LikeButtonProps) {
  const { user, isLoading } = useSession();
  const userId = user?.id ?? "";
  const { data: likedIds, isPending } = useQuery({
    ...likedIdsQuery(userId),
    enabled: userId !== "",
  });
  const toggleLike = useToggleLike(userId);
  const requireSignIn = useSignInGate();
  const [joyful, setJoyful] = useState(false);
  const liked = likedIds?.includes(combineId) ?? false;

  return (
    <IconButton
      label={liked ? `Unlike ${outfitName}` : `Like ${outfitName}`}
      aria-pressed={liked}
      aria-keyshortcuts={shortcut ? "l" : undefined}
      data-shortcut={shortcut ? "l" : undefined}
      variant={variant}
      busy={isLoading || (userId !== "" && isPending) || toggleLike.isPending}
      onClick={() => {
        if (userId === "") {
          requireSignIn("Please sign in to like this item.");
          return;
        }
        setJoyful(!liked);
        toggleLike.mutate({ combineId, liked: !liked });
      }}
    >
      <Heart
        className={cn("size-5", liked && "fill-accent text-accent", liked && joyful && "heart-joy")}
        strokeWidth={1.6}
      />
    </IconButton>
  );
}
