/**
 * Which tabs of this browser are alive. Each holds a lock by its own name, which ends with it however that happens, so that another
 * tab can take over what a closed one has left and nothing that is still worked on.
 */

const lockName = (tab: string) => `console:tab:${tab}`;

/** Names this page until it is closed or loaded anew. */
export const thisTab = crypto.randomUUID();

let isHeld = false;

/** Marks this tab as alive. */
export function holdTab(): void {
  const locks: LockManager | undefined = navigator.locks;
  if (isHeld || locks === undefined) return;
  isHeld = true;
  // The lock is held until the page ends, because the promise never does.
  locks.request(lockName(thisTab), () => new Promise(() => {})).catch(() => undefined);
}

/** The names of these tabs that are alive. Where the browser has no locks, only this one is known to be. */
export async function listLivingTabs(): Promise<ReadonlySet<string>> {
  const locks: LockManager | undefined = navigator.locks;
  if (locks === undefined) return new Set([thisTab]);
  const { held = [] } = await locks.query();
  const prefix = lockName("");
  const names = held.flatMap(({ name = "" }) =>
    name.startsWith(prefix) ? [name.slice(prefix.length)] : [],
  );
  return new Set([thisTab, ...names]);
}
