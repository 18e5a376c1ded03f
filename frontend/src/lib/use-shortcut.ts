import { isComposing, keyName } from "@ui/keys";
import { useLayoutEffect } from "react";

/** Calls `onPress` when a key is pressed alone, outside of text fields and dialogs. */
export function useShortcut(key: string, onPress: () => void): void {
  // Not after the paint, because a user who sees the page may press the key immediately.
  useLayoutEffect(() => {
    function handle(event: KeyboardEvent) {
      if (
        event.defaultPrevented ||
        isComposing(event) ||
        keyName(event) !== key ||
        event.metaKey ||
        event.ctrlKey ||
        event.altKey
      )
        return;
      const isInDialog = document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
      if (isTyping(event.target) || isInDialog) return;
      event.preventDefault();
      onPress();
    }
    document.addEventListener("keydown", handle);
    return () => document.removeEventListener("keydown", handle);
  }, [key, onPress]);
}

/** Whether the target of a key press takes text, so that a shortcut must not take the letter away. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select") !== null)
  );
}
