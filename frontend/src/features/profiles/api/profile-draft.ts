import { localStore } from "@/lib/browser-storage";
import type { ProfileValues } from "./profile-schema";
import { type ProfileField, profileFields } from "./profile-values";

/** One draft per user: people who share a machine must not find each other's. */
const draftKey = (userId: string) => `lookbook:edit-profile:${userId}`;

/** The edited but unsaved ones of these fields. What is stored is text that scripts and people may have changed. */
export function readDraft(
  userId: string,
  fields: readonly ProfileField[] = profileFields,
): Partial<ProfileValues> {
  const stored = localStore.get(draftKey(userId));
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
  if (Object.keys(draft).length === 0) localStore.remove(draftKey(userId));
  else localStore.set(draftKey(userId), JSON.stringify(draft));
}
