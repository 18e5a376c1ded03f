/**
 * Tabs, texts and history that earlier versions have kept under a name without the account. They become those of the first owner who
 * opens the editor.
 */
import { localStore } from "@/lib/browser-storage";

function readArray(key: string): unknown[] {
  try {
    const list: unknown = JSON.parse(localStore.get(key) ?? "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

const idOf = (tab: unknown): string | null =>
  typeof tab === "object" && tab !== null && "id" in tab && typeof tab.id === "string"
    ? tab.id
    : null;

/** Moves a value to another key. Returns false when there is no room; then it stays. */
function move(from: string, to: string): boolean {
  const value = localStore.get(from);
  if (value === null) return true;
  if (!localStore.set(to, value)) return false;
  localStore.remove(from);
  return true;
}

function moveTabs(from: string, to: string): void {
  const tabs = readArray(`${from}:tabs`).filter((tab) => idOf(tab) !== null);
  if (tabs.length === 0) return;
  const moved = tabs.filter((tab) => move(`${from}:text:${idOf(tab)}`, `${to}:text:${idOf(tab)}`));
  const known = new Set(readArray(`${to}:tabs`).map(idOf));
  const added = moved.filter((tab) => !known.has(idOf(tab)));
  localStore.set(`${to}:tabs`, JSON.stringify([...readArray(`${to}:tabs`), ...added]));
  const left = tabs.filter((tab) => !moved.includes(tab));
  if (left.length === 0) localStore.remove(`${from}:tabs`);
  else localStore.set(`${from}:tabs`, JSON.stringify(left));
}

export function takeOverEarlierTabs(owner: string, earlier: readonly string[]): void {
  const to = `console:${owner}:sql`;
  for (const name of earlier) {
    const from = `console:${name}:sql`;
    if (from === to) continue;
    moveTabs(from, to);
    for (const part of ["closed", "history"]) {
      if (localStore.get(`${to}:${part}`) === null) move(`${from}:${part}`, `${to}:${part}`);
    }
  }
}
