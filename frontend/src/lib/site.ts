/** What administrators have set for the whole site, as far as its pages show it. */
export interface Site {
  name: string;
  /** Whether people may create accounts. The auth service decides about each; this only says so in advance. */
  registrationOpen: boolean;
}

let site: Site = { name: "Lookbook", registrationOpen: true };
const listeners = new Set<() => void>();

/** The settings that the page came with, or an administrator has changed since. */
export function currentSite(): Site {
  return site;
}

export function setSite(next: Site): void {
  site = next;
  for (const listener of listeners) listener();
}

/** Returns a function that removes the listener. */
export function subscribeToSite(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
