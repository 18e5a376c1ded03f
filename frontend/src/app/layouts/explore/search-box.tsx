import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";
import { exploreSearch, useExploreParams } from "@/app/routes/explore/explore-params";
import { cn } from "@/lib/cn";

/** Milliseconds without a letter before the search runs. */
const typingPause = 250;

/** Typing switches to the search section; clearing goes back to Explore. `/` puts the cursor here. */
export function SearchBox({ className }: { className?: string }) {
  const navigate = useNavigate();
  const { query, genders } = useExploreParams();
  const [draft, setDraft] = useState(query);
  const [known, setKnown] = useState(query);
  const timer = useRef<number>(undefined);

  // The address changed by other means (a link, the back button): it wins over the draft.
  if (known !== query) {
    setKnown(query);
    if (draft.trim() !== query) setDraft(query);
  }

  useEffect(() => () => window.clearTimeout(timer.current), []);

  function search(text: string) {
    window.clearTimeout(timer.current);
    const next = text.trim();
    if (next === query) return;
    // One history entry per search, not one per letter.
    navigate(`/${exploreSearch({ query: next, genders })}`, { replace: query !== "" });
  }

  function change(text: string) {
    setDraft(text);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => search(text), typingPause);
  }

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
          aria-label="Search outfits"
          aria-keyshortcuts="/"
          placeholder="Search outfits..."
          autoComplete="off"
          enterKeyHint="search"
          value={draft}
          onChange={(event) => change(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape") return;
            if (draft === "") event.currentTarget.blur();
            setDraft("");
            search("");
          }}
          className="h-11 w-full rounded-full border border-line bg-surface pr-11 pl-10 text-ink text-small transition-colors placeholder:text-ink-soft hover:border-line-strong focus:border-ink-soft max-md:text-body [&::-webkit-search-cancel-button]:hidden"
        />
        {draft !== "" && (
          <button
            type="button"
            aria-label="Clear search"
            onClick={() => {
              setDraft("");
              search("");
            }}
            className="absolute top-0 right-0 inline-flex size-11 items-center justify-center rounded-full text-ink-soft hover:text-ink"
          >
            <X className="size-4" />
          </button>
        )}
      </form>
    </search>
  );
}

/** Puts the cursor into the search box that is on screen. */
export function focusSearchBox(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>("[data-search-box]")) {
    if (box.offsetParent === null) continue;
    box.focus();
    box.select();
    return;
  }
}
