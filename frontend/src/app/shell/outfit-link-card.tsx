import type { ReactNode } from "react";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import type { Outfit } from "@/features/outfits/api/outfit";
import { OutfitCard } from "@/features/outfits/components/outfit-card";
import { outfitCardSizes } from "@/features/outfits/components/outfit-card-shape";
import { paths } from "@/lib/paths";

interface OutfitLinkCardProps {
  outfit: Outfit;
  /** Whether the picture is visible without scrolling. */
  eager?: boolean;
  mark?: ReactNode;
  /** Gender and description in place of the creator. */
  details?: boolean;
}

/** Outfit card on the reading pages: links to the outfit's page, where the dashboard's card opens the modal. */
export function OutfitLinkCard({
  outfit,
  eager = false,
  mark,
  details = false,
}: OutfitLinkCardProps) {
  return (
    <OutfitCard
      outfit={outfit}
      to={paths.outfit(outfit.slug)}
      sizes={outfitCardSizes}
      mark={mark}
      details={details}
      eager={eager}
      actions={
        <>
          <BookmarkButton outfitId={outfit.id} outfitName={outfit.name} />
          <LikeButton outfitId={outfit.id} outfitName={outfit.name} />
        </>
      }
    />
  );
}
