import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { Heart } from "lucide-react";
import { useState } from "react";
import { useSession } from "@/lib/session";
import { useSignInGate } from "@/lib/use-sign-in-gate";
import { type LikeKind, likedIdsQuery } from "../api/liked-ids";
import { useToggleLike } from "../api/toggle-like";

interface LikeButtonProps {
  outfitId: string;
  /** Part of the accessible name: a grid has many like buttons. */
  outfitName: string;
  variant?: "plain" | "floating";
  /** True on the one button that the `l` key of the modal presses. */
  shortcut?: boolean;
}

/** Likes an outfit. */
export function LikeButton({ outfitId, outfitName, ...rest }: LikeButtonProps) {
  return <Like kind="outfit" id={outfitId} name={outfitName} {...rest} />;
}

interface LikeItemButtonProps {
  itemId: string;
  itemName: string;
  variant?: "plain" | "floating";
}

/** Likes an item, which the specification calls a product. */
export function LikeItemButton({ itemId, itemName, ...rest }: LikeItemButtonProps) {
  return <Like kind="item" id={itemId} name={itemName} {...rest} />;
}

interface LikeProps extends Pick<LikeButtonProps, "variant" | "shortcut"> {
  kind: LikeKind;
  id: string;
  name: string;
}

function Like({ kind, id, name, variant = "floating", shortcut = false }: LikeProps) {
  const { user, isLoading } = useSession();
  const userId = user?.id ?? "";
  const { data: likedIds, isPending } = useQuery({
    ...likedIdsQuery(userId, kind),
    enabled: userId !== "",
  });
  const toggleLike = useToggleLike(userId, kind);
  const requireSignIn = useSignInGate();
  const [isAnimated, setAnimated] = useState(false);
  const liked = likedIds?.includes(id) ?? false;

  return (
    <IconButton
      label={liked ? `Unlike ${name}` : `Like ${name}`}
      aria-pressed={liked}
      aria-keyshortcuts={shortcut ? "l" : undefined}
      data-shortcut={shortcut ? "l" : undefined}
      variant={variant}
      busy={isLoading || (userId !== "" && isPending) || toggleLike.isPending}
      onClick={() => {
        if (userId === "") {
          requireSignIn("Please sign in to like this item.", { kind: `like-${kind}`, id });
          return;
        }
        setAnimated(!liked);
        toggleLike.mutate({ id, on: !liked });
      }}
    >
      <Heart
        className={cn(
          "size-5",
          liked && "fill-accent text-accent",
          liked && isAnimated && "heart-pop",
        )}
        strokeWidth={1.6}
      />
    </IconButton>
  );
}
