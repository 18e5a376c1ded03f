/** The browser's storage, which may be forbidden or full: then nothing is kept and nothing fails. */
export interface Store {
  get: (key: string) => string | null;
  /** Returns false when the value could not be kept. */
  set: (key: string, value: string) => boolean;
  remove: (key: string) => void;
}

function storeOf(open: () => Storage): Store {
  return {
    get(key) {
      try {
        return open().getItem(key);
      } catch {
        return null;
      }
    },
    set(key, value) {
      try {
        open().setItem(key, value);
        return true;
      } catch {
        return false;
      }
    },
    remove(key) {
      try {
        open().removeItem(key);
      } catch {
        // There is nothing to remove where nothing can be kept.
      }
    },
  };
}

export const localStore = storeOf(() => window.localStorage);
export const sessionStore = storeOf(() => window.sessionStorage);
