import { useEffect, useRef } from "react";

/** The place of an entry in the history, as React Router notes it. */
function placeOf(state: unknown): number {
  return typeof state === "object" &&
    state !== null &&
    "idx" in state &&
    typeof state.idx === "number"
    ? state.idx
    : 0;
}

/**
 * While something typed is not saved, the browser asks before the page is closed or loaded again, and Back (also as a gesture on
 * phones) stays here and calls `ask`.
 */
export function useKeepTyped(isDirty: boolean, ask: () => void): void {
  const newest = useRef(ask);
  useEffect(() => {
    newest.current = ask;
  });
  useEffect(() => {
    if (!isDirty) return;
    const here = placeOf(window.history.state);
    let isReturning = false;

    function handleUnload(event: BeforeUnloadEvent) {
      event.preventDefault();
    }

    function handlePop(event: PopStateEvent) {
      // Before the router hears of it: the page must not change.
      event.stopImmediatePropagation();
      if (isReturning) {
        isReturning = false;
        newest.current();
        return;
      }
      const back = here - placeOf(event.state);
      if (back === 0) return;
      isReturning = true;
      window.history.go(back);
    }

    window.addEventListener("beforeunload", handleUnload);
    window.addEventListener("popstate", handlePop, { capture: true });
    return () => {
      window.removeEventListener("beforeunload", handleUnload);
      window.removeEventListener("popstate", handlePop, { capture: true });
    };
  }, [isDirty]);
}
