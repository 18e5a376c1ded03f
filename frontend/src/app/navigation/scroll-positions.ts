// Scroll positions of the history's entries. The browser restores them too early, while the next page is not rendered yet.

import type { Location } from "react-router";
import { sessionStore } from "@/lib/browser-storage";

/** Name under which the positions outlive a reload of the page. */
const storageName = "lookbook:scroll-positions";

/** Says which entries of the history share a position. */
export type ScrollKey = (location: Location) => string;

let positions: Record<string, number> | null = null;

function readPositions(): Record<string, number> {
  if (positions === null) {
    try {
      positions = JSON.parse(sessionStore.get(storageName) ?? "{}") as Record<string, number>;
    } catch {
      positions = {};
    }
  }
  return positions;
}

/** Notes how far the page is scrolled. */
export function rememberScroll(key: string): void {
  readPositions()[key] = window.scrollY;
}

/** Writes the positions where the page finds them after a reload. */
export function storeScroll(): void {
  sessionStore.set(storageName, JSON.stringify(readPositions()));
}

/** Scrolls to the noted position, else to the element that the address names, else to the top unless the reader stays. */
export function restoreScroll(key: string, { hash }: Location, staysInPlace: boolean): void {
  const position = readPositions()[key];
  if (position !== undefined) {
    window.scrollTo(0, position);
    return;
  }
  const target = hash === "" ? null : document.getElementById(decodeFragment(hash));
  if (target !== null) target.scrollIntoView();
  else if (!staysInPlace) window.scrollTo(0, 0);
}

function decodeFragment(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return hash.slice(1);
  }
}
