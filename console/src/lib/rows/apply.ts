import { ApiError } from "@/api/error";
import { discard, type StagedChange, type StagedChanges } from "@/lib/rows/staged";
import type { StagedStore } from "@/lib/rows/staged-store";
import { type ApplyAnswer, applyChanges, type Conflict } from "@/lib/rows/types";

/** The result of applying changes: done, in conflict with changes of another person, or refused at one of the changes. */
export type ApplyOutcome =
  | { kind: "done"; count: number; answer: ApplyAnswer }
  | { kind: "conflict"; conflicts: { staged: StagedChange; conflict: Conflict }[] }
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
    conflicts: conflicts.flatMap((conflict) => {
      const staged = sent[conflict.change];
      return staged === undefined ? [] : [{ staged, conflict }];
    }),
  };
}

/**
 * Sends staged changes, all of them or one. They are one transaction: either all are applied and leave the store, or nothing has
 * happened and all stay. Throws when it is unknown what happened, because no answer came.
 */
export async function applyStaged(store: StagedStore, only?: string): Promise<ApplyOutcome> {
  const sent = store.current().filter(({ id }) => only === undefined || id === only);
  try {
    const answer = await applyChanges(sent.map(({ change }) => change));
    const applied = new Set(sent.map(({ id }) => id));
    store.update((changes) => changes.filter(({ id }) => !applied.has(id)));
    store.remember(answer.undo);
    return { kind: "done", count: sent.length, answer };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 0) throw error;
    if (error.status === 409) {
      const outcome = readConflicts(error, sent);
      if (outcome !== null) return outcome;
    }
    const { change, column } = error.body as { change?: number; column?: string };
    return {
      kind: "refused",
      error,
      staged: change === undefined ? undefined : sent[change],
      column,
    };
  }
}

export function discardOne(store: StagedStore, id: string): void {
  store.update((changes) => discard(changes, id));
}
