/** The statements that were run in this browser: text, time, role and outcome. Results are never stored (CONSOLE-096). */
import { useSyncExternalStore } from "react";
import { localStore } from "@/lib/browser-storage";

export interface HistoryEntry {
  text: string;
  /** Time of the run in milliseconds since 1970. */
  at: number;
  subject: string;
  outcome: string;
  elapsedMs: number | null;
  /** Whether only the beginning of the text was kept. */
  isCut?: boolean;
}

const entryLimit = 200;
/** In characters. Longer texts, such as migrations and dumps, are cut, because one could fill the local storage. */
const textLimit = 20_000;
/** In characters, of all texts together: the room is shared with texts that are nowhere else. */
const totalLimit = 500_000;

const keyOf = (owner: string) => `console:${owner}:sql:history`;
const listeners = new Set<() => void>();
let cache: { raw: string; entries: readonly HistoryEntry[] } = { raw: "", entries: [] };

/** Newest first. */
export function listHistory(owner: string): readonly HistoryEntry[] {
  const raw = localStore.get(keyOf(owner)) ?? "[]";
  if (raw !== cache.raw) cache = { raw, entries: parseEntries(raw) };
  return cache.entries;
}

function parseEntries(raw: string): HistoryEntry[] {
  try {
    const entries: unknown = JSON.parse(raw);
    return Array.isArray(entries) ? entries.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is HistoryEntry {
  if (typeof value !== "object" || value === null) return false;
  const entry = value as Record<string, unknown>;
  return typeof entry.text === "string" && typeof entry.at === "number";
}

/** Adds an entry. A text that was run before moves to the top instead of being listed twice. */
export function addToHistory(owner: string, entry: HistoryEntry): void {
  const isCut = entry.text.length > textLimit;
  const kept = { ...entry, text: entry.text.slice(0, textLimit), ...(isCut && { isCut }) };
  const others = listHistory(owner).filter(({ text }) => text !== kept.text);
  let room = totalLimit;
  const entries = [kept, ...others].slice(0, entryLimit).filter(({ text }) => {
    room -= text.length;
    return room >= 0;
  });
  write(owner, entries);
}

export function clearHistory(owner: string): void {
  write(owner, []);
}

function write(owner: string, entries: readonly HistoryEntry[]): void {
  localStore.set(keyOf(owner), JSON.stringify(entries));
  for (const listener of listeners) listener();
}

export function useHistory(owner: string): readonly HistoryEntry[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => listHistory(owner),
  );
}

// Another window has run something.
window.addEventListener("storage", ({ key }) => {
  if (key === null || key.endsWith(":sql:history")) for (const listener of listeners) listener();
});
