import { isSameValue } from "@ui/merge-edit";
import { useSyncExternalStore } from "react";
import { localStore } from "@/lib/browser-storage";
import { openSentRequestStore, type SentRequestStore } from "@/lib/rows/sent-request";
import type { StagedChange, StagedChanges } from "@/lib/rows/staged";
import type { Change } from "@/lib/rows/types";
import { askBeforeReload } from "@/lib/until-reload";

/**
 * The staged changes of an account in a project. They are kept in the browser's local storage and not in the URL, so that they
 * survive a reload and a stopped server. All tabs see them immediately, and each undoes its own steps alone.
 */
export interface StagedStore {
  current: () => StagedChanges;
  /** Reads what other tabs have stored, whose event may not have come yet. */
  refresh: () => void;
  /** Stages something. Steps with the same `merge`, one shortly after the other, are undone together: the letters of one cell. */
  update: (change: (before: StagedChanges) => StagedChanges, merge?: string) => void;
  /** Undoes the last step of this tab that is still there to be undone. Returns false when there is none. */
  undo: () => boolean;
  /** Takes applied changes out, and remembers how the batch is taken back. */
  finish: (take: (before: StagedChanges) => StagedChanges, undo: Change[]) => void;
  /** Takes the newest remembered batch out. */
  takeRemembered: () => Change[] | undefined;
  subscribe: (listener: () => void) => () => void;
  /** Whether the storage has refused, so that a reload would lose the changes. */
  isVolatile: () => boolean;
  /** The request whose answer has not come yet. */
  sent: SentRequestStore;
}

const rememberedSteps = 50;
/** Applied changes whose ids are remembered, so that no tab's undo stages one of them again. */
const rememberedIds = 1000;
/** Letters of one cell within this time are one step. */
const mergeWithinMs = 1500;

/** One change as a step found and left it; undefined where it was not staged. */
interface StepPart {
  id: string;
  before: StagedChange | undefined;
  after: StagedChange | undefined;
  /** Place of `before` in the list. */
  index: number;
}

interface Step {
  parts: StepPart[];
  merge: string | undefined;
  at: number;
}

function isStaged(value: unknown): value is StagedChanges {
  return (
    Array.isArray(value) &&
    value.every(
      (entry) => typeof entry === "object" && entry !== null && "id" in entry && "change" in entry,
    )
  );
}

function readList(key: string): unknown[] {
  try {
    const value: unknown = JSON.parse(localStore.get(key) ?? "[]");
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

function readStored(key: string): StagedChanges {
  const value = readList(key);
  return isStaged(value) ? value : [];
}

export const stagedPrefix = "console:staged:";

/** What is stored as staged under a name. */
export const readStaged = (name: string): StagedChanges => readStored(stagedPrefix + name);

/** Stores changes before their store is opened. Returns false when there is no room. */
export function writeStaged(name: string, changes: StagedChanges): boolean {
  return localStore.set(stagedPrefix + name, JSON.stringify(changes));
}

function partsBetween(before: StagedChanges, after: StagedChanges): StepPart[] {
  const old = new Map(before.map((staged, index) => [staged.id, { staged, index }]));
  const now = new Map(after.map((staged) => [staged.id, staged]));
  const parts: StepPart[] = [];
  for (const [id, { staged, index }] of old) {
    const left = now.get(id);
    if (left !== staged) parts.push({ id, before: staged, after: left, index });
  }
  for (const [id, staged] of now) {
    if (!old.has(id)) parts.push({ id, before: undefined, after: staged, index: before.length });
  }
  return parts;
}

/** The two steps as one: from where the first began to where the second ended. */
function mergeParts(first: readonly StepPart[], second: readonly StepPart[]): StepPart[] {
  const merged = new Map(first.map((part) => [part.id, part]));
  for (const part of second) {
    const known = merged.get(part.id);
    merged.set(part.id, known === undefined ? part : { ...known, after: part.after });
  }
  return [...merged.values()];
}

/**
 * Takes a step back. What another tab has edited since stays as it is, and what has been applied does not come back. Returns the
 * same list when nothing of the step is left.
 */
function takeBack(
  now: StagedChanges,
  parts: readonly StepPart[],
  applied: ReadonlySet<string>,
): StagedChanges {
  const next = [...now];
  let isChanged = false;
  for (const { id, before, after, index } of parts) {
    const at = next.findIndex((staged) => staged.id === id);
    if (!isSameValue(next[at], after)) continue;
    if (before === undefined) {
      if (at < 0) continue;
      next.splice(at, 1);
    } else if (at >= 0) next[at] = before;
    else if (applied.has(id)) continue;
    else next.splice(Math.min(index, next.length), 0, before);
    isChanged = true;
  }
  return isChanged ? next : now;
}

/** `owner` names the project with its database, and the account where accounts sign in. */
export function openStagedStore(owner: string): StagedStore {
  const key = stagedPrefix + owner;
  const appliedKey = `console:applied:${owner}`;
  let changes = readStored(key);
  /** What of `changes` is stored. Thousands of changes are not parsed anew before each letter. */
  let storedText = localStore.get(key);
  let isVolatile = false;
  askBeforeReload(() => (isVolatile && changes.length > 0 ? [owner] : []));
  const steps: Step[] = [];
  const remembered: Change[][] = [];
  /** Applied by this tab, also where nothing can be stored. */
  const appliedHere = new Set<string>();
  const listeners = new Set<() => void>();
  function announce(): void {
    for (const listener of listeners) listener();
  }
  function publish(next: StagedChanges): void {
    changes = next;
    if (next.length === 0) {
      localStore.remove(key);
      isVolatile = false;
      storedText = null;
    } else {
      storedText = JSON.stringify(next);
      isVolatile = !localStore.set(key, storedText);
    }
    announce();
  }
  function refresh(): void {
    if (isVolatile) return;
    const text = localStore.get(key);
    if (text === storedText) return;
    storedText = text;
    const stored = readStored(key);
    if (isSameValue(stored, changes)) return;
    changes = stored;
    announce();
  }
  function recordStep(parts: StepPart[], merge: string | undefined): void {
    const at = Date.now();
    const last = steps.at(-1);
    if (merge !== undefined && last?.merge === merge && at - last.at < mergeWithinMs) {
      last.parts = mergeParts(last.parts, parts);
      last.at = at;
      return;
    }
    steps.push({ parts, merge, at });
    if (steps.length > rememberedSteps) steps.shift();
  }
  window.addEventListener("storage", (event) => {
    if (event.key === key || event.key === null) refresh();
  });
  return {
    current: () => changes,
    refresh,
    update(change, merge) {
      refresh();
      const next = change(changes);
      if (next === changes) return;
      recordStep(partsBetween(changes, next), merge);
      publish(next);
    },
    undo() {
      refresh();
      const applied = new Set([...readList(appliedKey).map(String), ...appliedHere]);
      for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
        const before = takeBack(changes, step.parts, applied);
        if (before === changes) continue;
        publish(before);
        return true;
      }
      return false;
    },
    finish(take, undo) {
      refresh();
      const next = take(changes);
      const left = new Set(next.map(({ id }) => id));
      const gone = changes.map(({ id }) => id).filter((id) => !left.has(id));
      for (const id of gone) appliedHere.add(id);
      const ids = [...gone, ...readList(appliedKey)].slice(0, rememberedIds);
      localStore.set(appliedKey, JSON.stringify(ids));
      publish(next);
      remembered.push(undo);
      if (remembered.length > rememberedSteps) remembered.shift();
    },
    takeRemembered: () => remembered.pop(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isVolatile: () => isVolatile,
    sent: openSentRequestStore(owner),
  };
}

const stores = new Map<string, StagedStore>();

/** The one store of an owner in this tab. */
export function stagedStore(owner: string): StagedStore {
  const known = stores.get(owner);
  if (known !== undefined) return known;
  const store = openStagedStore(owner);
  stores.set(owner, store);
  return store;
}

export function useStagedChanges(store: StagedStore): StagedChanges {
  return useSyncExternalStore(store.subscribe, store.current);
}
