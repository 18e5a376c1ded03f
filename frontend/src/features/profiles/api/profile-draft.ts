import { localStore } from "@/lib/browser-storage";
import type { ProfileValues } from "./profile-schema";
import { type ProfileField, profileFields } from "./profile-values";

/** Names of the fields as the form shows them. */
const fieldLabels: Record<ProfileField, string> = {
  username: "Username",
  fullName: "Display Name",
  bio: "Bio",
  instagramUrl: "Instagram",
  twitterUrl: "Twitter",
  websiteUrl: "Website",
};

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
  const stored = localStore.get(key);
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

/**
 * Keeps the edited ones of these fields in the browser, in place of what was kept of them. Other fields stay as they are: the
 * short form does not touch what was typed into the full one. Nothing left removes the draft.
 */
export function writeDraft(
  userId: string,
  changes: Partial<ProfileValues>,
  fields: readonly ProfileField[] = profileFields,
): void {
  const others = profileFields.filter((field) => !fields.includes(field));
  const draft = { ...readDraft(userId, others), ...changes };
  keep(draftKey(userId), draft);
  const left = new Set(Object.keys(draft));
  const base = Object.entries(readTexts(baseKey(userId), profileFields));
  keep(baseKey(userId), Object.fromEntries(base.filter(([field]) => left.has(field))));
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

/**
 * A changed field that another tab or device has saved since its edit began, to another value; null when there is none. It is
 * reported once: the edit then begins with what is saved now.
 */
export function findOvertaken(
  userId: string,
  changed: Partial<ProfileValues>,
  saved: ProfileValues,
): { label: string; theirs: string } | null {
  const base = readTexts(baseKey(userId), profileFields);
  const field = profileFields.find(
    (one) =>
      changed[one] !== undefined &&
      base[one] !== undefined &&
      base[one] !== saved[one] &&
      changed[one] !== saved[one],
  );
  if (field === undefined) return null;
  keep(baseKey(userId), { ...base, [field]: saved[field] });
  return { label: fieldLabels[field], theirs: saved[field] };
}
