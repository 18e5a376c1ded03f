import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useMemo, useState } from "react";
import type { ApiError } from "@/api/error";
import { useSession } from "@/api/session";
import { plural } from "@/lib/format";
import { type ApplyOutcome, applyStaged, settleSent } from "@/lib/rows/apply";
import { type StagedChange, stageAll } from "@/lib/rows/staged";
import { stagedStore, useStagedChanges } from "@/lib/rows/staged-store";
import type { Conflict } from "@/lib/rows/types";
import { toast } from "@/lib/toast";

export interface Refusal {
  error: ApiError;
  staged: StagedChange | undefined;
  column: string | undefined;
}

/** The staged changes of this project, and what becomes of them. */
export function useStaging() {
  const { project } = useSession();
  const store = useMemo(() => stagedStore(project.name), [project.name]);
  const changes = useStagedChanges(store);
  const client = useQueryClient();
  const [conflicts, setConflicts] = useState<{ staged: StagedChange; conflict: Conflict }[]>([]);
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
  const settleAtStart = useEffectEvent(() => {
    // Whoever applies next settles it, too, and then sees why that fails.
    settle().catch(() => undefined);
  });
  useEffect(() => settleAtStart(), []);
  function finish(outcome: ApplyOutcome | null): void {
    setConflicts(outcome?.kind === "conflict" ? outcome.conflicts : []);
    setRefusal(outcome?.kind === "refused" ? outcome : null);
    announce(outcome, (changes) => `${changes} applied`);
  }
  const apply = useMutation({
    mutationFn: async (only?: string) => {
      await settle();
      return applyStaged(store, only);
    },
    onSuccess: finish,
    onMutate: () => setRefusal(null),
  });
  return {
    store,
    changes,
    apply,
    conflicts,
    closeConflicts: () => setConflicts([]),
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
