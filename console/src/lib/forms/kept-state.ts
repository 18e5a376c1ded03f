import { useEffect, useEffectEvent, useRef, useState } from "react";
import { storeOf, useSession } from "@/api/session";
import { askBeforeReload } from "@/lib/until-reload";

const kept = new Map<string, unknown>();
askBeforeReload(() => [...kept.keys()]);
/** The oldest beyond these are forgotten. */
const keptStates = 100;

/** As long as it differs from what the form begins with. */
export function keepState(identity: string, value: unknown, isChanged: boolean): void {
  kept.delete(identity);
  if (!isChanged) return;
  kept.set(identity, value);
  const [oldest] = kept.keys();
  if (kept.size > keptStates && oldest !== undefined) kept.delete(oldest);
}

export const readKept = (identity: string): unknown => kept.get(identity);

/** Names a form of the signed-in account in its project, beside the same form of others. */
export function useFormIdentity(name: string): string {
  return `${storeOf(useSession())} ${name}`;
}

/**
 * State of a form for trying things, which nothing saves: other screens can be looked at meanwhile. `name` says which form it is, and
 * of what. The component must have a React key with what it is about, so that another thing begins anew.
 */
export function useKeptState<State>(name: string, initial: () => State) {
  const identity = useFormIdentity(name);
  const [begun] = useState(initial);
  const [state, setState] = useState<State>(() => (readKept(identity) as State) ?? begun);
  function change(next: State): void {
    keepState(identity, next, JSON.stringify(next) !== JSON.stringify(begun));
    setState(next);
  }
  return [state, change] as const;
}

interface DraftForm<Draft> {
  draft: Draft;
  isDirty: boolean;
  change: (changes: Partial<Draft>) => void;
}

/** Keeps the draft of a form in the same way. */
export function useKeptDraft<Draft>(name: string, form: DraftForm<Draft>): void {
  const identity = useFormIdentity(name);
  const text = JSON.stringify(form.draft);
  const takeUp = useEffectEvent(() => {
    const before = readKept(identity) as Partial<Draft> | undefined;
    if (before !== undefined) form.change(before);
  });
  const keep = useEffectEvent(() => keepState(identity, form.draft, form.isDirty));
  // What the form begins with is not kept in place of what was typed before.
  const seen = useRef<string | null>(null);
  useEffect(() => {
    if (seen.current === null) takeUp();
    else if (seen.current !== text) keep();
    seen.current = text;
  }, [text]);
}
