import { pickableArguments, pickableItemsUrl } from "@/features/items/api/pickable-items-request";
import { readDraft } from "@/features/submissions/api/draft";
import { localStore } from "@/lib/browser-storage";
import { unfilteredSearch } from "@/lib/catalogue-search";
import { type EarlyRead, sendEarly } from "@/lib/early-requests";
import { pageSize } from "@/lib/page-size";
import { ownProfileUrl, sessionKey } from "@/lib/services";

/** Paths whose first view waits for the signed-in person's profile. */
const userPages = ["profile", "profile-settings", "create-outfit", "notifications"];

/** Seconds before its end in which the auth client replaces a token; a request with the old one would be for nothing. */
const renewalMargin = 90;

interface StoredSession {
  access_token: string;
  expires_at: number;
  user: { id: string };
}

function isStoredSession(value: unknown): value is StoredSession {
  if (typeof value !== "object" || value === null) return false;
  const { access_token, expires_at, user } = value as Partial<StoredSession>;
  return (
    typeof access_token === "string" &&
    typeof expires_at === "number" &&
    typeof user?.id === "string"
  );
}

/** The session that supabase-js has stored, if its token can still be used. */
function readStoredSession(): StoredSession | null {
  try {
    const stored: unknown = JSON.parse(localStore.get(sessionKey) ?? "null");
    const isUsable =
      isStoredSession(stored) && stored.expires_at - Date.now() / 1000 > renewalMargin;
    return isUsable ? stored : null;
  } catch {
    // The auth client decides what becomes of a session that cannot be read.
    return null;
  }
}

/** The items that the wizard shows first; null where a filter or a draft asks for others. */
function firstItemsRead({ access_token, user }: StoredSession): EarlyRead | null {
  if (location.search !== "" || readDraft(user.id, null) !== null) return null;
  const body = JSON.stringify(pickableArguments(unfilteredSearch, 0, pageSize - 1));
  return { url: pickableItemsUrl(), token: access_token, body };
}

/** Asks for what the first view of these pages consists of before the app's scripts are there. */
export function requestUserData(segment: string): void {
  const session = userPages.includes(segment) ? readStoredSession() : null;
  if (session === null) return;
  const key = document.querySelector<HTMLMetaElement>('meta[name="supabase-key"]')?.content ?? "";
  const items = segment === "create-outfit" ? firstItemsRead(session) : null;
  if (items !== null) sendEarly(items, key);
  sendEarly({ url: ownProfileUrl(session.user.id), token: session.access_token }, key);
}
