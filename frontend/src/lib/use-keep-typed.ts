import { useEffect, useRef } from "react";
import { guardLeaving } from "@/lib/leave-guard";

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

    const stopGuarding = guardLeaving(() => {
      if (isReturning) {
        isReturning = false;
        newest.current();
        return true;
      }
      const back = here - placeOf(window.history.state);
      if (back === 0) return false;
      isReturning = true;
      window.history.go(back);
      return true;
    });
    window.addEventListener("beforeunload", handleUnload);
    return () => {
      window.removeEventListener("beforeunload", handleUnload);
      stopGuarding();
    };
  }, [isDirty]);
}
