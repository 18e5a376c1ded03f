/**
 * The tabs of the SQL editor and their texts. They are kept in local storage, so that a reload or crash loses nothing,
 * and not in the URL, which others could read. Each text has its own key, so that two windows with different tabs do not
 * overwrite each other.
 */
import { useSyncExternalStore } from "react";
import { localStore } from "@/lib/browser-storage";

export interface SqlDocument {
  id: string;
  name: string;
  /** The snippet it was opened from, to which saving goes. */
  snippet: string | null;
}

let project = "";
let documents: readonly SqlDocument[] = [];
const listeners = new Set<() => void>();

const listKey = () => `console:${project}:sql:tabs`;
const textKey = (id: string) => `console:${project}:sql:text:${id}`;

/** Reads the tabs of a project; there is always one. All projects share the address, and with it the storage. */
export function openProject(name: string): void {
  if (project === name && documents.length > 0) return;
  project = name;
  documents = readList();
  if (documents.length > 0) return;
  documents = [createDocument()];
  // Stored immediately: the text is stored under the tab's id, which a reload must find again.
  localStore.set(listKey(), JSON.stringify(documents));
}

function readList(): SqlDocument[] {
  try {
    const list: unknown = JSON.parse(localStore.get(listKey()) ?? "[]");
    return Array.isArray(list) ? list.filter(isDocument) : [];
  } catch {
    return [];
  }
}

function isDocument(value: unknown): value is SqlDocument {
  if (typeof value !== "object" || value === null) return false;
  const { id, name, snippet } = value as Record<string, unknown>;
  return (
    typeof id === "string" &&
    typeof name === "string" &&
    (snippet === null || typeof snippet === "string")
  );
}

function createDocument(name?: string, snippet: string | null = null): SqlDocument {
  return { id: crypto.randomUUID().slice(0, 8), name: name ?? nextName(), snippet };
}

function nextName(): string {
  const taken = new Set(documents.map(({ name }) => name));
  let number = 1;
  while (taken.has(`Query ${number}`)) number += 1;
  return `Query ${number}`;
}

function keep(next: readonly SqlDocument[]): void {
  documents = next;
  localStore.set(listKey(), JSON.stringify(documents));
  for (const listener of listeners) listener();
}

/** Opens a tab with a text and returns its id; a snippet that is open already keeps its tab. */
export function addDocument(text = "", name?: string, snippet: string | null = null): string {
  const open = snippet === null ? undefined : documents.find((each) => each.snippet === snippet);
  if (open !== undefined) return open.id;
  const document = createDocument(name, snippet);
  localStore.set(textKey(document.id), text);
  keep([...documents, document]);
  return document.id;
}

/** Tabs closed lately with their texts, newest first, so that closing one by mistake loses nothing. */
let closed: readonly { document: SqlDocument; text: string }[] = [];
const closedLimit = 20;

/** Closes a tab and returns the id of its neighbour. */
export function removeDocument(id: string): string {
  const index = documents.findIndex((document) => document.id === id);
  const document = documents[index];
  const text = readText(id);
  if (document !== undefined && text.trim() !== "") {
    closed = [{ document, text }, ...closed].slice(0, closedLimit);
  }
  localStore.remove(textKey(id));
  const rest = documents.filter((document) => document.id !== id);
  keep(rest.length === 0 ? [createDocument()] : rest);
  return (documents[index] ?? documents[index - 1] ?? documents[0])?.id ?? "";
}

/** Reopens the tab closed last and returns its id; null when there is none. */
export function reopenDocument(): string | null {
  const [last, ...others] = closed;
  if (last === undefined) return null;
  closed = others;
  localStore.set(textKey(last.document.id), last.text);
  keep([...documents, last.document]);
  return last.document.id;
}

export function changeDocument(id: string, changes: Partial<Omit<SqlDocument, "id">>): void {
  keep(documents.map((document) => (document.id === id ? { ...document, ...changes } : document)));
}

export const readText = (id: string): string => localStore.get(textKey(id)) ?? "";

/** Stores the text. Returns false when the browser's storage is full, which the screen then shows. */
export const keepText = (id: string, text: string): boolean => localStore.set(textKey(id), text);

export function useDocuments(): readonly SqlDocument[] {
  return useSyncExternalStore(subscribe, () => documents);
}

function subscribe(listener: () => void): () => void {
  // Another window opened or closed a tab.
  const onStorage = (event: StorageEvent) => {
    if (event.key !== listKey()) return;
    documents = readList();
    listener();
  };
  listeners.add(listener);
  window.addEventListener("storage", onStorage);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", onStorage);
  };
}
