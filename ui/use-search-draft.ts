import { useEffect, useLayoutEffect, useRef, useState } from "react";

interface SearchDraftOptions {
  /** The search of the address. A change that is not the answer to an own search replaces what was typed. */
  query: string;
  /** Called with the trimmed text after a pause in typing, or at once. */
  onSearch: (text: string) => void;
  /** Milliseconds without a keystroke before a search; none searches only when it is asked to. */
  pauseMs: number | undefined;
  /** Calls the function, later if a change of the page would be in the way now. Without it a search begins when the pause ends. */
  hold?: (act: () => void) => void;
}

const callNow = (act: () => void) => act();

/** Own searches whose answer is waited for; the address may skip some of them. */
const mostPending = 20;
/**
 * For this time after the address has the newest search, older ones are still waited for. Those that never come, because the page
 * of a newer one was drawn in their place, must not be taken for the answer when a link or the back button leads there later.
 */
const settleMs = 1000;

/**
 * The text of a search field. The address follows with a delay, and what was typed after a search was sent is never replaced by that
 * search when it arrives.
 */
export function useSearchDraft({ query, onSearch, pauseMs, hold = callNow }: SearchDraftOptions) {
  const [draft, setDraft] = useState(query);
  const [known, setKnown] = useState(query);
  const [pending, setPending] = useState<readonly string[]>([]);
  const timer = useRef<number>(undefined);
  const newest = useRef({ query, onSearch, draft, pending });

  if (known !== query) {
    setKnown(query);
    const own = pending.indexOf(query);
    setPending(pending.slice(own < 0 ? pending.length : own + 1));
    // A link or the back button has changed the address.
    if (own < 0 && draft.trim() !== query) setDraft(query);
  }
  useLayoutEffect(() => {
    newest.current = { query, onSearch, draft, pending };
  });
  useLayoutEffect(
    () => () => {
      window.clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  const isSettled = pending.length > 0 && pending.at(-1) === query;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each search, and each change of the address, begins the wait anew.
  useEffect(() => {
    if (!isSettled) return;
    const settling = window.setTimeout(() => setPending([]), settleMs);
    return () => window.clearTimeout(settling);
  }, [isSettled, pending, query]);
  useEffect(() => {
    // The back button leads to an address that no search of this field has asked for just now.
    function forget(): void {
      newest.current.pending = [];
      setPending([]);
    }
    window.addEventListener("popstate", forget);
    return () => window.removeEventListener("popstate", forget);
  }, []);

  function search(text: string): void {
    window.clearTimeout(timer.current);
    const next = text.trim();
    const { current } = newest;
    if (next === (current.pending.at(-1) ?? current.query)) return;
    current.pending = [...current.pending, next].slice(-mostPending);
    setPending(current.pending);
    current.onSearch(next);
  }
  function change(text: string): void {
    setDraft(text);
    newest.current.draft = text;
    window.clearTimeout(timer.current);
    if (pauseMs === undefined) return;
    const { pathname } = window.location;
    const ended = window.setTimeout(() => {
      hold(() => {
        // The field is gone, or something else was typed while the search was held.
        if (timer.current !== ended) return;
        // A link leads to another page, which the search would take away again; or the address has replaced the text.
        const isLeft = window.location.pathname !== pathname;
        if (!isLeft && newest.current.draft === text) search(text);
      });
    }, pauseMs);
    timer.current = ended;
  }
  return {
    draft,
    change,
    /** Searches for the text now. */
    search,
    clear(): void {
      setDraft("");
      newest.current.draft = "";
      search("");
    },
  };
}
