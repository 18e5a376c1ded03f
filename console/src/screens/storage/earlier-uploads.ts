/**
 * Unfinished uploads that earlier versions have kept without naming the project, or without its database. They are taken over once,
 * and paused: whether they belong here is for the reader to say.
 */
import { localStore } from "@/lib/browser-storage";
import { isStoredUpload, type Upload } from "./upload-queue";
import { filesName, type UploadStore, uploadsName } from "./upload-store";

const listKey = "console:uploads";
const oldFilesDatabase = "selvedge-console-uploads";

/** Opens a database that exists; null where it does not, because opening would make it. */
function openExisting(name: string): Promise<IDBDatabase | null> {
  return new Promise((resolve) => {
    const opening = indexedDB.open(name);
    opening.onupgradeneeded = () => opening.transaction?.abort();
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => resolve(null);
  });
}

function readAll(database: IDBDatabase, name: string): Promise<[IDBValidKey, unknown][]> {
  if (!database.objectStoreNames.contains(name)) return Promise.resolve([]);
  return new Promise((resolve, reject) => {
    const rows: [IDBValidKey, unknown][] = [];
    const asked = database.transaction(name, "readonly").objectStore(name).openCursor();
    asked.onsuccess = () => {
      const cursor = asked.result;
      if (cursor === null) resolve(rows);
      else {
        rows.push([cursor.key, cursor.value]);
        cursor.continue();
      }
    };
    asked.onerror = () => reject(asked.error);
  });
}

/** The list of the version that kept it in local storage. Its uploads lack the name under which the file was chosen. */
function readOldList(): unknown[] {
  try {
    const kept: unknown = JSON.parse(localStore.get(listKey) ?? "null");
    if (typeof kept !== "object" || kept === null || !("uploads" in kept)) return [];
    const { uploads } = kept;
    if (!Array.isArray(uploads)) return [];
    return uploads.map((upload) => ({ chosenName: upload?.name, ...upload }));
  } catch {
    return [];
  }
}

/** Reads the uploads of a database with their files, stores them in `store`, and deletes the database. */
async function moveDatabase(name: string, list: readonly unknown[], store: UploadStore) {
  const database = await openExisting(name);
  const rows =
    database === null ? [] : (await readAll(database, uploadsName)).map(([, row]) => row);
  const files = database === null ? [] : await readAll(database, filesName);
  database?.close();
  const kept = new Map(files.map(([id, file]) => [String(id), file]));
  const uploads = [...list, ...rows].filter(isStoredUpload).map(
    ({ ...upload }): Upload => ({
      ...upload,
      state: kept.has(upload.id) ? "paused" : "file_missing",
      // An upload that another database has begun is not known here.
      url: null,
      sent: 0,
    }),
  );
  const found = uploads.flatMap(({ id }) => {
    const file = kept.get(id);
    return file instanceof File ? [{ id, file }] : [];
  });
  await store.put(uploads.map((upload) => ({ ...upload, tab: "" })));
  await store.keepFiles(found);
  if (database !== null) indexedDB.deleteDatabase(name);
}

/** Moves what is there into the store of the present owner. Called by one tab at a time. */
export async function takeOverEarlierUploads(
  store: UploadStore,
  earlier: readonly string[],
): Promise<void> {
  await moveDatabase(oldFilesDatabase, readOldList(), store);
  localStore.remove(listKey);
  for (const owner of earlier) await moveDatabase(`console-uploads:${owner}`, [], store);
}
