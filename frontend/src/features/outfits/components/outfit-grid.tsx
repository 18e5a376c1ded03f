import type { ReactNode } from "react";
import type { CardShape } from "@/components/ui/card-columns";
import { CardGrid, CardGridSkeleton } from "@/components/ui/card-grid";
import { Skeleton } from "@/components/ui/skeleton";
import { useWithoutBlocked } from "@/lib/blocked-people";
import type { Outfit } from "../api/outfit";
import { eagerOutfitCards, outfitCardShape } from "./outfit-card-shape";

interface OutfitGridProps {
  outfits: readonly Outfit[];
  label: string;
  busy?: boolean;
  /** Id of the outfit in the modal. */
  openId?: string | undefined;
  shape?: CardShape;
  children: (outfit: Outfit, index: number, eager: boolean) => ReactNode;
}

/** Outfit cards in a grid, without those of people whom the user has blocked; `children` renders one card. */
export function OutfitGrid({
  outfits,
  label,
  busy = false,
  openId,
  shape = outfitCardShape,
  children,
}: OutfitGridProps) {
  const shown = useWithoutBlocked(outfits);
  return (
    <CardGrid rows={shown} shape={shape} label={label} busy={busy} pinnedId={openId}>
      {(outfit, index) => children(outfit, index, index < eagerOutfitCards)}
    </CardGrid>
  );
}

interface OutfitGridSkeletonProps {
  count?: number;
  shape?: CardShape;
}

export function OutfitGridSkeleton({
  count = 12,
  shape = outfitCardShape,
}: OutfitGridSkeletonProps) {
  return (
    <CardGridSkeleton count={count} shape={shape} label="Loading outfits...">
      <Skeleton className="mt-4 h-4 w-3/4" />
      <Skeleton className="mt-2 h-3 w-1/2" />
    </CardGridSkeleton>
  );
}
