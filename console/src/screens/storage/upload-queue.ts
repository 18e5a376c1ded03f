/**
 * The queue of uploads as a state machine without side effects: each file waits, is sent, is paused, or needs a decision
 * because its name exists. `upload-runner.ts` sends the files. Source: CONSOLE-120.
 */

export type UploadState =
  | "waiting"
  | "uploading"
  | "paused"
  /** An object of this name exists: the reader decides. */
  | "asking"
  /** Left over from before a reload, and the browser no longer has the file: it must be chosen again. */
  | "file_missing"
  | "done"
  | "skipped"
  | "failed";

export interface Upload {
  id: string;
  bucket: string;
  /** Name of the object to be, with its folders. */
  name: string;
  /** The name when it was chosen, which recognises the file when it is chosen again. */
  chosenName: string;
  size: number;
  type: string;
  /** Time of the file's last change, which recognises the same file when it is chosen again. */
  lastModified: number;
  state: UploadState;
  sent: number;
  /** Replaces an object of the same name. */
  upsert: boolean;
  /** Address of the unfinished upload on the server, at which it is resumed. */
  url: string | null;
  error: string | null;
}

export type Conflict = "replace" | "keep_both" | "skip";

export type UploadEvent =
  | { type: "added"; uploads: Upload[] }
  | { type: "started"; id: string }
  | { type: "located"; id: string; url: string }
  | { type: "progressed"; id: string; sent: number }
  | { type: "finished"; id: string }
  | { type: "failed"; id: string; message: string }
  | { type: "name_taken"; id: string }
  | { type: "decided"; ids: readonly string[]; choice: Conflict; freeNames: Record<string, string> }
  | { type: "paused"; ids: readonly string[] }
  | { type: "resumed"; ids: readonly string[] }
  | { type: "file_found"; ids: readonly string[] }
  | { type: "removed"; ids: readonly string[] }
  | { type: "cleared" };

/** Uploads that run at the same time. More of them would only share the same line. */
export const parallelUploads = 3;

const finished: ReadonlySet<UploadState> = new Set(["done", "skipped"]);

export function isFinished(upload: Upload): boolean {
  return finished.has(upload.state);
}

export function reduceUploads(uploads: readonly Upload[], event: UploadEvent): Upload[] {
  switch (event.type) {
    case "added":
      return [...uploads, ...event.uploads];
    case "removed":
      return withoutIds(uploads, new Set(event.ids));
    case "cleared":
      return uploads.filter((upload) => !isFinished(upload));
    case "paused":
      return change(uploads, event.ids, ({ state }) =>
        state === "uploading" || state === "waiting" ? { state: "paused" } : {},
      );
    case "resumed":
      return change(uploads, event.ids, ({ state }) =>
        state === "paused" || state === "failed" ? { state: "waiting", error: null } : {},
      );
    case "decided":
      return change(uploads, event.ids, (upload) => decide(upload, event.choice, event.freeNames));
    case "file_found":
      return change(uploads, event.ids, ({ state }) =>
        state === "file_missing" ? { state: "waiting" } : {},
      );
    default:
      return change(uploads, [event.id], (upload) => advance(upload, event));
  }
}

type SingleEvent = Extract<UploadEvent, { id: string }>;

function advance(upload: Upload, event: SingleEvent): Partial<Upload> {
  switch (event.type) {
    case "started":
      return { state: "uploading", error: null };
    case "located":
      return { url: event.url };
    case "progressed":
      // A message of a request that was under way when the upload was paused must not lower or revive it.
      return upload.state === "uploading" ? { sent: Math.min(event.sent, upload.size) } : {};
    case "finished":
      return { state: "done", sent: upload.size, url: null, error: null };
    case "failed":
      return { state: "failed", error: event.message };
    case "name_taken":
      return { state: "asking", sent: 0, url: null };
  }
}

function decide(
  upload: Upload,
  choice: Conflict,
  freeNames: Record<string, string>,
): Partial<Upload> {
  if (upload.state !== "asking") return {};
  if (choice === "skip") return { state: "skipped" };
  if (choice === "replace") return { state: "waiting", upsert: true };
  return { state: "waiting", name: freeNames[upload.id] ?? upload.name };
}

function change(
  uploads: readonly Upload[],
  ids: readonly string[],
  patch: (upload: Upload) => Partial<Upload>,
): Upload[] {
  const changed = new Set(ids);
  return uploads.map((upload) =>
    changed.has(upload.id) ? { ...upload, ...patch(upload) } : upload,
  );
}

function withoutIds(uploads: readonly Upload[], ids: ReadonlySet<string>): Upload[] {
  return uploads.filter(({ id }) => !ids.has(id));
}

/** The uploads that should begin now. */
export function findStartable(uploads: readonly Upload[]): Upload[] {
  let room = parallelUploads;
  for (const { state } of uploads) if (state === "uploading") room -= 1;
  const startable: Upload[] = [];
  for (const upload of uploads) {
    if (startable.length >= room) break;
    if (upload.state === "waiting") startable.push(upload);
  }
  return startable;
}

export interface QueueSummary {
  total: number;
  finished: number;
  failed: number;
  asking: number;
  sent: number;
  size: number;
  isRunning: boolean;
}

export function summarizeUploads(uploads: readonly Upload[]): QueueSummary {
  const count = (state: UploadState) => uploads.filter((upload) => upload.state === state).length;
  return {
    total: uploads.length,
    finished: uploads.filter(isFinished).length,
    failed: count("failed"),
    asking: count("asking"),
    sent: uploads.reduce(
      (sum, upload) => sum + (isFinished(upload) ? upload.size : upload.sent),
      0,
    ),
    size: uploads.reduce((sum, upload) => sum + upload.size, 0),
    isRunning: count("uploading") + count("waiting") > 0,
  };
}

/** Whether a row of the browser's storage is an upload; one of another version is not. */
export function isStoredUpload(value: unknown): value is Upload {
  if (typeof value !== "object" || value === null) return false;
  const { id, bucket, name, chosenName, size, state } = value as Record<string, unknown>;
  return (
    [id, bucket, name, chosenName, state].every((text) => typeof text === "string") &&
    typeof size === "number"
  );
}

/**
 * The state with which an upload continues after a reload: by itself when the browser has kept its file, unless it had been
 * paused.
 */
export function restoredState({ id, state }: Upload, keptFiles: ReadonlySet<string>): UploadState {
  if (!keptFiles.has(id)) return "file_missing";
  return state === "uploading" || state === "file_missing" ? "waiting" : state;
}

/** Names a file at its place. A file that is chosen again for the same place is the same one. */
export function identifyChosen({
  bucket,
  chosenName,
  size,
  lastModified,
}: Pick<Upload, "bucket" | "chosenName" | "size" | "lastModified">): string {
  return JSON.stringify([bucket, chosenName, size, lastModified]);
}

/** What differs between two states of the queue. */
export function changesBetween(
  before: readonly Upload[],
  after: readonly Upload[],
): { changed: Upload[]; gone: string[] } {
  const old = new Map(before.map((upload) => [upload.id, upload]));
  const changed: Upload[] = [];
  for (const upload of after) {
    if (old.get(upload.id) !== upload) changed.push(upload);
    old.delete(upload.id);
  }
  return { changed, gone: [...old.keys()] };
}
