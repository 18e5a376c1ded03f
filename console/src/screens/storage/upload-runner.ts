/**
 * Runs the queue of uploads. It is independent of the screens, so that uploads continue while another one is open. Each change of an
 * upload is stored, so that the queue continues after a reload. A tab sends its own uploads and those that a closed tab has left.
 */
import { useSyncExternalStore } from "react";
import { pageHeaders } from "@/api/project";
import { onSecretKept } from "@/api/secret";
import { earlierOwnersOf, loadSession, ownerOf, type Session, storeOf } from "@/api/session";
import { runExclusively } from "@/lib/exclusive";
import { partsOf, pause } from "@/lib/pause";
import { holdTab, listLivingTabs, thisTab } from "@/lib/tab-claim";
import { toast } from "@/lib/toast";
import { objectExists } from "./api";
import { takeOverEarlierUploads } from "./earlier-uploads";
import { findFreeName, storableName } from "./object-path";
import {
  type Conflict,
  changesBetween,
  findStartable,
  identifyChosen,
  isFinished,
  reduceUploads,
  restoredState,
  type Upload,
  type UploadEvent,
} from "./upload-queue";
import { openUploadStore, type UploadStore } from "./upload-store";

/** Uploads that are added or stored without letting the browser draw in between. */
const partSize = 500;
/** For this time after it was asked, the address is taken to serve the same project still. */
const ownerCheckMs = 2000;

let owner = "";
/** Names under which earlier versions have kept uploads of this owner; they are looked for once. */
let earlierOwners: readonly string[] | null = null;
let store: UploadStore | undefined;
let uploads: readonly Upload[] = [];
const files = new Map<string, File>();
const stops = new Map<string, () => void>();
const listeners = new Set<() => void>();
const finishListeners = new Set<(upload: Upload) => void>();
let frame = 0;

/** Tells the screen, once for all changes of a frame. */
function announce(): void {
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    for (const listener of listeners) listener();
  });
}

function dispatch(event: UploadEvent): void {
  const before = uploads;
  uploads = reduceUploads(before, event);
  // Progress is not worth a write: after a reload the server is asked how much it has.
  if (event.type !== "progressed") keep(before);
  announce();
  for (const upload of findStartable(uploads)) void start(upload);
}

/** What is to be stored, by the upload's id; null for one that is to be removed. Each owner has its own. */
let unwritten = new Map<string, Upload | null>();
let writing: Promise<void> = Promise.resolve();

/** Stores what has changed. `writing` ends when it is stored. */
function keep(before: readonly Upload[]): void {
  const { changed, gone } = changesBetween(before, uploads);
  const isRunning = unwritten.size > 0;
  for (const upload of changed) unwritten.set(upload.id, isFinished(upload) ? null : upload);
  for (const id of gone) unwritten.set(id, null);
  if (isRunning || unwritten.size === 0) return;
  const [into, changes] = [store, unwritten];
  writing = writing.then(() => writeAll(into, changes));
}

async function writeAll(
  into: UploadStore | undefined,
  changes: Map<string, Upload | null>,
): Promise<void> {
  while (changes.size > 0) {
    const part = [...changes].slice(0, partSize);
    for (const [id] of part) changes.delete(id);
    const rows = part.flatMap(([, upload]) =>
      upload === null ? [] : [{ ...upload, tab: thisTab }],
    );
    const gone = part.flatMap(([id, upload]) => (upload === null ? [id] : []));
    if (rows.length > 0) await into?.put(rows);
    if (gone.length > 0) await into?.remove(gone);
    await pause();
  }
}

/** Keeps files once their uploads are stored: another tab removes files that no upload has. */
function keepFiles(kept: readonly { id: string; file: File }[]): void {
  const [into, from] = [store, owner];
  writing = writing.then(() => {
    const unfinished = new Set(uploads.filter((one) => !isFinished(one)).map(({ id }) => id));
    // The list is that of another owner by now; whatever was finished meanwhile is removed with the next visit.
    const isGone = ({ id }: { id: string }) => owner === from && !unfinished.has(id);
    return into?.keepFiles(kept.filter((file) => !isGone(file)));
  });
}

let checked = { at: 0, isSame: false };

/** Whether the address still serves the owner of the queue: another local project may have been started on the port. */
async function isStillOwner(): Promise<boolean> {
  if (Date.now() - checked.at < ownerCheckMs) return checked.isSame;
  const session = await loadSession().catch(() => null);
  checked = { at: Date.now(), isSame: session === null || servesOwner(session) };
  return checked.isSame;
}

/**
 * Whether a session is that of the queue. Without the key, while the database is away, nothing is known: then, as without an
 * answer, the upload itself meets the failure, and no other database accepts it.
 */
function servesOwner(session: Session): boolean {
  const isKnown = (session.project.key ?? null) !== null;
  return isKnown ? storeOf(session) === owner : (owner.split("@")[0] ?? "") === ownerOf(session);
}

/** Uploads that wait until their owner is here again. */
let held: readonly string[] = [];
let returnTimer: ReturnType<typeof setTimeout> | undefined;

/** Asks from time to time whether the owner of the held uploads is here again. */
function awaitReturn(): void {
  clearTimeout(returnTimer);
  // Another queue was opened while the address was asked.
  if (held.length === 0) return;
  returnTimer = setTimeout(() => {
    void loadSession().then(
      (session) => {
        const isBack = (session.project.key ?? null) !== null || !owner.includes("@");
        if (isBack && servesOwner(session)) resumeHeld();
        else awaitReturn();
      },
      () => awaitReturn(),
    );
  }, ownerCheckMs);
}

function resumeHeld(): void {
  clearTimeout(returnTimer);
  checked = { at: 0, isSame: false };
  const ids = held;
  held = [];
  if (ids.length > 0) resumeUploads(ids);
}

function holdAll(): void {
  const running = uploads.filter(({ state }) => state === "uploading" || state === "waiting");
  if (running.length === 0) return;
  held = [...held, ...running.map(({ id }) => id)];
  pauseUploads(running.map(({ id }) => id));
  awaitReturn();
  toast({
    title: "The uploads are paused",
    description: "This address serves another project or account than the one they are for.",
    tone: "danger",
  });
}

onSecretKept(resumeHeld);

async function start(upload: Upload): Promise<void> {
  // Marked before the first pause of this function, so that no other change starts it again.
  dispatch({ type: "started", id: upload.id });
  const file = files.get(upload.id) ?? (await store?.loadFile(upload.id)) ?? null;
  const { sendFile } = await import("./tus-client");
  // Taken before the owner is checked: with them the server refuses the upload if another account or project is here after that.
  const own = pageHeaders();
  if (!(await isStillOwner())) {
    holdAll();
    return;
  }
  const current = uploads.find(({ id }) => id === upload.id);
  if (current?.state !== "uploading" || stops.has(upload.id)) return;
  if (file === null) {
    dispatch({ type: "failed", id: upload.id, message: "The file is gone: choose it again." });
    return;
  }
  const { id } = upload;
  const stop = sendFile(current, file, own, {
    onLocated: (url) => dispatch({ type: "located", id, url }),
    onProgress: (sent) => dispatch({ type: "progressed", id, sent }),
    onSuccess: () => finish(id),
    onNameTaken: () => settle({ type: "name_taken", id }),
    onFailure: (message) => {
      checked = { at: 0, isSame: false };
      settle({ type: "failed", id, message });
    },
  });
  stops.set(id, stop);
}

function settle(event: UploadEvent & { id: string }): void {
  stops.delete(event.id);
  dispatch(event);
}

function finish(id: string): void {
  settle({ type: "finished", id });
  files.delete(id);
  const upload = uploads.find((one) => one.id === id);
  if (upload !== undefined) for (const listener of finishListeners) listener(upload);
}

/** A file, and the path below the chosen folder that it had on the visitor's machine. */
export interface ChosenFile {
  file: File;
  path: string;
}

/**
 * Adds files to a folder of a bucket, some hundred at a time. A file that an upload to the same place from before a reload waits for
 * continues that upload instead.
 */
export async function addFiles(
  bucket: string,
  folder: string,
  chosen: readonly ChosenFile[],
): Promise<void> {
  const missing = new Map(
    uploads
      .filter(({ state }) => state === "file_missing")
      .map((upload) => [identifyChosen(upload), upload]),
  );
  const of = owner;
  for (const part of partsOf(chosen, partSize)) {
    // The files were chosen for the queue of whoever was signed in when they were.
    if (owner !== of) return;
    const added: Upload[] = [];
    const found: string[] = [];
    const kept: { id: string; file: File }[] = [];
    for (const { file, path } of part) {
      const wanted = newUpload(bucket, `${folder}${storableName(path)}`, file);
      const leftOver = missing.get(identifyChosen(wanted));
      const { id } = leftOver ?? wanted;
      files.set(id, file);
      kept.push({ id, file });
      if (leftOver === undefined) added.push(wanted);
      else found.push(id);
    }
    if (found.length > 0) dispatch({ type: "file_found", ids: found });
    if (added.length > 0) dispatch({ type: "added", uploads: added });
    keepFiles(kept);
    await pause();
  }
}

function newUpload(bucket: string, name: string, file: File): Upload {
  return {
    id: crypto.randomUUID(),
    bucket,
    name,
    chosenName: name,
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
  dispatch({ type: "paused", ids });
}

export function resumeUploads(ids: readonly string[]): void {
  dispatch({ type: "resumed", ids });
}

export function removeUploads(ids: readonly string[]): void {
  pauseUploads(ids);
  for (const id of ids) files.delete(id);
  dispatch({ type: "removed", ids });
}

export function clearFinished(): void {
  dispatch({ type: "cleared" });
}

/** Applies the reader's choice for taken names. To keep both, a free name is searched on the server. */
export async function decideConflicts(ids: readonly string[], choice: Conflict): Promise<void> {
  const freeNames: Record<string, string> = {};
  if (choice === "keep_both") {
    const taken = new Set(uploads.filter((upload) => !isFinished(upload)).map((one) => one.name));
    const byId = new Map(uploads.map((upload) => [upload.id, upload]));
    for (const id of ids) {
      const upload = byId.get(id);
      if (upload === undefined) continue;
      freeNames[id] = await findFreeObjectName(upload, taken);
      taken.add(freeNames[id]);
    }
  }
  dispatch({ type: "decided", ids, choice, freeNames });
  if (choice === "skip") for (const id of ids) files.delete(id);
}

async function findFreeObjectName({ bucket, name }: Upload, taken: Set<string>): Promise<string> {
  for (;;) {
    const candidate = findFreeName(name, (one) => taken.has(one));
    if (!(await objectExists(bucket, candidate))) return candidate;
    taken.add(candidate);
  }
}

/** Opens the queue of a session. */
export function openUploadsOf(session: Session): void {
  openUploads(storeOf(session), earlierOwnersOf(session));
}

/** Opens the queue of an owner, who is a database or an account of it. Uploads of another one stop and are kept. */
export function openUploads(name: string, earlier: readonly string[] = []): void {
  if (owner === name) return;
  for (const stop of stops.values()) stop();
  stops.clear();
  files.clear();
  // Those of the former owner are still being written, into its own database.
  unwritten = new Map();
  held = [];
  clearTimeout(returnTimer);
  uploads = [];
  checked = { at: 0, isSame: false };
  owner = name;
  store = openUploadStore(name);
  earlierOwners = earlier;
  holdTab();
  announce();
}

/** Takes over what closed tabs, or this one before a reload, have left. */
async function takeOverUploads(): Promise<void> {
  const [from, into] = [owner, store];
  if (into === undefined) return;
  await runExclusively(`console:uploads:${from}`, async () => {
    if (earlierOwners !== null) {
      const names = earlierOwners;
      earlierOwners = null;
      await takeOverEarlierUploads(into, names).catch(() => undefined);
    }
    const [rows, living, kept] = await Promise.all([
      into.list(),
      listLivingTabs(),
      into.listFiles(),
    ]);
    const left = rows.filter(({ tab }) => !living.has(tab));
    const restored = left.map(({ tab: _, ...upload }) => ({
      ...upload,
      state: restoredState(upload, kept),
    }));
    const known = new Set(rows.map(({ id }) => id));
    await into.remove([...kept].filter((id) => !known.has(id) && !files.has(id)));
    if (restored.length === 0 || owner !== from) return;
    // Written before the lock is given to the next tab, which must find them taken.
    await into.put(restored.map((upload) => ({ ...upload, tab: thisTab })));
    if (owner !== from) {
      // This tab lives and has another queue now, so nobody would take them from it.
      await into.put(left);
      return;
    }
    dispatch({ type: "added", uploads: restored });
  });
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  void takeOverUploads();
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
