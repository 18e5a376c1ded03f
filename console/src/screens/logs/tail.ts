/** The live tail: entries arrive faster than anybody reads, so they are collected and added together. */
import type { LogEntry } from "./log-entry";

/** Entries that a tail keeps. Older ones can be found by the search. */
export const tailCapacity = 5000;

export interface Tail {
  /** Newest first. */
  entries: LogEntry[];
  /** Entries that the server left out because the browser read too slowly. */
  skipped: number;
  /** Entries that arrived while the list was held still by the reader. */
  waiting: LogEntry[];
}

export const emptyTail: Tail = { entries: [], skipped: 0, waiting: [] };

/** One line of `GET /api/logs/tail`: an entry, or a number of skipped ones. */
export type TailLine = LogEntry | { skipped: number };

/** Whether a value of the stream is a line of the tail; anything else is left out rather than ending it. */
export function isTailEntry(value: unknown): value is TailLine {
  if (typeof value !== "object" || value === null) return false;
  if ("skipped" in value) return typeof value.skipped === "number";
  return "id" in value && "time" in value;
}

/**
 * Adds lines in the order of their arrival. A held tail collects entries apart, so that the list does not move away under the
 * pointer of someone who reads.
 */
export function addToTail(tail: Tail, lines: readonly TailLine[], held: boolean): Tail {
  const fresh: LogEntry[] = [];
  let skipped = tail.skipped;
  for (const line of lines) {
    if ("skipped" in line) skipped += line.skipped;
    else fresh.push(line);
  }
  fresh.reverse();
  if (held) {
    const waiting = [...fresh, ...tail.waiting].slice(0, tailCapacity);
    return { ...tail, skipped, waiting };
  }
  const entries = [...fresh, ...tail.waiting, ...tail.entries].slice(0, tailCapacity);
  return { entries, skipped, waiting: [] };
}
