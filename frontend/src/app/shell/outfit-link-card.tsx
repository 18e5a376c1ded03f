import type { ReactNode } from "react";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import { OutfitCard } from "@/features/outfits/components/outfit-card";
import { type OutfitPlace, outfitCardSizes } from "@/features/outfits/components/outfit-grid";
import { paths } from "@/lib/paths";

interface OutfitLinkCardProps {
  place: OutfitPlace;
  mark?: ReactNode;
}

/** A card of the reading pages: leads to the outfit's own page. */
export function OutfitLinkCard({ place, mark }: OutfitLinkCardProps) {
  const { outfit, ratio, eager } = place;
  return (
    <OutfitCard
      outfit={outfit}
      to={paths.outfit(outfit.slug)}
      sizes={outfitCardSizes}
      ratio={ratio}
      mark={mark}
      eager={eager}
      actions={
        <>
          <BookmarkButton combineId={outfit.id} outfitName={outfit.name} />
          <LikeButton combineId={outfit.id} outfitName={outfit.name} />
        </>
      }
    />
  );
}
