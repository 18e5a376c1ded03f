/**
 * Which project this page shows. All local projects have the same address, so each request names the page's own, and the console of
 * another one refuses it (409 `other_project`) before it reads or changes anything.
 */
import { announceSignedOut, currentSecret } from "@/api/secret";

let shownKey: string | null = null;
const listeners = new Set<() => void>();

/** From now on requests are those of a page that shows this project. Null while the server does not know its key yet. */
export function showProject(key: string | null): void {
  shownKey = key;
}

/** The headers of every request to the console. They name this moment's session and project, also for the pieces of an upload. */
export function pageHeaders(): Record<string, string> {
  return {
    "x-selvedge-console": currentSecret(),
    ...(shownKey !== null && { "x-selvedge-project": shownKey }),
  };
}

/** Tells the page why a request was refused, where that concerns all of it: the session is over, or another project is here. */
export function announceRefusal(
  { status, code }: { status: number; code: string | undefined },
  sent: Record<string, string>,
): void {
  if (status === 401) announceSignedOut(sent["x-selvedge-console"] ?? "");
  if (status === 409 && code === "other_project") for (const listener of listeners) listener();
}

/** Called when another project has answered. */
export function onOtherProject(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
