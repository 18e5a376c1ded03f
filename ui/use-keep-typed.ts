/**
 * What is typed and not saved is not lost with a page: each step that would take its form away waits until somebody has been asked,
 * and the browser asks before the page is closed or loaded again. The router asks {@link askBeforeLeaving} at each step.
 */
import { useEffect, useRef } from "react";
// The router of a site that begins without forms learns by it how steps are held.
import "./held-steps";
import { guardText, type TypedText } from "./typed-forms";

/** Guards what is typed in a form, as long as there is something. */
export function useKeepTyped(typed: TypedText): void {
  const newest = useRef(typed);
  useEffect(() => {
    newest.current = typed;
  });
  const { isDirty } = typed;
  useEffect(() => {
    if (!isDirty) return undefined;
    const refuse = (event: BeforeUnloadEvent) => event.preventDefault();
    const stop = guardText(newest);
    window.addEventListener("beforeunload", refuse);
    return () => {
      stop();
      window.removeEventListener("beforeunload", refuse);
    };
  }, [isDirty]);
}
