import { localStore } from "@/lib/browser-storage";

const key = "console:secret";
const listeners = new Set<() => void>();

/**
 * What the header `x-selvedge-console` carries: beside the cookie, a second secret of this origin's storage, because browsers send
 * cookies to every port of a host. Without sign-in it is a fixed text, which still keeps other sites out.
 */
export function currentSecret(): string {
  return localStore.get(key) ?? "1";
}

export function keepSecret(secret: string): void {
  localStore.set(key, secret);
}

export function forgetSecret(): void {
  localStore.remove(key);
}

/** Called by the client when the server answers 401: the session is over, perhaps on another node. */
export function announceSignedOut(): void {
  forgetSecret();
  for (const listener of listeners) listener();
}

export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
