import { useShortcut } from "@/lib/use-shortcut";

/** Calls `onSlash` when `/` is pressed outside of text fields and dialogs: the usual shortcut to the search box. */
export function useSlashKey(onSlash: () => void): void {
  useShortcut("/", onSlash);
}
