import { isComposing, keyName } from "@ui/keys";
import { useEffect, useRef, useSyncExternalStore } from "react";

/**
 * Keyboard shortcuts of the whole console. `keys` is one press (`/`, `mod+enter`, `shift+f10`) or two after another (`g t`); `mod`
 * is the command key on a Mac and the control key elsewhere. The latest registration of a key wins, so that a panel can take over
 * a key of the screen below.
 */
export interface Shortcut {
  keys: string;
  /** The description in the list of shortcuts; without one the shortcut is not listed. */
  label?: string;
  /** Heading of the shortcut's group in the list of keys. */
  group?: string;
  run: (event: KeyboardEvent) => void;
  /** Whether it also works while a text field has the focus. By default only presses with `mod` do. */
  inFields?: boolean;
  /** Whether it also works while a dialog is open. */
  inDialogs?: boolean;
}

let shortcuts: readonly Shortcut[] = [];
const listeners = new Set<() => void>();
/** First press of a shortcut of two, and when it came. */
let pending: { key: string; at: number } | null = null;
const secondPressWithinMs = 1500;

export const isMac = /mac|iphone|ipad/i.test(navigator.platform);

function publish(next: readonly Shortcut[]): void {
  shortcuts = next;
  for (const listener of listeners) listener();
}

/** The press as shortcuts name it, for example `mod+shift+z`. */
export function keyOf(event: {
  key: string;
  code?: string;
  metaKey: boolean;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}): string {
  const names: Record<string, string> = {
    Escape: "esc",
    " ": "space",
    ArrowUp: "up",
    ArrowDown: "down",
    ArrowLeft: "left",
    ArrowRight: "right",
  };
  const key = names[event.key] ?? keyName(event).toLowerCase();
  const isMod = isMac ? event.metaKey : event.ctrlKey;
  // The shift key is part of signs such as `?`, so it is named only where it changes nothing else.
  const isShift = event.shiftKey && (key.length > 1 || /^[a-z]$/.test(key));
  return [isMod && "mod", event.altKey && "alt", isShift && "shift", key].filter(Boolean).join("+");
}

/** Whether the target of a key press takes text, so that a shortcut must not take the letter away. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select") !== null)
  );
}

function isAllowed(shortcut: Shortcut, event: KeyboardEvent): boolean {
  const isInDialog = document.querySelector('[role="dialog"], [role="alertdialog"]') !== null;
  if (isInDialog && shortcut.inDialogs !== true) return false;
  return !isTyping(event.target) || shortcut.inFields === true || shortcut.keys.startsWith("mod+");
}

function handle(event: KeyboardEvent): void {
  if (event.defaultPrevented || isComposing(event)) return;
  const key = keyOf(event);
  const now = Date.now();
  const first = pending !== null && now - pending.at < secondPressWithinMs ? pending.key : null;
  pending = null;
  const find = (keys: string) =>
    shortcuts.findLast((shortcut) => shortcut.keys === keys && isAllowed(shortcut, event));
  const found = (first === null ? undefined : find(`${first} ${key}`)) ?? find(key);
  if (found !== undefined) {
    event.preventDefault();
    found.run(event);
    return;
  }
  const starts = shortcuts.some(
    (shortcut) => shortcut.keys.startsWith(`${key} `) && isAllowed(shortcut, event),
  );
  if (starts) pending = { key, at: now };
}

document.addEventListener("keydown", handle);

export function registerShortcut(shortcut: Shortcut): () => void {
  publish([...shortcuts, shortcut]);
  return () => publish(shortcuts.filter((other) => other !== shortcut));
}

/** Registers a shortcut while the component is shown. `run` may be a new function at every render. */
export function useShortcut(shortcut: Shortcut, isEnabled = true): void {
  const run = useRef(shortcut.run);
  useEffect(() => {
    run.current = shortcut.run;
  });
  const { keys, label, group, inFields = false, inDialogs = false } = shortcut;
  useEffect(() => {
    if (!isEnabled) return undefined;
    return registerShortcut({
      keys,
      inFields,
      inDialogs,
      ...(label !== undefined && { label }),
      ...(group !== undefined && { group }),
      run: (event) => run.current(event),
    });
  }, [keys, label, group, inFields, inDialogs, isEnabled]);
}

/** The shortcuts that work at the moment, for the list of keys. */
export function useShortcuts(): readonly Shortcut[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shortcuts,
  );
}

/** The keys as people know them, for example `⌘ K` or `Ctrl K`, one entry per key cap. */
export function keyCaps(keys: string): string[] {
  const caps: Record<string, string> = {
    mod: isMac ? "⌘" : "Ctrl",
    alt: isMac ? "⌥" : "Alt",
    shift: "⇧",
    enter: "↵",
    esc: "Esc",
    space: "Space",
    up: "↑",
    down: "↓",
    left: "←",
    right: "→",
    backspace: "⌫",
  };
  return keys.split(/[ +]/).map((key) => caps[key] ?? (key.length === 1 ? key.toUpperCase() : key));
}
