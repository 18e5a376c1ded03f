/**
 * Unfinished uploads and their files, kept by the browser over a reload: a row for each upload, so that a change writes one of 20 000.
 * Each owner has a database of its own, because all local projects share an address. It is in IndexedDB, which holds a file without
 * reading it into memory and has more room than local storage. Where the browser refuses, uploads still work and are forgotten
 * by a reload.
 */
import { isStoredUpload, type Upload } from "./upload-queue";

/** Files above this size are not kept, because the browser would copy them whole before the upload begins. */
export const largestKeptFile = 256_000_000;

/** The unfinished upload with the tab that sends it. */
export interface StoredUpload extends Upload {
  tab: string;
}

export interface UploadStore {
  list: () => Promise<StoredUpload[]>;
  put: (uploads: readonly StoredUpload[]) => Promise<void>;
  /** Removes uploads with their files. */
  remove: (ids: readonly string[]) => Promise<void>;
  keepFiles: (files: readonly { id: string; file: File }[]) => Promise<void>;
  loadFile: (id: string) => Promise<File | null>;
  listFiles: () => Promise<ReadonlySet<string>>;
}

export const uploadsName = "uploads";
export const filesName = "files";

function openDatabase(owner: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(`console-uploads:${owner}`, 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore(uploadsName, { keyPath: "id" });
      opening.result.createObjectStore(filesName);
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

export function openUploadStore(owner: string): UploadStore {
  let opened: Promise<IDBDatabase> | undefined;
  /** Runs one transaction. Resolves with the result of the last request, when the transaction is complete. */
  async function run<T>(
    name: string,
    mode: IDBTransactionMode,
    act: (store: IDBObjectStore) => IDBRequest<T> | undefined,
  ): Promise<T | undefined> {
    opened ??= openDatabase(owner);
    const database = await opened;
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(name, mode);
      const asked = act(transaction.objectStore(name));
      transaction.oncomplete = () => resolve(asked?.result);
      transaction.onabort = () => reject(transaction.error);
      transaction.onerror = () => reject(transaction.error);
    });
  }
  const write = (name: string, act: (store: IDBObjectStore) => void): Promise<void> =>
    run(name, "readwrite", (store) => {
      act(store);
      return undefined;
    }).then(
      () => undefined,
      // Nothing can be kept: the uploads go on, and end with the page.
      () => undefined,
    );
  return {
    async list() {
      const rows = await run<unknown[]>(uploadsName, "readonly", (store) => store.getAll()).catch(
        () => [],
      );
      return (rows ?? []).filter((row): row is StoredUpload => isStoredUpload(row));
    },
    put: (uploads) =>
      write(uploadsName, (store) => {
        for (const upload of uploads) store.put(upload);
      }),
    async remove(ids) {
      await write(uploadsName, (store) => {
        for (const id of ids) store.delete(id);
      });
      await write(filesName, (store) => {
        for (const id of ids) store.delete(id);
      });
    },
    keepFiles: (files) =>
      write(filesName, (store) => {
        for (const { id, file } of files) if (file.size <= largestKeptFile) store.put(file, id);
      }),
    async loadFile(id) {
      const value = await run<unknown>(filesName, "readonly", (store) => store.get(id)).catch(
        () => null,
      );
      return value instanceof File ? value : null;
    },
    async listFiles() {
      const keys = await run(filesName, "readonly", (store) => store.getAllKeys()).catch(() => []);
      return new Set((keys ?? []).map(String));
    },
  };
}
