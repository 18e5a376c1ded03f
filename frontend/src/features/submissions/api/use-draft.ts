import { useCallback, useEffect, useRef, useState } from "react";
import {
  type Draft,
  emptyDraft,
  onDraftStored,
  type PickedItem,
  readDraft,
  removeDraft,
  storeDraft,
} from "./draft";
import { listPickedItems } from "./get-submission";

interface DraftState {
  draft: Draft;
  change: (change: Partial<Draft>) => void;
  /** Forgets the draft, after it was submitted or to begin again. */
  clear: () => void;
  /** Names of stored items that have left the catalogue since and were taken out. */
  lostItems: readonly string[];
}

/**
 * The draft of this person, stored with every change so that a reload, a crash or signing in again loses nothing. An edit begins
 * with `initial`.
 */
export function useDraft(
  userId: string,
  outfitId: string | null,
  initial: Draft | null = null,
): DraftState {
  const [draft, setDraft] = useState(() => readDraft(userId, outfitId) ?? initial ?? emptyDraft());
  const [lostItems, setLostItems] = useState<readonly string[]>([]);
  const stored = useRef(draft);

  const change = useCallback(
    (changed: Partial<Draft>) => {
      stored.current = { ...stored.current, ...changed };
      storeDraft(userId, outfitId, stored.current);
      setDraft(stored.current);
    },
    [userId, outfitId],
  );

  const clear = useCallback(() => {
    removeDraft(userId, outfitId);
    stored.current = initial ?? emptyDraft();
    setDraft(stored.current);
  }, [userId, outfitId, initial]);

  // Tabs that are open beside each other show the same draft: without that, the second one would submit what the first has.
  useEffect(
    () =>
      onDraftStored(userId, outfitId, () => {
        stored.current = readDraft(userId, outfitId) ?? initial ?? emptyDraft();
        setDraft(stored.current);
      }),
    [userId, outfitId, initial],
  );

  // A draft may be weeks old: its items may have changed names and prices, or been deleted.
  useEffect(() => {
    let isOver = false;
    const before = stored.current.items;
    listPickedItems(before.map(({ id }) => id))
      .then((found) => {
        if (isOver || before.length === 0) return;
        const byId = new Map<string, PickedItem>(found.map((item) => [item.id, item]));
        const lost = before.filter(({ id }) => !byId.has(id));
        const lostIds = new Set(lost.map(({ id }) => id));
        change({
          items: stored.current.items
            .filter(({ id }) => !lostIds.has(id))
            .map((item) => byId.get(item.id) ?? item),
        });
        setLostItems(lost.map(({ name }) => name));
      })
      // Without an answer the stored items stay; the database checks them when the outfit is submitted.
      .catch(() => undefined);
    return () => {
      isOver = true;
    };
  }, [change]);

  return { draft, change, clear, lostItems };
}
