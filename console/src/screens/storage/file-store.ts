/**
 * Files of unfinished uploads, kept by the browser over a reload. They are in IndexedDB, which holds a file without reading it into
 * memory. Where the browser refuses, uploads still work and ask for their file after a reload.
 */

const databaseName = "selvedge-console-uploads";
const storeName = "files";

/** Files above this size are not kept, because the browser would copy them whole before the upload begins. */
export const largestKeptFile = 256_000_000;

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(databaseName, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(storeName);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

async function runOnStore<T>(
  mode: IDBTransactionMode,
  act: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const database = await openDatabase();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(storeName, mode);
      const asked = act(transaction.objectStore(storeName));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** Keeps a file; false when the browser has no room for it or keeps nothing at all. */
export async function keepFile(id: string, file: File): Promise<boolean> {
  if (file.size > largestKeptFile) return false;
  return runOnStore("readwrite", (store) => store.put(file, id)).then(
    () => true,
    () => false,
  );
}

export async function loadFile(id: string): Promise<File | null> {
  const value = await runOnStore<unknown>("readonly", (store) => store.get(id)).catch(() => null);
  return value instanceof File ? value : null;
}

export async function forgetFile(id: string): Promise<void> {
  await runOnStore("readwrite", (store) => store.delete(id)).catch(() => undefined);
}

/** Ids of all kept files. */
export async function listKeptFiles(): Promise<Set<string>> {
  const keys = await runOnStore("readonly", (store) => store.getAllKeys()).catch(() => []);
  return new Set(keys.map(String));
}
