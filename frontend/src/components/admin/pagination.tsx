import { cn } from "@ui/cn";
import { isEnter } from "@ui/keys";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { AdminTable } from "@/lib/use-admin-table";
import { useShortcut } from "@/lib/use-shortcut";

interface PaginationProps {
  table: PagedTable;
  /** Plural noun of the rows, as in "items". */
  noun: string;
  /** Shows links to this many pages around the current one in place of "Page x of y". */
  links?: number;
  /** How many rows there are, for "Showing a - b of n items"; left out, only their number is shown. */
  showing?: { from: number; to: number; total: number } | undefined;
}

/** The part of a table's state that its pages need. */
type PagedTable = Pick<
  AdminTable<unknown>,
  "page" | "pageCount" | "setPage" | "total" | "pageSize" | "pageSizes" | "setPageSize"
>;

const buttonClasses =
  "inline-flex h-9 min-w-9 items-center justify-center gap-1 rounded-md px-2.5 text-small tabular-nums transition-colors hover:bg-sheen disabled:opacity-50 pointer-coarse:h-11 pointer-coarse:min-w-11";

/** The page numbers around the current one, as many as there are up to `count`. */
export function pagesAround(page: number, pageCount: number, count: number): number[] {
  const first = Math.max(1, Math.min(page - Math.floor(count / 2), pageCount - count + 1));
  const last = Math.min(pageCount, first + count - 1);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Leads through the pages of a table: how many rows there are, how many of them a page has, and which page is shown. */
export function Pagination({ table, noun, links, showing }: PaginationProps) {
  const { page, pageCount, setPage, total, pageSize, pageSizes, setPageSize } = table;
  useShortcut("ArrowLeft", () => page > 1 && setPage(Math.min(page - 1, pageCount)));
  useShortcut("ArrowRight", () => page < pageCount && setPage(page + 1));
  return (
    <nav
      aria-label="Pages"
      data-keep-clear
      className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-small"
    >
      {total > 0 && (
        <p className="text-caption text-ink-soft tabular-nums">
          {showing === undefined
            ? countOf(total, noun)
            : `Showing ${showing.from} - ${showing.to} of ${showing.total} items`}
        </p>
      )}
      {total > Math.min(...pageSizes) && (
        <label className="flex items-center gap-1.5 text-caption text-ink-soft">
          Rows
          <select
            aria-label="Rows on a page"
            value={pageSize}
            onChange={(event) => setPageSize(Number(event.target.value))}
            className="h-9 rounded-md border border-line bg-surface px-2 text-ink tabular-nums pointer-coarse:h-11"
          >
            {pageSizes.map((size) => (
              <option key={size}>{size}</option>
            ))}
          </select>
        </label>
      )}
      {pageCount > 1 && (
        <div className="ml-auto flex items-center gap-1">
          <button
            type="button"
            disabled={page <= 1}
            onClick={() => setPage(page - 1)}
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
            <>
              {pagesAround(page, pageCount, links).map((number) => (
                <button
                  key={number}
                  type="button"
                  aria-label={`Page ${number}`}
                  aria-current={number === page ? "page" : undefined}
                  onClick={() => setPage(number)}
                  className={cn(
                    buttonClasses,
                    "max-sm:not-aria-[current=page]:hidden",
                    number === page && "bg-ink text-canvas hover:bg-ink",
                  )}
                >
                  {number}
                </button>
              ))}
              {pageCount <= links && (
                <span className="text-caption text-ink-soft tabular-nums sm:hidden">
                  of {pageCount}
                </span>
              )}
              {pageCount > links && <PageJump page={page} pageCount={pageCount} onPage={setPage} />}
            </>
          )}
          <button
            type="button"
            disabled={page >= pageCount}
            onClick={() => setPage(page + 1)}
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

const numbers = new Intl.NumberFormat("en-US");

function countOf(total: number, noun: string): string {
  return `${numbers.format(total)} ${total === 1 ? noun.replace(/s$/, "") : noun}`;
}

interface PageJumpProps {
  page: number;
  pageCount: number;
  onPage: (page: number) => void;
}

/** A field for the number of a page that is far away. It takes effect by Enter and when it is left. */
function PageJump({ page, pageCount, onPage }: PageJumpProps) {
  const [text, setText] = useState<string | null>(null);
  function jump() {
    const wanted = Number(text);
    setText(null);
    if (text === null || !Number.isInteger(wanted) || wanted < 1) return;
    const next = Math.min(wanted, pageCount);
    if (next !== page) onPage(next);
  }
  return (
    <label className="flex items-center gap-1.5 px-1 text-caption text-ink-soft tabular-nums">
      <input
        aria-label="Page"
        inputMode="numeric"
        value={text ?? `${page}`}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value.replace(/\D/g, ""))}
        onBlur={jump}
        onKeyDown={(event) => {
          if (isEnter(event)) jump();
        }}
        className="h-9 w-14 rounded-md border border-line bg-surface px-2 text-center text-ink pointer-coarse:h-11"
      />
      of {numbers.format(pageCount)}
    </label>
  );
}
