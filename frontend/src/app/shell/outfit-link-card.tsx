import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import type { Outfit } from "@/features/outfits/api/outfit";
import { OutfitCard } from "@/features/outfits/components/outfit-card";
import { outfitCardSizes } from "@/features/outfits/components/outfit-grid";
import { paths } from "@/lib/paths";

/** A card of the reading pages: leads to the outfit's own page. */
export function OutfitLinkCard({ outfit, eager }: { outfit: Outfit; eager: boolean }) {
  return (
    <OutfitCard
      outfit={outfit}
      to={paths.outfit(outfit.slug)}
      sizes={outfitCardSizes}
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
