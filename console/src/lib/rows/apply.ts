import { type ApiError, isOutcomeUnknown } from "@/api/error";
import { type SentRequest, takeApplied } from "@/lib/rows/sent-request";
import { discard, type StagedChange, type StagedChanges } from "@/lib/rows/staged";
import type { StagedStore } from "@/lib/rows/staged-store";
import { type ApplyAnswer, applyChanges, type Conflict, settleRequest } from "@/lib/rows/types";

/** The result of applying changes: done, in conflict with changes of another person, or refused at one of the changes. */
export type ApplyOutcome =
  | { kind: "done"; count: number; answer: ApplyAnswer }
  | {
      kind: "conflict";
      conflicts: { staged: StagedChange; conflict: Conflict }[];
      /** Ids of the changes that were sent, which the retry sends again and no others. */
      batch: readonly string[];
    }
  | {
      kind: "refused";
      error: ApiError;
      staged: StagedChange | undefined;
      column: string | undefined;
    };

function readConflicts(error: ApiError, sent: StagedChanges): ApplyOutcome | null {
  const { conflicts } = error.body as { conflicts?: Conflict[] };
  if (!Array.isArray(conflicts)) return null;
  return {
    kind: "conflict",
    batch: sent.map(({ id }) => id),
    conflicts: conflicts.flatMap((conflict) => {
      const staged = sent[conflict.change];
      return staged === undefined ? [] : [{ staged, conflict }];
    }),
  };
}

function finishSent(store: StagedStore, sent: SentRequest, answer: ApplyAnswer): ApplyOutcome {
  store.finish((changes) => takeApplied(changes, sent.changes, answer.rows), answer.undo);
  store.sent.forget(sent.id);
  return { kind: "done", count: sent.changes.length, answer };
}

/**
 * Learns from the server what became of changes whose answer was lost. Returns how they ended where they were applied, and null
 * where they were not, or none are waiting. Throws when the server does not answer.
 */
export async function settleSent(store: StagedStore): Promise<ApplyOutcome | null> {
  const sent = store.sent.lost();
  if (sent === null) return null;
  const answer = await settleRequest(sent.id);
  if (answer.applied) return finishSent(store, sent, answer as ApplyAnswer);
  store.sent.forget(sent.id);
  return null;
}

/**
 * Sends staged changes, all of them or those of some ids. They are one transaction: either all are applied and leave the store, or nothing has
 * happened and all stay. Throws when it is unknown what happened, because no answer came; then `settleSent` comes before the next
 * attempt. Returns null when nothing is staged.
 */
export async function applyStaged(
  store: StagedStore,
  only?: readonly string[],
): Promise<ApplyOutcome | null> {
  const changes = store.current().filter(({ id }) => only === undefined || only.includes(id));
  if (changes.length === 0) return null;
  const sent: SentRequest = { id: crypto.randomUUID(), changes };
  store.sent.keep(sent);
  try {
    const answer = await applyChanges(
      changes.map(({ change }) => change),
      sent.id,
    );
    return finishSent(store, sent, answer);
  } catch (error) {
    if (isOutcomeUnknown(error)) {
      store.sent.lose(sent.id);
      throw error;
    }
    store.sent.forget(sent.id);
    return readRefusal(error as ApiError, changes);
  }
}

function readRefusal(error: ApiError, sent: StagedChanges): ApplyOutcome {
  const conflict = error.status === 409 ? readConflicts(error, sent) : null;
  if (conflict !== null) return conflict;
  const { change, column } = error.body as { change?: number; column?: string };
  return {
    kind: "refused",
    error,
    staged: change === undefined ? undefined : sent[change],
    column,
  };
}

export function discardOne(store: StagedStore, id: string): void {
  store.update((changes) => discard(changes, id));
}
