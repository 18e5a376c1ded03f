import { Button } from "@ui/button";
import type { ReactNode } from "react";
import { Text } from "@/components/text";

interface ReadQuery {
  isError: boolean;
  data: unknown;
  error: unknown;
  refetch: () => unknown;
  isFetchNextPageError?: boolean;
  fetchNextPage?: () => unknown;
}

/**
 * Above content that could not be read again, or whose next page could not be read: what is shown stays, with what is typed in it, and
 * may be old.
 */
export function StaleNotice({ query }: { query: ReadQuery }) {
  const { isError, data, error, refetch, isFetchNextPageError = false, fetchNextPage } = query;
  if (!isError || data === undefined) return null;
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 border-line-soft border-b bg-changed px-4 py-1 text-caption max-md:px-3"
    >
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        {isFetchNextPageError ? "More could not be read: " : "This could not be read again: "}
        <Text multiline>{error instanceof Error ? error.message : String(error)}</Text>
      </p>
      <Button
        size="dense"
        variant="quiet"
        onClick={() => void (isFetchNextPageError ? fetchNextPage?.() : refetch())}
      >
        Try again
      </Button>
    </div>
  );
}

/** Above what was deleted while it is shown: it stays readable, without what could be done with it. */
export function GoneNotice({ children }: { children: ReactNode }) {
  return (
    <p
      role="alert"
      className="border-line-soft border-b bg-changed px-4 py-2 text-caption max-md:px-3"
    >
      {children}
    </p>
  );
}
