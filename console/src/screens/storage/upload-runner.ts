/**
 * Runs the queue of uploads. It is independent of the screens, so that uploads continue while another one is open, and
 * stores the queue at each change of state, so that it continues after a reload.
 */
import { useSyncExternalStore } from "react";
import { localStore } from "@/lib/browser-storage";
import { objectExists } from "./api";
import { forgetFile, keepFile, listKeptFiles, loadFile } from "./file-store";
import { findFreeName, storableName } from "./object-path";
import {
  type Conflict,
  findLeftOver,
  findStartable,
  isFinished,
  reduceUploads,
  restoreUploads,
  serializeUploads,
  type Upload,
  type UploadEvent,
} from "./upload-queue";

const key = "console:uploads";

let uploads: readonly Upload[] = [];
let isRestored = false;
const files = new Map<string, File>();
const stops = new Map<string, () => void>();
const listeners = new Set<() => void>();
const finishListeners = new Set<(upload: Upload) => void>();

function dispatch(event: UploadEvent): void {
  uploads = reduceUploads(uploads, event);
  // Progress is not worth a write: after a reload the server is asked how much it has.
  if (event.type !== "progressed") localStore.set(key, serializeUploads(uploads));
  for (const listener of listeners) listener();
  for (const upload of findStartable(uploads)) void start(upload);
}

async function start(upload: Upload): Promise<void> {
  // Marked before the first pause of this function, so that no other change starts it again.
  dispatch({ type: "started", id: upload.id });
  const file = files.get(upload.id) ?? (await loadFile(upload.id));
  const { sendFile } = await import("./tus-client");
  const current = uploads.find(({ id }) => id === upload.id);
  if (current?.state !== "uploading") return;
  if (file === null) {
    dispatch({ type: "failed", id: upload.id, message: "The file is gone: choose it again." });
    return;
  }
  const { id } = upload;
  const stop = sendFile(current, file, {
    onLocated: (url) => dispatch({ type: "located", id, url }),
    onProgress: (sent) => dispatch({ type: "progressed", id, sent }),
    onSuccess: () => finish(id),
    onNameTaken: () => settle({ type: "name_taken", id }),
    onFailure: (message) => settle({ type: "failed", id, message }),
  });
  stops.set(id, stop);
}

function settle(event: UploadEvent & { id: string }): void {
  stops.delete(event.id);
  dispatch(event);
}

function finish(id: string): void {
  settle({ type: "finished", id });
  forget(id);
  const upload = uploads.find((one) => one.id === id);
  if (upload !== undefined) for (const listener of finishListeners) listener(upload);
}

function forget(id: string): void {
  files.delete(id);
  void forgetFile(id);
}

/** A file, and the path below the chosen folder that it had on the visitor's machine. */
export interface ChosenFile {
  file: File;
  path: string;
}

/** Adds files to a folder of a bucket. A file that an upload from before a reload waits for continues that upload instead. */
export function addFiles(bucket: string, folder: string, chosen: readonly ChosenFile[]): void {
  const added: Upload[] = [];
  for (const { file, path } of chosen) {
    const leftOver = findLeftOver(uploads, file);
    const upload = leftOver ?? newUpload(bucket, `${folder}${storableName(path)}`, file);
    files.set(upload.id, file);
    void keepFile(upload.id, file);
    if (leftOver === undefined) added.push(upload);
    else dispatch({ type: "file_found", id: leftOver.id });
  }
  if (added.length > 0) dispatch({ type: "added", uploads: added });
}

function newUpload(bucket: string, name: string, file: File): Upload {
  return {
    id: crypto.randomUUID(),
    bucket,
    name,
    size: file.size,
    type: file.type,
    lastModified: file.lastModified,
    state: "waiting",
    sent: 0,
    upsert: false,
    url: null,
    error: null,
  };
}

export function pauseUploads(ids: readonly string[]): void {
  for (const id of ids) {
    stops.get(id)?.();
    stops.delete(id);
  }
  dispatch({ type: "paused", ids: [...ids] });
}

export function resumeUploads(ids: readonly string[]): void {
  dispatch({ type: "resumed", ids: [...ids] });
}

export function removeUploads(ids: readonly string[]): void {
  pauseUploads(ids);
  ids.forEach(forget);
  dispatch({ type: "removed", ids: [...ids] });
}

export function clearFinished(): void {
  dispatch({ type: "cleared" });
}

/** Applies the reader's choice for taken names. To keep both, a free name is searched on the server. */
export async function decideConflicts(ids: readonly string[], choice: Conflict): Promise<void> {
  const freeNames: Record<string, string> = {};
  if (choice === "keep_both") {
    for (const id of ids) {
      const upload = uploads.find((one) => one.id === id);
      if (upload !== undefined) freeNames[id] = await findFreeObjectName(upload);
    }
  }
  dispatch({ type: "decided", ids: [...ids], choice, freeNames });
  if (choice === "skip") ids.forEach(forget);
}

async function findFreeObjectName({ bucket, name }: Upload): Promise<string> {
  const taken = new Set(uploads.filter((upload) => !isFinished(upload)).map((one) => one.name));
  for (;;) {
    const candidate = findFreeName(name, (one) => taken.has(one));
    if (!(await objectExists(bucket, candidate))) return candidate;
    taken.add(candidate);
  }
}

/** Brings back the queue of before a reload. Called once, when the screen is first opened. */
async function restoreQueue(): Promise<void> {
  if (isRestored) return;
  isRestored = true;
  const text = localStore.get(key);
  if (text === null) return;
  const kept = await listKeptFiles();
  const restored = restoreUploads(text, (id) => kept.has(id));
  for (const id of kept) if (!restored.some((upload) => upload.id === id)) void forgetFile(id);
  if (restored.length > 0) dispatch({ type: "added", uploads: restored });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  void restoreQueue();
  return () => listeners.delete(listener);
}

export function useUploads(): readonly Upload[] {
  return useSyncExternalStore(subscribe, () => uploads);
}

/** Calls back for each upload that has been stored completely. */
export function onUploadFinished(listener: (upload: Upload) => void): () => void {
  finishListeners.add(listener);
  return () => finishListeners.delete(listener);
}
