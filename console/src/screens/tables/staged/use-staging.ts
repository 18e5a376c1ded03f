import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import type { ApiError } from "@/api/error";
import { useSession } from "@/api/session";
import { plural } from "@/lib/format";
import { type ApplyOutcome, applyStaged } from "@/lib/rows/apply";
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
  function finish(outcome: ApplyOutcome): void {
    setConflicts(outcome.kind === "conflict" ? outcome.conflicts : []);
    setRefusal(outcome.kind === "refused" ? outcome : null);
    if (outcome.kind !== "done") return;
    void client.invalidateQueries({ queryKey: ["rows"] });
    void client.invalidateQueries({ queryKey: ["reference"] });
    const { notes } = outcome.answer;
    toast({
      title: `${plural(outcome.count, "change")} applied`,
      ...(notes.length > 0 && { description: notes.join(" ") }),
      tone: "success",
      action: { label: "Undo", run: undoApplied },
    });
  }
  const apply = useMutation({
    mutationFn: (only?: string) => applyStaged(store, only),
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
    dismissRefusal: () => {
      setRefusal(null);
      apply.reset();
    },
    /** Undoes the last step of staging; without one, stages the inverse of what was applied last. */
    undo: () => {
      if (!store.undo()) undoApplied();
    },
  };
}

export type Staging = ReturnType<typeof useStaging>;
