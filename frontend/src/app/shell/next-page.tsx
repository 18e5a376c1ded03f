import { Button } from "@ui/button";
import { useEffect, useRef } from "react";

/** The part of `useInfiniteQuery`'s result that reads on. Lists without pages have none of it. */
export interface PagedListState {
  hasNextPage?: boolean;
  isFetchingNextPage?: boolean;
  isFetchNextPageError?: boolean;
  fetchNextPage?: () => unknown;
}

interface NextPageProps {
  list: PagedListState;
  /** The list's content, as a plural noun. */
  noun: string;
}

/** The next page is fetched when the end of the list comes this close to the viewport. */
const readAheadPx = 900;

/** Loads the next page when its button comes near the viewport; keyboard users may press it. */
export function NextPage({ list, noun }: NextPageProps) {
  const button = useRef<HTMLDivElement>(null);
  const { fetchNextPage } = list;
  const { hasNextPage = false, isFetchingNextPage = false, isFetchNextPageError = false } = list;

  useEffect(() => {
    const element = button.current;
    // After a failure only the button retries: the observer would send requests without end.
    if (element === null || !hasNextPage || isFetchingNextPage || isFetchNextPageError) return;
    const observer = new IntersectionObserver(
      (entries) => {
        // The entry may be older than the layout of the grid, so the position is measured again.
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
          The next {noun} could not be loaded.
        </p>
      )}
      <Button pending={isFetchingNextPage} onClick={() => fetchNextPage?.()}>
        {isFetchNextPageError ? "Try again" : "Load more"}
      </Button>
    </div>
  );
}
