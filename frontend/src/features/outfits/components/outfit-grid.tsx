import type { ReactNode } from "react";
import { Masonry } from "@/components/ui/masonry";
import { Skeleton } from "@/components/ui/skeleton";
import type { Outfit } from "../api/outfit";
import { outfitCaptionHeight, outfitRatio, pictureRatio } from "./outfit-card";

/** The width of a card in a masonry beside an open sidebar, for the `sizes` of its picture. */
export const outfitCardSizes = "(min-width: 1280px) 22vw, (min-width: 640px) 31vw, 48vw";

/** Cards that are in view when a page opens: two rows of a wide screen. */
const eagerCards = 4;

interface OutfitGridProps {
  outfits: readonly Outfit[];
  label: string;
  busy?: boolean;
  /** All pictures alike, where the order counts: a masonry may put the next one beside the last but one. */
  even?: boolean;
  children: (place: OutfitPlace) => ReactNode;
}

/** What the grid decides about a card. */
export interface OutfitPlace {
  outfit: Outfit;
  index: number;
  /** Height over width of its picture. */
  ratio: number;
  eager: boolean;
}

export function OutfitGrid({
  outfits,
  label,
  busy = false,
  even = false,
  children,
}: OutfitGridProps) {
  const tiles = outfits.map((outfit) => ({
    key: outfit.id,
    ratio: even ? pictureRatio : outfitRatio(outfit),
    outfit,
  }));
  return (
    <Masonry tiles={tiles} captionHeight={outfitCaptionHeight} label={label} busy={busy}>
      {({ outfit, ratio }, index) => children({ outfit, index, ratio, eager: index < eagerCards })}
    </Masonry>
  );
}

/** Tiles in the shape of the cards to come. */
export function OutfitGridSkeleton({ count = 12 }: { count?: number }) {
  const tiles = Array.from({ length: count }, (_, index) => ({
    key: `skeleton-${index}`,
    ratio: index % 5 < 2 ? 4 / 3 : pictureRatio,
  }));
  return (
    <div role="status">
      <span className="sr-only">Loading outfits...</span>
      <Masonry tiles={tiles} captionHeight={outfitCaptionHeight} label="Loading outfits" busy>
        {(tile) => (
          <div data-testid="outfit-skeleton">
            <div style={{ aspectRatio: `${1 / tile.ratio}` }}>
              <Skeleton className="size-full rounded-md" />
            </div>
            <Skeleton className="mt-4 h-4 w-3/4" />
            <Skeleton className="mt-2 h-3 w-1/2" />
          </div>
        )}
      </Masonry>
    </div>
  );
}
