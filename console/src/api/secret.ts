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

const keptListeners = new Set<() => void>();
const forgottenListeners = new Set<() => void>();

export function keepSecret(secret: string): void {
  localStore.set(key, secret);
  for (const listener of keptListeners) listener();
}

/** Called when somebody has signed in, in this tab or another one. */
export function onSecretKept(listener: () => void): () => void {
  keptListeners.add(listener);
  return () => keptListeners.delete(listener);
}

/** Called when another tab has signed out, or has learned that the session is over. */
export function onSecretForgotten(listener: () => void): () => void {
  forgottenListeners.add(listener);
  return () => forgottenListeners.delete(listener);
}

window.addEventListener("storage", (event) => {
  if (event.key !== key && event.key !== null) return;
  const isForgotten = localStore.get(key) === null;
  for (const listener of isForgotten ? forgottenListeners : keptListeners) listener();
});

export function forgetSecret(): void {
  localStore.remove(key);
}

/**
 * Called when the server has answered 401 to this secret: the session is over, perhaps on another node. A newer secret, with which
 * another tab has signed in meanwhile, stays.
 */
export function announceSignedOut(sent: string): void {
  if (currentSecret() === sent) forgetSecret();
  for (const listener of listeners) listener();
}

export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
