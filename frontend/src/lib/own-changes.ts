import { localStore } from "@/lib/browser-storage";

const key = "lookbook:changed-at";

/** Milliseconds for which the server keeps a page, with some more for clocks and slow requests. */
const pageLifeMs = 90_000;

/** Notes that this person has changed something: pages that the server has kept do not show it yet. */
export function noteOwnChange(): void {
  localStore.set(key, `${Date.now()}`);
}

/** Whether rows that come with a page may be older than what this person has changed. */
export function mayPageBeOld(now = Date.now()): boolean {
  const changed = Number(localStore.get(key) ?? Number.NaN);
  return now - changed < pageLifeMs;
}
