import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import type { ApiError } from "@/api/error";
import { storeOf, useSession } from "@/api/session";
import { runExclusively } from "@/lib/exclusive";
import { plural } from "@/lib/format";
import { type ApplyOutcome, applyStaged, settleSent } from "@/lib/rows/apply";
import { stagedStoreOf } from "@/lib/rows/left-overs";
import { type StagedChange, type StagedChanges, stageAll } from "@/lib/rows/staged";
import { useStagedChanges } from "@/lib/rows/staged-store";
import type { Conflict } from "@/lib/rows/types";
import { toast } from "@/lib/toast";

export interface Refusal {
  error: ApiError;
  staged: StagedChange | undefined;
  column: string | undefined;
}

interface OpenConflicts {
  conflicts: readonly { staged: StagedChange; conflict: Conflict }[];
  /** Ids of the changes that were sent together. */
  batch: readonly string[];
}

const noConflicts: OpenConflicts = { conflicts: [], batch: [] };

/** The staged changes of this project, and what becomes of them. */
export function useStaging() {
  const session = useSession();
  const owner = storeOf(session);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a session that was read anew keeps the store of its owner.
  const store = useMemo(() => stagedStoreOf(session), [owner]);
  const changes = useStagedChanges(store);
  const client = useQueryClient();
  const [conflicts, setConflicts] = useState<OpenConflicts>(noConflicts);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  function undoApplied(): void {
    const inverse = store.takeRemembered();
    if (inverse === undefined) {
      toast({ title: "There is nothing to undo" });
      return;
    }
    store.update((before) => stageAll(before, inverse));
    toast({
      title: "The inverse is staged",
      description: "Apply it to undo. What triggers, cascades and sequences did stays.",
    });
  }
  function announce(outcome: ApplyOutcome | null, title: (changes: string) => string): void {
    if (outcome?.kind !== "done") return;
    void client.invalidateQueries({ queryKey: ["rows"] });
    void client.invalidateQueries({ queryKey: ["reference"] });
    const { notes } = outcome.answer;
    toast({
      title: title(plural(outcome.count, "change")),
      ...(notes.length > 0 && { description: notes.join(" ") }),
      tone: "success",
      action: { label: "Undo", run: undoApplied },
    });
  }
  async function settle(): Promise<void> {
    const outcome = await settleSent(store);
    announce(outcome, (changes) => `${changes} had been applied before the answer was lost`);
  }
  /** One tab at a time: to another one, a request that this tab waits for would look like a lost one. */
  const exclusively = <T>(run: () => Promise<T>): Promise<T> =>
    runExclusively(`console:apply:${owner}`, run);
  const settleAtStart = useEffectEvent(() => {
    // Whoever applies next settles it, too, and then sees why that fails.
    exclusively(settle).catch(() => undefined);
  });
  useEffect(() => settleAtStart(), []);
  function finish(outcome: ApplyOutcome | null): void {
    setConflicts(outcome?.kind === "conflict" ? outcome : noConflicts);
    setRefusal(outcome?.kind === "refused" ? outcome : null);
    announce(outcome, (changes) => `${changes} applied`);
  }
  const apply = useMutation({
    mutationFn: (only?: readonly string[]) =>
      exclusively(async () => {
        await settle();
        store.refresh();
        return applyStaged(store, only);
      }),
    onSuccess: finish,
    onMutate: () => setRefusal(null),
  });
  return {
    store,
    changes,
    apply,
    conflicts: conflicts.conflicts,
    closeConflicts: () => setConflicts(noConflicts),
    /** Stages anew what was decided about the conflicts, and applies the batch again that had met them. */
    resolve: (decide: (before: StagedChanges) => StagedChanges) => {
      store.update(decide);
      setConflicts(noConflicts);
      const left = new Set(store.current().map(({ id }) => id));
      const batch = conflicts.batch.filter((id) => left.has(id));
      if (batch.length > 0) apply.mutate(batch);
    },
    /** Applies again what was sent last, and nothing that was staged beside it. */
    retry: () => apply.mutate(apply.variables),
    refusal,
    /** Discards everything that is staged, which can be taken back. */
    discardAll: () => {
      const count = changes.length;
      store.update(() => []);
      // What was refused is gone, so its error must not stand beside the next change.
      setRefusal(null);
      apply.reset();
      toast({
        title: `${plural(count, "staged change")} discarded`,
        action: { label: "Undo", run: () => void store.undo() },
      });
    },
    /** Undoes the last step of staging; without one, stages the inverse of what was applied last. */
    undo: () => {
      if (!store.undo()) undoApplied();
    },
  };
}

export type Staging = ReturnType<typeof useStaging>;
