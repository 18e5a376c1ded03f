import { cn } from "@ui/cn";
import { ChevronLeft, ChevronRight } from "lucide-react";

interface PaginationProps {
  page: number;
  pageCount: number;
  onPage: (page: number) => void;
  /** Shows links to this many pages around the current one in place of "Page x of y". */
  links?: number;
  /** How many rows there are, for "Showing a - b of n items"; left out, the line is not shown. */
  showing?: { from: number; to: number; total: number } | undefined;
}

const buttonClasses =
  "inline-flex h-9 min-w-9 items-center justify-center gap-1 rounded-md px-2.5 text-small tabular-nums transition-colors hover:bg-sheen disabled:opacity-50 pointer-coarse:h-11 pointer-coarse:min-w-11";

/** The page numbers around the current one, as many as there are up to `count`. */
export function pagesAround(page: number, pageCount: number, count: number): number[] {
  const first = Math.max(1, Math.min(page - Math.floor(count / 2), pageCount - count + 1));
  const last = Math.min(pageCount, first + count - 1);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Leads through the pages of a table. */
export function Pagination({ page, pageCount, onPage, links, showing }: PaginationProps) {
  return (
    <nav aria-label="Pages" className="mt-3 flex flex-wrap items-center gap-1 text-small">
      {showing !== undefined && showing.total > 0 && (
        <p className="mr-auto text-caption text-ink-soft tabular-nums">
          Showing {showing.from} - {showing.to} of {showing.total} items
        </p>
      )}
      {pageCount > 1 && (
        <div className="ml-auto flex items-center gap-1">
          <button
            type="button"
            disabled={page <= 1}
            onClick={() => onPage(page - 1)}
            className={buttonClasses}
          >
            <ChevronLeft aria-hidden="true" className="size-4" />
            Previous
          </button>
          {links === undefined ? (
            <span className="px-2 text-ink-soft tabular-nums">
              Page {page} of {pageCount}
            </span>
          ) : (
            pagesAround(page, pageCount, links).map((number) => (
              <button
                key={number}
                type="button"
                aria-label={`Page ${number}`}
                aria-current={number === page ? "page" : undefined}
                onClick={() => onPage(number)}
                className={cn(
                  buttonClasses,
                  "max-sm:not-aria-[current=page]:hidden",
                  number === page && "bg-ink text-canvas hover:bg-ink",
                )}
              >
                {number}
              </button>
            ))
          )}
          <button
            type="button"
            disabled={page >= pageCount}
            onClick={() => onPage(page + 1)}
            className={buttonClasses}
          >
            Next
            <ChevronRight aria-hidden="true" className="size-4" />
          </button>
        </div>
      )}
    </nav>
  );
}
