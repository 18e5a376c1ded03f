import { useEffect } from "react";

/** Calls `onSlash` when `/` is pressed outside of text fields and dialogs: the usual shortcut to the search box. */
export function useSlashKey(onSlash: () => void): void {
  useEffect(() => {
    function handle(event: KeyboardEvent) {
      if (event.key !== "/" || event.metaKey || event.ctrlKey || event.altKey) return;
      if (isTyping(event.target) || document.querySelector('[role="dialog"]') !== null) return;
      event.preventDefault();
      onSlash();
    }
    document.addEventListener("keydown", handle);
    return () => document.removeEventListener("keydown", handle);
  }, [onSlash]);
}

/** Whether the target of a key press takes text, so that a shortcut must not take the letter away. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select") !== null)
  );
}
