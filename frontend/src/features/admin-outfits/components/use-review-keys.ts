import { isComposing, keyName } from "@ui/keys";
import { useEffect, useEffectEvent } from "react";
import { isTyping } from "@/lib/use-shortcut";

/** Calls the function of a key that is pressed alone while the panel is open and nothing else is asked. */
export function useReviewKeys(isActive: boolean, keys: Readonly<Record<string, () => void>>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const isModified = event.metaKey || event.ctrlKey || event.altKey;
    // A key that is held down must not decide about the outfits that follow.
    if (event.defaultPrevented || event.repeat || isModified || isComposing(event)) return;
    const isAsked = document.querySelector('[role="alertdialog"]') !== null;
    if (isAsked || isTyping(event.target)) return;
    const action = keys[keyName(event)];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  useEffect(() => {
    if (!isActive) return;
    const listen = (event: KeyboardEvent) => press(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, [isActive]);
}
