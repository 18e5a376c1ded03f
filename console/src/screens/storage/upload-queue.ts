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
  | { type: "decided"; ids: string[]; choice: Conflict; freeNames: Record<string, string> }
  | { type: "paused"; ids: string[] }
  | { type: "resumed"; ids: string[] }
  | { type: "file_found"; id: string }
  | { type: "removed"; ids: string[] }
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
      return uploads.filter(({ id }) => !event.ids.includes(id));
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
    case "file_found":
      return upload.state === "file_missing" ? { state: "waiting" } : {};
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
  return uploads.map((upload) =>
    ids.includes(upload.id) ? { ...upload, ...patch(upload) } : upload,
  );
}

/** The uploads that should begin now. */
export function findStartable(uploads: readonly Upload[]): Upload[] {
  const running = uploads.filter(({ state }) => state === "uploading").length;
  return uploads
    .filter(({ state }) => state === "waiting")
    .slice(0, Math.max(0, parallelUploads - running));
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

/** Serializes the unfinished uploads for local storage. A queue in an older format is discarded. */
export function serializeUploads(uploads: readonly Upload[]): string {
  return JSON.stringify({ form: 1, uploads: uploads.filter((upload) => !isFinished(upload)) });
}

/**
 * Restores the stored queue. Uploads whose files the browser has kept, too, continue automatically unless the user had
 * paused them.
 */
export function restoreUploads(text: string | null, hasFile: (id: string) => boolean): Upload[] {
  if (text === null) return [];
  try {
    const kept: unknown = JSON.parse(text);
    if (typeof kept !== "object" || kept === null || !("form" in kept) || kept.form !== 1)
      return [];
    const { uploads } = kept as unknown as { uploads: Upload[] };
    return uploads.map((upload) => ({ ...upload, state: restoredState(upload, hasFile) }));
  } catch {
    return [];
  }
}

function restoredState(upload: Upload, hasFile: (id: string) => boolean): UploadState {
  if (!hasFile(upload.id)) return "file_missing";
  return upload.state === "uploading" ? "waiting" : upload.state;
}

/** The left-over upload that a file chosen again belongs to. */
export function findLeftOver(
  uploads: readonly Upload[],
  file: { name: string; size: number; lastModified: number },
): Upload | undefined {
  return uploads.find(
    (upload) =>
      upload.state === "file_missing" &&
      upload.size === file.size &&
      upload.lastModified === file.lastModified &&
      upload.name.endsWith(file.name),
  );
}
