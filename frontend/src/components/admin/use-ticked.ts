import { useCallback, useState } from "react";

export interface Ticked<Row> {
  rows: readonly Row[];
  has: (id: string) => boolean;
  toggle: (row: Row) => void;
  /** Ticks all of these rows, or none of them where all are ticked. */
  toggleAll: (rows: readonly Row[]) => void;
  clear: () => void;
}

/** Rows that are ticked for a common action. They stay ticked on other pages, and while others are searched. */
export function useTicked<Row extends { id: string }>(): Ticked<Row> {
  const [ticked, setTicked] = useState<ReadonlyMap<string, Row>>(new Map());
  const toggle = useCallback((row: Row) => {
    setTicked((before) => {
      const next = new Map(before);
      if (!next.delete(row.id)) next.set(row.id, row);
      return next;
    });
  }, []);
  const toggleAll = useCallback((rows: readonly Row[]) => {
    setTicked((before) => {
      const next = new Map(before);
      const areAll = rows.every(({ id }) => next.has(id));
      for (const row of rows) {
        if (areAll) next.delete(row.id);
        else next.set(row.id, row);
      }
      return next;
    });
  }, []);
  return {
    rows: [...ticked.values()],
    has: (id) => ticked.has(id),
    toggle,
    toggleAll,
    clear: useCallback(() => setTicked(new Map()), []),
  };
}
