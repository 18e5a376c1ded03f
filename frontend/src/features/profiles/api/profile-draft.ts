import { localStore } from "@/lib/browser-storage";
import { type ProfileValues, profileFields } from "./profile-values";

/** One draft per user: people who share a machine must not find each other's. */
const draftKey = (userId: string) => `lookbook:edit-profile:${userId}`;

/** The edited but unsaved fields. What is stored is text that scripts and people may have changed. */
export function readDraft(userId: string): Partial<ProfileValues> {
  const stored = localStore.get(draftKey(userId));
  if (stored === null) return {};
  try {
    const parsed: unknown = JSON.parse(stored);
    if (typeof parsed !== "object" || parsed === null) return {};
    const texts = Object.entries(parsed).filter(
      ([field, value]) =>
        typeof value === "string" && profileFields.some((known) => known === field),
    );
    return Object.fromEntries(texts);
  } catch {
    return {};
  }
}

/** Keeps the edited fields in the browser; none removes the draft. */
export function writeDraft(userId: string, changes: Partial<ProfileValues>): void {
  if (Object.keys(changes).length === 0) localStore.remove(draftKey(userId));
  else localStore.set(draftKey(userId), JSON.stringify(changes));
}

export function clearDraft(userId: string): void {
  localStore.remove(draftKey(userId));
}
