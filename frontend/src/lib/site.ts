/** The site-wide settings of administrators, as far as its pages show them. */
export interface Site {
  name: string;
  /** Whether registration is open. The auth service enforces it; this is only for display. */
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
