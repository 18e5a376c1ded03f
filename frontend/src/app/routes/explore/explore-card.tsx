import type { MouseEvent, ReactNode } from "react";
import { useNavigate } from "react-router";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import { OutfitCard } from "@/features/outfits/components/outfit-card";
import { type OutfitPlace, outfitCardSizes } from "@/features/outfits/components/outfit-grid";
import { growFrom } from "@/lib/view-transition";
import { preloadModal } from "./explore-modal";
import { exploreSearch, useExploreParams } from "./explore-params";

/** History state of a modal that was opened from the grid: closing it goes back instead of on. */
export interface ModalState {
  openedFromGrid: true;
}

const modalState: ModalState = { openedFromGrid: true };

interface ExploreCardProps {
  place: OutfitPlace;
  mark?: ReactNode;
}

/** A card of the dashboard: opens its outfit in the modal, over the grid. */
export function ExploreCard({ place, mark }: ExploreCardProps) {
  const { outfit, ratio, eager } = place;
  const navigate = useNavigate();
  const params = useExploreParams();
  const to = { pathname: "/", search: exploreSearch({ ...params, outfit: outfit.slug }) };

  function open(event: MouseEvent<HTMLAnchorElement>) {
    // New tab, new window, download: the browser's business.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    growFrom(event.currentTarget.querySelector("[data-picture]"), "outfit-picture", async () => {
      await navigate(to, { state: modalState, preventScrollReset: true, flushSync: true });
    });
  }

  return (
    <OutfitCard
      outfit={outfit}
      to={to}
      sizes={outfitCardSizes}
      ratio={ratio}
      eager={eager}
      mark={mark}
      onOpen={open}
      onIntent={preloadModal}
      actions={
        <>
          <BookmarkButton combineId={outfit.id} outfitName={outfit.name} />
          <LikeButton combineId={outfit.id} outfitName={outfit.name} />
        </>
      }
    />
  );
}
