/** Text kept in the browser by key. */
export interface TextStore {
  get(key: string): string | null;
  /** What the browser itself has stored, also where it has refused a newer value of this page. */
  stored(key: string): string | null;
  set(key: string, value: string): void;
  remove(key: string): void;
  keys(): string[];
}

/**
 * Wraps `localStorage` or `sessionStorage`. Browsers may refuse both (blocked cookies, private windows, a full disk), even
 * on access to the property. Values then live in memory until the page is closed, so that the site keeps working.
 */
function openStore(storage: () => Storage): TextStore {
  const memory = new Map<string, string>();
  function stored(key: string): string | null {
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  }
  return {
    // A value in memory was refused by the storage, which may still have an older one.
    get: (key) => memory.get(key) ?? stored(key),
    stored,
    set(key, value) {
      try {
        storage().setItem(key, value);
        memory.delete(key);
      } catch {
        memory.set(key, value);
      }
    },
    remove(key) {
      memory.delete(key);
      try {
        storage().removeItem(key);
      } catch {
        // The storage is not available, so nothing was stored.
      }
    },
    keys() {
      try {
        return [...Object.keys(storage()), ...memory.keys()];
      } catch {
        return [...memory.keys()];
      }
    },
  };
}

/** Survives closing the browser. */
export const localStore = openStore(() => window.localStorage);
/** Lives as long as the tab. */
export const sessionStore = openStore(() => window.sessionStorage);
