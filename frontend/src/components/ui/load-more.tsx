import { Button } from "@ui/button";

/** The part of an infinite query that paging by a button uses. */
export interface PagedList {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  fetchNextPage: () => unknown;
}

/**
 * Button below a list that fetches its next page; nothing after the last one. For lists with more of the page below them, which
 * a list that reads on by itself would push away.
 */
export function LoadMore({ list }: { list: PagedList }) {
  if (!list.hasNextPage) return null;
  return (
    <div className="mt-10 flex flex-col items-center gap-3">
      {list.isFetchNextPageError && (
        <p role="alert" className="text-ink-soft text-small">
          The next page could not be loaded.
        </p>
      )}
      <Button pending={list.isFetchingNextPage} onClick={() => list.fetchNextPage()}>
        {list.isFetchNextPageError ? "Try again" : "Load more"}
      </Button>
    </div>
  );
}
