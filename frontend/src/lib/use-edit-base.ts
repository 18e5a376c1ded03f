import { useRef, useState } from "react";
import { OvertakenError } from "@/lib/save-changes";

/**
 * What was saved when an edit began. It stays when lists are read anew; what an OvertakenError has told is the base of the next
 * attempt, which replaces it.
 */
export function useEditBase<Values extends object>(initial: Values | null) {
  const base = useRef(initial);
  const [controls] = useState(() => ({
    read: (): Values | null => base.current,
    /** Takes over what an attempt to save has found. */
    learn(error: unknown): void {
      if (!(error instanceof OvertakenError) || base.current === null) return;
      base.current = { ...base.current, ...error.theirs };
    },
    /** An edit begins anew, with what is saved by now. */
    restart(saved: Values): void {
      base.current = saved;
    },
  }));
  return controls;
}
