/**
 * The tabs of the SQL editor and their texts. They are kept in local storage, so that a reload or crash loses nothing,
 * and not in the URL, which others could read. Each text has its own key. Windows that are open beside each other show the
 * same tabs: every change begins with what is stored, and a text that two windows have changed at once becomes two tabs.
 */
import { useSyncExternalStore } from "react";
import { earlierOwnersOf, ownerOf, type Session } from "@/api/session";
import { localStore } from "@/lib/browser-storage";
import { askBeforeReload } from "@/lib/until-reload";
import { takeOverEarlierTabs } from "./earlier-tabs";

export interface SqlDocument {
  id: string;
  name: string;
  /** The snippet it was opened from, to which saving goes. */
  snippet: string | null;
  /** Names the text of the snippet as it was read or saved last from here. */
  base?: string;
}

/** A short name for a text, by which a change of it is noticed. */
export function hashText(text: string): string {
  // FNV-1a, twice with different beginnings: enough for texts that nobody makes alike on purpose.
  let [one, other] = [0x811c9dc5, 0x9747b28c];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 0x01000193);
    other = Math.imul(other ^ code, 0x01000193);
  }
  return `${text.length}.${(one >>> 0).toString(36)}.${(other >>> 0).toString(36)}`;
}

let owner = "";
let documents: readonly SqlDocument[] = [];
const listeners = new Set<() => void>();
/** The texts as this window shows them. */
const texts = new Map<string, string>();
/** The texts as this window has last read or written them. */
const stored = new Map<string, string | null>();

/** What no storage had room for, of owners who were here before the present one: it is theirs again when they are back. */
const held = new Map<string, HeldTexts>();

interface HeldTexts {
  /** With each text what was stored when it was typed: another window may store something else while its owner is away. */
  texts: readonly { id: string; text: string; base: string | null }[];
  unlisted: readonly SqlDocument[];
}

const listUnkept = () => [...texts].filter(([id, text]) => text !== (stored.get(id) ?? ""));

askBeforeReload(() => [...held.keys(), ...(listUnkept().length > 0 ? [owner] : [])]);

const listKey = () => `console:${owner}:sql:tabs`;
const closedKey = () => `console:${owner}:sql:closed`;
const textPrefix = () => `console:${owner}:sql:text:`;
const textKey = (id: string) => textPrefix() + id;

/** Opens the tabs of a session, those that earlier versions have kept among them. */
export function openDocumentsOf(session: Session): void {
  const name = ownerOf(session);
  if (owner === name && documents.length > 0) return;
  takeOverEarlierTabs(
    name,
    earlierOwnersOf(session).filter((earlier) => earlier !== name),
  );
  openDocuments(name);
}

/** Reads the tabs of an owner, who is a project or an account of it; there is always one tab. */
export function openDocuments(name: string): void {
  if (owner === name && documents.length > 0) return;
  holdUnkept();
  owner = name;
  texts.clear();
  stored.clear();
  // Closed tabs that only this window has are those of the former owner.
  closedHere = [];
  const own = held.get(name);
  held.delete(name);
  unlisted = own?.unlisted ?? [];
  for (const { id, text, base } of own?.texts ?? []) {
    texts.set(id, text);
    stored.set(id, base);
  }
  documents = readPresent();
  if (documents.length > 0) return;
  documents = [createDocument()];
  // Stored immediately: the text is stored under the tab's id, which a reload must find again.
  localStore.set(listKey(), JSON.stringify(documents));
}

function holdUnkept(): void {
  const unkept = listUnkept();
  if (unkept.length === 0) return;
  const listed = new Set(readList().map(({ id }) => id));
  held.set(owner, {
    texts: unkept.map(([id, text]) => ({ id, text, base: stored.get(id) ?? null })),
    unlisted: documents.filter(({ id }) => !listed.has(id)),
  });
}

function readArray(key: string): unknown[] {
  try {
    const list: unknown = JSON.parse(localStore.get(key) ?? "[]");
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

const readList = (): SqlDocument[] => readArray(listKey()).filter(isDocument);

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

function announce(): void {
  for (const listener of listeners) listener();
}

/** Tabs of this window that no stored list has, because there was no room for it. */
let unlisted: readonly SqlDocument[] = [];

/** The list as it is stored now, with what of this window is not. */
function readPresent(): readonly SqlDocument[] {
  const list = readList();
  const known = new Set(list.map(({ id }) => id));
  return [...list, ...unlisted.filter(({ id }) => !known.has(id))];
}

/** Changes the list as it is stored now. Where nothing can be stored, the window's own list is the only one. */
function change(make: (present: readonly SqlDocument[]) => readonly SqlDocument[]): void {
  const present = readPresent();
  documents = make(present.length > 0 ? present : documents);
  const isStored = localStore.set(listKey(), JSON.stringify(documents));
  const listed = new Set(readList().map(({ id }) => id));
  unlisted = isStored ? [] : documents.filter(({ id }) => !listed.has(id));
  announce();
}

function write(id: string, text: string): boolean {
  texts.set(id, text);
  const isKept = localStore.set(textKey(id), text);
  if (isKept) stored.set(id, text);
  announce();
  return isKept;
}

/** Opens a tab with a text and returns its id; a snippet that is open already keeps its tab. */
export function addDocument(text = "", name?: string, snippet: string | null = null): string {
  const open = snippet === null ? undefined : documents.find((each) => each.snippet === snippet);
  if (open !== undefined) return open.id;
  const made = createDocument(name, snippet);
  const document = snippet === null ? made : { ...made, base: hashText(text) };
  write(document.id, text);
  change((present) => [...present, document]);
  return document.id;
}

interface ClosedDocument {
  document: SqlDocument;
  text: string;
}

/** Tabs closed lately with their texts, newest first, so that closing one by mistake loses nothing. */
const closedLimit = 20;
/** In characters. Longer texts are kept in this window alone, so that closed tabs do not fill the room of the open ones. */
const closedBudget = 200_000;
let closedHere: readonly ClosedDocument[] = [];

function isClosed(value: unknown): value is ClosedDocument {
  return (
    typeof value === "object" &&
    value !== null &&
    "document" in value &&
    isDocument(value.document) &&
    "text" in value &&
    typeof value.text === "string"
  );
}

/** The closed tabs of all windows, those that only this one knows among them. */
function listClosed(): ClosedDocument[] {
  const shared = readArray(closedKey()).filter(isClosed);
  const known = new Set(shared.map(({ document }) => document.id));
  return [...closedHere.filter(({ document }) => !known.has(document.id)), ...shared];
}

function keepClosed(closed: readonly ClosedDocument[]): void {
  const newest = closed.slice(0, closedLimit);
  let room = closedBudget;
  const shared = newest.filter(({ text }) => {
    room -= text.length;
    return room >= 0;
  });
  closedHere = newest.filter((entry) => !shared.includes(entry));
  localStore.set(closedKey(), JSON.stringify(shared));
}

/** Closes a tab and returns the id of its neighbour. */
export function removeDocument(id: string): string {
  const index = documents.findIndex((document) => document.id === id);
  const document = documents[index];
  const text = readText(id);
  if (document !== undefined && text.trim() !== "")
    keepClosed([{ document, text }, ...listClosed()]);
  localStore.remove(textKey(id));
  texts.delete(id);
  stored.delete(id);
  change((present) => {
    const rest = present.filter((document) => document.id !== id);
    return rest.length === 0 ? [createDocument()] : rest;
  });
  return (documents[index] ?? documents[index - 1] ?? documents[0])?.id ?? "";
}

/** Reopens the tab closed last and returns its id; null when there is none. */
export function reopenDocument(): string | null {
  const [last, ...others] = listClosed();
  if (last === undefined) return null;
  keepClosed(others);
  write(last.document.id, last.text);
  change((present) => [...present.filter(({ id }) => id !== last.document.id), last.document]);
  return last.document.id;
}

export function changeDocument(id: string, changes: Partial<Omit<SqlDocument, "id">>): void {
  change((present) =>
    present.map((document) => (document.id === id ? { ...document, ...changes } : document)),
  );
}

/** The text of a tab as this window shows it. */
export function readText(id: string): string {
  const known = texts.get(id);
  if (known !== undefined) return known;
  const text = localStore.get(textKey(id));
  stored.set(id, text);
  texts.set(id, text ?? "");
  return text ?? "";
}

export interface KeptText {
  /** Whether the browser has stored it; its storage may be full or off. */
  isKept: boolean;
  /** The tab that has the text now: another one when a second window had changed the first. */
  id: string;
}

/** Stores a text that was typed. */
export function keepText(id: string, text: string): KeptText {
  // An editor reports also the text that it was given: written again, it would undo what another window types meanwhile.
  if (text === readText(id)) return { isKept: text === (stored.get(id) ?? ""), id };
  const present = localStore.get(textKey(id));
  const isOvertaken = present !== null && present !== stored.get(id) && present !== text;
  if (!isOvertaken) return { isKept: write(id, text), id };
  // The other window's text stays where it is, and this one goes on in a tab of its own.
  texts.set(id, present);
  stored.set(id, present);
  const name = documents.find((document) => document.id === id)?.name;
  const own = createDocument(name === undefined ? undefined : `${name} (mine)`);
  const isKept = write(own.id, text);
  change((list) => [...list, own]);
  return { isKept, id: own.id };
}

/** Another window has stored a list or a text. */
function takeOver({ key }: StorageEvent): void {
  if (key === listKey() || key === null) {
    const list = readPresent();
    if (list.length > 0) documents = list;
    announce();
  } else if (key.startsWith(textPrefix())) {
    const id = key.slice(textPrefix().length);
    const text = localStore.get(key);
    // A text that could not be stored here is newer than what the other window knows.
    if (text === null || texts.get(id) !== (stored.get(id) ?? "")) return;
    texts.set(id, text);
    stored.set(id, text);
    announce();
  }
}

// Not by a component: tabs change in the other window while another screen is open here, too.
window.addEventListener("storage", takeOver);

export function useDocuments(): readonly SqlDocument[] {
  return useSyncExternalStore(subscribe, () => documents);
}

/** The text of a tab, which another window may change. */
export function useText(id: string): string {
  return useSyncExternalStore(subscribe, () => readText(id));
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
