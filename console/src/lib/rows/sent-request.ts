/**
 * The request by which staged changes were sent, kept until its answer has come. Without one it is unknown whether they were
 * applied; the server knows, by the request's id.
 */
import { localStore } from "@/lib/browser-storage";
import type { StagedChange, StagedChanges } from "@/lib/rows/staged";
import type { ApplyAnswer, Change, Values } from "@/lib/rows/types";

export interface SentRequest {
  id: string;
  changes: StagedChanges;
}

export interface SentRequestStore {
  /** The request whose answer is lost; null while this tab still waits for it. */
  lost: () => SentRequest | null;
  keep: (request: SentRequest) => void;
  /** Records that no answer will come any more. */
  lose: (id: string) => void;
  /** Forgets the request, unless another tab has sent one since. */
  forget: (id: string) => void;
}

function isSentRequest(value: unknown): value is SentRequest {
  return (
    typeof value === "object" &&
    value !== null &&
    "id" in value &&
    "changes" in value &&
    Array.isArray(value.changes)
  );
}

function readStored(key: string): SentRequest | null {
  try {
    const value: unknown = JSON.parse(localStore.get(key) ?? "null");
    return isSentRequest(value) ? value : null;
  } catch {
    return null;
  }
}

export const sentPrefix = "console:sent:";

/** Keeps the request in this browser's storage; in memory where that is full or forbidden. */
export function openSentRequestStore(owner: string): SentRequestStore {
  const key = sentPrefix + owner;
  let inMemory: SentRequest | null = null;
  let awaited: string | null = null;
  const current = (): SentRequest | null => inMemory ?? readStored(key);
  return {
    lost() {
      const request = current();
      return request?.id === awaited ? null : request;
    },
    keep(request) {
      awaited = request.id;
      inMemory = localStore.set(key, JSON.stringify(request)) ? null : request;
    },
    lose(id) {
      if (awaited === id) awaited = null;
    },
    forget(id) {
      this.lose(id);
      if (current()?.id !== id) return;
      inMemory = null;
      localStore.remove(key);
    },
  };
}

/**
 * Takes out what was applied. A change that was edited after it had been sent becomes a change of the row that is there now, because
 * an edited insert would make a second row.
 */
export function takeApplied(
  changes: StagedChanges,
  sent: StagedChanges,
  rows: ApplyAnswer["rows"],
): StagedChanges {
  return changes.flatMap((staged): StagedChange[] => {
    const index = sent.findIndex(({ id }) => id === staged.id);
    const before = sent[index]?.change;
    if (before === undefined) return [staged];
    if (JSON.stringify(before) === JSON.stringify(staged.change)) return [];
    const change = editSince(before, staged.change, rows[index]);
    return change === null ? [] : [{ ...staged, change }];
  });
}

/** The part of a change that was made after it had been sent. The change itself where the row is not known. */
function editSince(before: Change, now: Change, row: ApplyAnswer["rows"][number] = null) {
  const isEdit = (change: Change) => change.kind === "insert" || change.kind === "update";
  if (!isEdit(before) || !isEdit(now) || row === null) return now;
  const values: Values = Object.fromEntries(
    Object.entries(now.values).filter(
      ([column, cell]) => JSON.stringify(cell) !== JSON.stringify(before.values[column]),
    ),
  );
  if (Object.keys(values).length === 0) return null;
  const base = Object.fromEntries(
    Object.keys(values).map((column) => [column, row.values[column] ?? null]),
  );
  return { kind: "update", table: now.table, row: row.id, base, values } satisfies Change;
}
