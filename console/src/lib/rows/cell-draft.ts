/** What is typed into a single cell outside of the grid. It stays while other cells are looked at, until it is staged or discarded. */
import { useState } from "react";
import type { Value } from "@/lib/rows/types";
import { askBeforeReload } from "@/lib/until-reload";

interface CellDraft {
  /** The value that was read when the edit began. */
  base: Value;
  value: Value;
}

const drafts = new Map<string, CellDraft>();
askBeforeReload(() => [...drafts.keys()]);
/** The oldest drafts beyond these are forgotten. */
const keptDrafts = 100;

function keep(identity: string, draft: CellDraft): void {
  drafts.delete(identity);
  drafts.set(identity, draft);
  const [oldest] = drafts.keys();
  if (drafts.size > keptDrafts && oldest !== undefined) drafts.delete(oldest);
}

/**
 * The draft of a cell, which `identity` names wholly: owner, table, column and key. `read` is the value as it was read last. The
 * component must have a React key with both, so that another cell begins anew.
 */
export function useCellDraft(identity: string, read: Value) {
  const [draft, setDraft] = useState<CellDraft>(
    () => drafts.get(identity) ?? { base: read, value: read },
  );
  function put(next: CellDraft): void {
    if (next.value === next.base) drafts.delete(identity);
    else keep(identity, next);
    setDraft(next);
  }
  return {
    value: draft.value,
    base: draft.base,
    isChanged: draft.value !== draft.base,
    /** Whether the value was read anew with another result since the edit began. */
    isOvertaken: draft.base !== read,
    change: (value: Value) => put({ ...draft, value }),
    /** Bases the edit on the value that was read last. */
    rebase: () => put({ ...draft, base: read }),
    /** Forgets what was typed. */
    discard: () => put({ base: read, value: read }),
    /** Ends the edit after it was staged. */
    forget: () => drafts.delete(identity),
  };
}
