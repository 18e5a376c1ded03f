/** Returns true when it has dealt with a step in the browser's history; the page then stays as it is. */
export type LeaveGuard = () => boolean;

let guard: LeaveGuard | null = null;

/**
 * Lets a form hear of Back and Forward before the router does. Not by an event listener of its own: browsers call those of a window in
 * the order in which they were added, and the router's is the first. Returns a function that removes the guard.
 */
export function guardLeaving(added: LeaveGuard): () => void {
  guard = added;
  return () => {
    if (guard === added) guard = null;
  };
}

/** For the router, at each step in the history. */
export function isLeavingHandled(): boolean {
  return guard?.() === true;
}
