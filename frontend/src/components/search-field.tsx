import { notifyManager } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { isEscape } from "@ui/keys";
import { useSearchDraft } from "@ui/use-search-draft";
import { Search, X } from "lucide-react";

/** A search whose result is kept changes the list at once, so it waits for the end of a press, as results do that arrive (lib/press.ts). */
const hold = (act: () => void) => notifyManager.schedule(act);

/** Milliseconds without a keystroke before a live search runs. */
const typingPauseMs = 250;

interface SearchFieldProps {
  /** The search of the address. When a link or the back button changes it, it replaces what was typed. */
  query: string;
  /** Called with the trimmed text; never with the current query. */
  onSearch: (text: string) => void;
  label: string;
  placeholder: string;
  /** False to search on Enter only. */
  live?: boolean;
  size?: "md" | "lg";
  className?: string;
}

/** A search box that searches while the user types. Escape and the button clear it; the `/` key focuses it. */
export function SearchField({
  query,
  onSearch,
  label,
  placeholder,
  live = true,
  size = "md",
  className,
}: SearchFieldProps) {
  const { draft, change, search, clear } = useSearchDraft({
    query,
    onSearch,
    pauseMs: live ? typingPauseMs : undefined,
    hold,
  });

  return (
    <search className={cn("relative block", className)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          search(draft);
        }}
      >
        <Search
          aria-hidden="true"
          className="pointer-events-none absolute top-1/2 left-3.5 size-4.5 -translate-y-1/2 text-ink-soft"
          strokeWidth={1.6}
        />
        <input
          type="search"
          data-search-box
          aria-label={label}
          aria-keyshortcuts="/"
          placeholder={placeholder}
          autoComplete="off"
          enterKeyHint="search"
          value={draft}
          onChange={(event) => change(event.target.value)}
          onKeyDown={(event) => {
            if (!isEscape(event)) return;
            if (draft === "") event.currentTarget.blur();
            clear();
          }}
          className={cn(
            "w-full rounded-full border border-line bg-surface pr-11 pl-10 text-ink transition-colors placeholder:text-ink-soft hover:border-line-strong focus:border-ink-soft max-md:text-body [&::-webkit-search-cancel-button]:hidden",
            size === "md" ? "h-11 text-small" : "h-12 text-body",
          )}
        />
        {draft !== "" && (
          <button
            type="button"
            aria-label="Clear search"
            onClick={clear}
            className={cn(
              "absolute top-0 right-0 inline-flex w-11 items-center justify-center rounded-full text-ink-soft hover:text-ink",
              size === "md" ? "h-11" : "h-12",
            )}
          >
            <X className="size-4" />
          </button>
        )}
      </form>
    </search>
  );
}

/** Focuses the search box that is visible; a layout may have one for phones and one for wide screens. */
export function focusSearchBox(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>("[data-search-box]")) {
    if (box.offsetParent === null) continue;
    box.focus();
    box.select();
    return;
  }
}
