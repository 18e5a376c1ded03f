// Whether the session was ended by the user in this tab, and not by its expiry or in another tab.

let isOwn = false;

/** Notes that the user signs out in this tab. */
export function noteOwnSignOut(): void {
  isOwn = true;
}

/** Clears the record of a sign-out when a user is signed in again. */
export function forgetOwnSignOut(): void {
  isOwn = false;
}

/** Whether the last session was ended by its user in this tab. */
export function isOwnSignOut(): boolean {
  return isOwn;
}
