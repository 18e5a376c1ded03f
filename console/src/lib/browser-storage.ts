/** The browser's storage, which may be forbidden or full: then nothing is kept and nothing fails. */
export interface Store {
  get: (key: string) => string | null;
  /** Returns false when the value could not be kept. */
  set: (key: string, value: string) => boolean;
  remove: (key: string) => void;
}

/**
 * Keys whose values only save a search or a press of "Undo": what was run before, tabs that were closed. In full storage they make
 * room for what was typed.
 */
const replaceable = /:sql:(history|closed)$/;

/** Removes what can be spared. Returns whether there was something. */
function makeRoom(storage: Storage, needed: string): boolean {
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
  const spared = keys.filter((key) => replaceable.test(key) && key !== needed);
  for (const key of spared) storage.removeItem(key);
  return spared.length > 0;
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
        try {
          if (replaceable.test(key) || !makeRoom(open(), key)) return false;
          open().setItem(key, value);
          return true;
        } catch {
          return false;
        }
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

/** All keys of the local storage. */
export function listLocalKeys(): string[] {
  try {
    const storage = window.localStorage;
    return Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "");
  } catch {
    return [];
  }
}

export const localStore = storeOf(() => window.localStorage);
export const sessionStore = storeOf(() => window.sessionStorage);
