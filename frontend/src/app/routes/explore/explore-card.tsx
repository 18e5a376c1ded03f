import { type MouseEvent, memo, type ReactNode } from "react";
import { useNavigate } from "react-router";
import { BookmarkButton } from "@/features/bookmarks/components/bookmark-button";
import { LikeButton } from "@/features/likes/components/like-button";
import type { Outfit } from "@/features/outfits/api/outfit";
import { OutfitCard } from "@/features/outfits/components/outfit-card";
import { outfitCardSizes } from "@/features/outfits/components/outfit-card-shape";
import { growFrom } from "@/lib/view-transition";
import { preloadModal } from "./explore-modal";

/** History state of a modal opened from the grid: closing it goes back in the history instead of adding an entry. */
export interface ModalState {
  openedFromGrid: true;
}

const modalState: ModalState = { openedFromGrid: true };

interface ExploreCardProps {
  outfit: Outfit;
  eager: boolean;
  /** Search parameters that open this outfit in the modal. */
  search: string;
  mark?: ReactNode;
  /** Buttons in place of like and bookmark. */
  actions?: ReactNode;
}

/** Outfit card on the dashboard: opens the outfit in the modal, over the grid. */
export const ExploreCard = memo(function ExploreCard({
  outfit,
  eager,
  search,
  mark,
  actions,
}: ExploreCardProps) {
  const navigate = useNavigate();
  const to = { pathname: "/", search };

  function open(event: MouseEvent<HTMLAnchorElement>) {
    // With a modifier key the browser opens a tab or a window, or downloads.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    growFrom(event.currentTarget.querySelector("[data-picture]"), "outfit-picture", () =>
      navigate(to, { state: modalState, preventScrollReset: true, flushSync: true }),
    );
  }

  return (
    <OutfitCard
      outfit={outfit}
      to={to}
      sizes={outfitCardSizes}
      eager={eager}
      mark={mark}
      onOpen={open}
      onIntent={preloadModal}
      actions={
        actions ?? (
          <>
            <BookmarkButton outfitId={outfit.id} outfitName={outfit.name} />
            <LikeButton outfitId={outfit.id} outfitName={outfit.name} />
          </>
        )
      }
    />
  );
});
