import { localStore } from "@/lib/browser-storage";
import type { Gender } from "@/lib/database";
import type { Arrangement, Offsets } from "./arrange-pieces";

/** The gender for which the outfit is; `all` means no choice. */
export type GenderChoice = Gender | "all";

export interface PickedItem {
  id: string;
  name: string;
  image: string | null;
  image_color: string | null;
  price: number;
  gender: Gender;
  /** What it is, so that it is laid out as such. Drafts of an earlier version have neither until their items are read again. */
  category?: { name: string } | null;
  subcategory?: { name: string } | null;
}

export type PictureChoice =
  /** The picture of one of the items. Where `itemId` is null or no longer chosen: of the only one, or all on one sheet. */
  | { kind: "item"; itemId: string | null }
  /** All items on one sheet, drawn when the outfit is submitted; some of them moved by hand. */
  | { kind: "composed"; arrangement?: Arrangement; moved?: Offsets }
  /** A picture of the user's own; `url` is its root-relative address. */
  | { kind: "uploaded"; url: string };

/** The state of the wizard: chosen items and typed texts. */
export interface Draft {
  /** The id that the outfit will have. Sent with every attempt, so that a repeated one cannot make a second outfit. */
  id: string;
  gender: GenderChoice;
  items: PickedItem[];
  name: string;
  picture: PictureChoice;
  /** The picture that the outfit has while it is edited: not to be deleted before the edit is saved. */
  savedPicture: string | null;
  /** What the edit of a saved outfit began with; absent for a new one, unless somebody else has changed that since it was sent. */
  base?: SubmissionBase | undefined;
  /** What attempts have sent, the newest last: found in the saved outfit, it is the person's own, also where no answer came. */
  sent?: readonly SubmissionFields[] | undefined;
}

/** The columns of a saved outfit that an edit writes. */
export interface SubmissionFields {
  name: string;
  description: string | null;
  main_image: string | null;
  gender: Gender;
  item_ids: string[];
}

export interface SubmissionBase extends SubmissionFields {
  version: number;
}

/** Attempts that are remembered. Each has some hundred bytes. */
const mostSent = 10;

/** The draft's memory of attempts with one that is about to be sent. */
export function rememberSent({ sent = [] }: Draft, fields: SubmissionFields): Partial<Draft> {
  return { sent: [...sent, fields].slice(-mostSent) };
}

/** Makes the draft one of another outfit than those that were sent. */
export function anotherOutfit(): Partial<Draft> {
  return { id: crypto.randomUUID(), base: undefined, sent: undefined };
}

export function emptyDraft(): Draft {
  return {
    id: crypto.randomUUID(),
    gender: "all",
    items: [],
    name: "",
    picture: { kind: "item", itemId: null },
    savedPicture: null,
  };
}

/** Stored with each draft. To be raised when {@link Draft} changes, so that older drafts are not read as new ones. */
const draftVersion = 1;

interface StoredDraft {
  version: number;
  draft: Draft;
}

/** Each person has their own drafts: one for a new outfit, one for each outfit that they edit. */
function draftKey(userId: string, outfitId: string | null): string {
  const base = `lookbook:create-outfit:${userId}`;
  return outfitId === null ? base : `${base}:${outfitId}`;
}

/** Reads the stored draft; null when there is none, or when another version of the site wrote it. */
export function readDraft(userId: string, outfitId: string | null): Draft | null {
  const stored = localStore.get(draftKey(userId, outfitId));
  if (stored === null) return null;
  try {
    const { version, draft }: Partial<StoredDraft> = JSON.parse(stored);
    return version === draftVersion && draft !== undefined ? draft : null;
  } catch {
    return null;
  }
}

export function storeDraft(userId: string, outfitId: string | null, value: Draft): void {
  const stored: StoredDraft = { version: draftVersion, draft: value };
  localStore.set(draftKey(userId, outfitId), JSON.stringify(stored));
}

/** Calls back when another tab has stored or removed this draft. Returns a function that ends it. */
export function onDraftStored(
  userId: string,
  outfitId: string | null,
  listener: () => void,
): () => void {
  const key = draftKey(userId, outfitId);
  const handle = (event: StorageEvent) => {
    if (event.key === key || event.key === null) listener();
  };
  window.addEventListener("storage", handle);
  return () => window.removeEventListener("storage", handle);
}

export function removeDraft(userId: string, outfitId: string | null): void {
  localStore.remove(draftKey(userId, outfitId));
}

/** The gender that is stored: without a choice the outfit is for everybody. */
export function storedGender(choice: GenderChoice): Gender {
  return choice === "all" ? "unisex" : choice;
}

/** Genders of the items that may be in an outfit of this choice; an empty list for all of them. */
export function selectableGenders(choice: GenderChoice): Gender[] {
  if (choice === "all") return [];
  return choice === "unisex" ? ["unisex"] : [choice, "unisex"];
}

/** The chosen items that an outfit of this choice cannot have. */
export function itemsThatDoNotFit(
  items: readonly PickedItem[],
  choice: GenderChoice,
): PickedItem[] {
  const allowed = selectableGenders(choice);
  return allowed.length === 0 ? [] : items.filter(({ gender }) => !allowed.includes(gender));
}

/** Whether the outfit shows all items on one sheet: because that was chosen, or because nothing was and there are several. */
export function isComposed({ items, picture: choice }: Draft): boolean {
  if (choice.kind !== "item") return choice.kind === "composed";
  const isChosen = items.some(({ id }) => id === choice.itemId);
  return !isChosen && items.filter(({ image }) => image !== null).length > 1;
}

/** How all items lie on the sheet. */
export function arrangementOf({ picture }: Draft): Arrangement {
  return (picture.kind === "composed" && picture.arrangement) || "laid";
}

/** Which of the items were moved on the sheet, and how far. */
export function movedPieces({ picture, items }: Draft): Offsets {
  const moved = (picture.kind === "composed" && picture.moved) || {};
  const entries = Object.entries(moved).filter(([id]) => items.some((item) => item.id === id));
  return Object.fromEntries(entries);
}

/** A word for how the sheet is drawn: the arrangement, or another one for each way in which pieces were moved. */
export function sheetWord(draft: Draft): string {
  const moved = Object.entries(movedPieces(draft));
  if (moved.length === 0) return arrangementOf(draft);
  moved.sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([arrangementOf(draft), moved]);
  // FNV-1a: short, and another one for nearly every other text.
  let hash = 0x811c9dc5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  return `moved${(hash >>> 0).toString(36)}`;
}

/** The items with a picture. */
export function listItemsWithPicture(
  items: readonly PickedItem[],
): (PickedItem & { image: string })[] {
  return items.flatMap(({ image, ...item }) => (image === null ? [] : [{ ...item, image }]));
}

/** The item whose picture the outfit shows; undefined when it shows another one or has no item with a picture. */
export function pictureItem(draft: Draft): PickedItem | undefined {
  const { items, picture: choice } = draft;
  if (choice.kind !== "item" || isComposed(draft)) return undefined;
  return (
    items.find(({ id }) => id === choice.itemId) ??
    items.find(({ image }) => image !== null) ??
    items[0]
  );
}

/** The name of an outfit that was given none, such as `Outfit 2026-11-22 14:05`, in local time. */
export function defaultName(now: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const day = `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
  return `Outfit ${day} ${two(now.getHours())}:${two(now.getMinutes())}`;
}

/** Whether a name is one by the time, which was given because none was typed. */
export function isDefaultName(name: string): boolean {
  return /^Outfit \d{4}-\d{2}-\d{2} \d{2}:\d{2}$/.test(name);
}

/** The error of a name; undefined for a valid or a blank one. */
export function nameError(name: string): string | undefined {
  const { length } = [...name.trim()];
  if (length === 1) return "Name must be at least 2 characters";
  if (length > 200) return "Name must be at most 200 characters";
  return undefined;
}

/** Whether a description is the one that a submission gets, or absent; else an administrator has written it. */
export function isSubmissionDescription(description: string | null): boolean {
  return description === null || /^User-created outfit with \d+ items$/.test(description);
}

/** The description that every submission gets. */
export function submissionDescription(count: number): string {
  return `User-created outfit with ${count} items`;
}
