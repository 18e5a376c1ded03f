import { useSyncExternalStore } from "react";
import { localStore } from "@/lib/browser-storage";
import { openSentRequestStore, type SentRequestStore } from "@/lib/rows/sent-request";
import type { StagedChanges } from "@/lib/rows/staged";
import type { Change } from "@/lib/rows/types";

/**
 * The staged changes of a project. They are kept in the browser's local storage and not in the URL, so that they survive
 * a reload and a stopped server; other tabs of the same project see them immediately.
 */
export interface StagedStore {
  current: () => StagedChanges;
  update: (change: (before: StagedChanges) => StagedChanges) => void;
  /** Undoes the last step of staging. Returns false when there is none. */
  undo: () => boolean;
  /** Remembers how an applied batch is taken back. */
  remember: (undo: Change[]) => void;
  /** Takes the newest remembered batch out. */
  takeRemembered: () => Change[] | undefined;
  subscribe: (listener: () => void) => () => void;
  /** Whether the storage has refused, so that a reload would lose the changes. */
  isVolatile: () => boolean;
  /** The request whose answer has not come yet. */
  sent: SentRequestStore;
}

const rememberedSteps = 50;

function isStaged(value: unknown): value is StagedChanges {
  return (
    Array.isArray(value) &&
    value.every(
      (entry) => typeof entry === "object" && entry !== null && "id" in entry && "change" in entry,
    )
  );
}

function readStored(key: string): StagedChanges {
  try {
    const value: unknown = JSON.parse(localStore.get(key) ?? "[]");
    return isStaged(value) ? value : [];
  } catch {
    return [];
  }
}

export function openStagedStore(project: string): StagedStore {
  const key = `console:staged:${project}`;
  let changes = readStored(key);
  let isVolatile = false;
  const steps: StagedChanges[] = [];
  const applied: Change[][] = [];
  const listeners = new Set<() => void>();
  function publish(next: StagedChanges): void {
    changes = next;
    if (next.length === 0) localStore.remove(key);
    else isVolatile = !localStore.set(key, JSON.stringify(next));
    for (const listener of listeners) listener();
  }
  window.addEventListener("storage", (event) => {
    if (event.key !== key && event.key !== null) return;
    changes = readStored(key);
    for (const listener of listeners) listener();
  });
  return {
    current: () => changes,
    update(change) {
      const next = change(changes);
      if (next === changes) return;
      steps.push(changes);
      if (steps.length > rememberedSteps) steps.shift();
      publish(next);
    },
    undo() {
      const before = steps.pop();
      if (before === undefined) return false;
      publish(before);
      return true;
    },
    remember(undo) {
      // The steps before belong to changes that are applied now; going back to one would stage them twice.
      steps.length = 0;
      applied.push(undo);
      if (applied.length > rememberedSteps) applied.shift();
    },
    takeRemembered: () => applied.pop(),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    isVolatile: () => isVolatile,
    sent: openSentRequestStore(project),
  };
}

const stores = new Map<string, StagedStore>();

/** The one store of a project in this tab. */
export function stagedStore(project: string): StagedStore {
  const known = stores.get(project);
  if (known !== undefined) return known;
  const store = openStagedStore(project);
  stores.set(project, store);
  return store;
}

export function useStagedChanges(store: StagedStore): StagedChanges {
  return useSyncExternalStore(store.subscribe, store.current);
}
