import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "@/components/ui/button";
import { ErrorNotice } from "@/components/ui/error-notice";
import type { Outfit } from "@/features/outfits/api/outfit";
import { OutfitGrid, OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { pageTitle } from "@/lib/product";
import { ExploreCard } from "./explore-card";
import { ExploreModal } from "./explore-modal";

/** A list of outfits in any of its states, whether it comes whole or in pages. */
export interface OutfitListState {
  data: Outfit[] | undefined;
  isPending: boolean;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  isFetchNextPageError?: boolean;
  fetchNextPage?: () => unknown;
  isPlaceholderData?: boolean;
}

interface OutfitSectionProps {
  title: string;
  list: OutfitListState;
  empty: ReactNode;
  /** The order counts: pictures of one shape, row by row. */
  ordered?: boolean;
  /** Over a card's picture. */
  mark?: (outfit: Outfit, index: number) => ReactNode;
  /** Bookmarks show no items in their modal. */
  showItems?: boolean;
}

/** A titled list of outfits with its four states, and the modal over it. */
export function OutfitSection({
  title,
  list,
  empty,
  ordered = false,
  mark,
  showItems = true,
}: OutfitSectionProps) {
  return (
    <section aria-labelledby="section-title">
      <title>{pageTitle(title)}</title>
      <h1 id="section-title" className="mb-7 font-serif text-display text-ink max-md:mb-5">
        {title}
      </h1>
      <OutfitSectionBody title={title} list={list} empty={empty} ordered={ordered} mark={mark} />
      <ExploreModal outfits={list.data ?? []} listPending={list.isPending} showItems={showItems} />
    </section>
  );
}

type OutfitSectionBodyProps = Pick<OutfitSectionProps, "title" | "list" | "empty"> & {
  ordered: boolean;
  mark: OutfitSectionProps["mark"];
};

function OutfitSectionBody({ title, list, empty, ordered, mark }: OutfitSectionBodyProps) {
  if (list.isPending) return <OutfitGridSkeleton />;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title="The outfits could not be loaded."
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  if (list.data.length === 0) return empty;
  return (
    <>
      <OutfitGrid
        outfits={list.data}
        label={title}
        busy={list.isPlaceholderData ?? false}
        even={ordered}
      >
        {(place) => <ExploreCard place={place} mark={mark?.(place.outfit, place.index)} />}
      </OutfitGrid>
      <NextPage list={list} />
    </>
  );
}

/** How far below the screen the end of the list may be when the next page is fetched. */
const readAheadPx = 900;

/** Loads the next page shortly before the reader arrives there; a button for those who tab. */
function NextPage({ list }: { list: OutfitListState }) {
  const button = useRef<HTMLDivElement>(null);
  const { fetchNextPage } = list;
  const { hasNextPage = false, isFetchingNextPage = false, isFetchNextPageError = false } = list;

  useEffect(() => {
    const element = button.current;
    // After a failure only a person tries again: an observer would ask without end.
    if (element === null || !hasNextPage || isFetchingNextPage || isFetchNextPageError) return;
    const observer = new IntersectionObserver(
      (entries) => {
        // An entry may date from before the masonry had its height; where the end is now decides.
        const isNear = element.getBoundingClientRect().top < window.innerHeight + readAheadPx;
        if (isNear && entries.some((entry) => entry.isIntersecting)) fetchNextPage?.();
      },
      { rootMargin: `${readAheadPx}px 0px` },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [fetchNextPage, hasNextPage, isFetchingNextPage, isFetchNextPageError]);

  if (!hasNextPage) return null;
  return (
    <div ref={button} className="mt-10 flex flex-col items-center gap-3">
      {isFetchNextPageError && (
        <p role="alert" className="text-ink-soft text-small">
          The next outfits could not be loaded.
        </p>
      )}
      <Button pending={isFetchingNextPage} onClick={() => fetchNextPage?.()}>
        {isFetchNextPageError ? "Try again" : "Load more"}
      </Button>
    </div>
  );
}
