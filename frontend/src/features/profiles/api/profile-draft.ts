import { localStore } from "@/lib/browser-storage";
import type { ProfileValues } from "./profile-schema";
import { type ProfileField, profileFields } from "./profile-values";

/** One draft per user: people who share a machine must not find each other's. */
const draftKey = (userId: string) => `lookbook:edit-profile:${userId}`;

const baseKey = (userId: string) => `lookbook:edit-profile-base:${userId}`;

/** The edited but unsaved ones of these fields. What is stored is text that scripts and people may have changed. */
export function readDraft(
  userId: string,
  fields: readonly ProfileField[] = profileFields,
): Partial<ProfileValues> {
  return readTexts(draftKey(userId), fields);
}

function readTexts(key: string, fields: readonly ProfileField[]): Partial<ProfileValues> {
  // Where a full storage has refused the texts of this tab, other tabs may have stored theirs beside them.
  return {
    ...parseTexts(localStore.stored(key), fields),
    ...parseTexts(localStore.get(key), fields),
  };
}

function parseTexts(
  stored: string | null,
  fields: readonly ProfileField[],
): Partial<ProfileValues> {
  if (stored === null) return {};
  try {
    const parsed: unknown = JSON.parse(stored);
    if (typeof parsed !== "object" || parsed === null) return {};
    const texts = Object.entries(parsed).filter(
      ([field, value]) => typeof value === "string" && fields.some((known) => known === field),
    );
    return Object.fromEntries(texts);
  } catch {
    return {};
  }
}

/** Keeps these texts, each in place of what was kept of its field. Other fields are those of other forms and tabs, and stay. */
export function keepDraft(userId: string, texts: Partial<ProfileValues>): void {
  keep(draftKey(userId), { ...readDraft(userId), ...texts });
}

/** Calls back when another tab has stored or removed texts of this person. Returns a function that ends it. */
export function onDraftStored(userId: string, listener: () => void): () => void {
  const handle = ({ key }: StorageEvent) => {
    if (key === draftKey(userId) || key === null) listener();
  };
  window.addEventListener("storage", handle);
  return () => window.removeEventListener("storage", handle);
}

/** Forgets these fields, with what was saved when their edits began. */
export function forgetDraft(userId: string, fields: readonly ProfileField[]): void {
  for (const key of [draftKey(userId), baseKey(userId)]) {
    const kept = Object.entries(readTexts(key, profileFields));
    keep(key, Object.fromEntries(kept.filter(([field]) => !fields.some((one) => one === field))));
  }
}

/** Forgets the fields of which these texts are kept. Where it is another text, another tab has typed it since. */
export function forgetTexts(userId: string, texts: Partial<ProfileValues>): void {
  const kept = readDraft(userId);
  forgetDraft(
    userId,
    profileFields.filter((field) => field in texts && kept[field] === texts[field]),
  );
}

function keep(key: string, texts: Partial<ProfileValues>): void {
  if (Object.keys(texts).length === 0) localStore.remove(key);
  else localStore.set(key, JSON.stringify(texts));
}

/** Keeps with the draft what was saved when the edit of a field began. Fields whose edit has begun before keep theirs. */
export function rememberBase(
  userId: string,
  edited: Partial<ProfileValues>,
  saved: ProfileValues,
): void {
  const known = readTexts(baseKey(userId), profileFields);
  const begun = profileFields.filter((field) => field in edited && !(field in known));
  keep(baseKey(userId), {
    ...known,
    ...Object.fromEntries(begun.map((field) => [field, saved[field]])),
  });
}

/** What was saved when the edits of kept texts began. */
export function readBase(userId: string): Partial<ProfileValues> {
  return readTexts(baseKey(userId), profileFields);
}

const sentKey = (userId: string) => `lookbook:edit-profile-sent:${userId}`;

/** Keeps what is about to be saved: found there later, it is the user's own, also where no answer came. */
export function rememberSent(userId: string, changed: Partial<ProfileValues>): void {
  keep(sentKey(userId), { ...readTexts(sentKey(userId), profileFields), ...changed });
}

/** What earlier attempts have sent whose answers did not come. */
export function readSent(userId: string): Partial<ProfileValues> {
  return readTexts(sentKey(userId), profileFields);
}

/** What was sent is saved: edits of these fields that go on began with it. */
export function settleSent(
  userId: string,
  changed: Partial<ProfileValues>,
  saved: ProfileValues,
): void {
  const begun = profileFields.filter((field) => field in changed);
  const base = readTexts(baseKey(userId), profileFields);
  const settled = Object.fromEntries(begun.map((field) => [field, saved[field]]));
  keep(baseKey(userId), { ...base, ...settled });
  keep(sentKey(userId), {});
}

/**
 * The changed fields that another tab or device has saved since their edit began with `base`, to another value. Until
 * {@link acknowledge} each attempt to save finds them again. What this form has `sent` before is the user's own.
 */
export function findOvertaken(
  base: Partial<ProfileValues>,
  changed: Partial<ProfileValues>,
  saved: ProfileValues,
  sent: Partial<ProfileValues>,
): ProfileField[] {
  return profileFields.filter(
    (one) =>
      changed[one] !== undefined &&
      base[one] !== undefined &&
      ![base[one], changed[one], sent[one]].includes(saved[one]),
  );
}

/** The user has seen what is saved of these fields: their edits begin with it from now on. */
export function acknowledge(
  userId: string,
  fields: readonly ProfileField[],
  saved: ProfileValues,
): void {
  const base = readTexts(baseKey(userId), profileFields);
  const now = Object.fromEntries(fields.map((field) => [field, saved[field]]));
  keep(baseKey(userId), { ...base, ...now });
}
