import type { PickableItem } from "@/features/items/api/list-pickable-items";
import { pickableArguments, pickableItemsUrl } from "@/features/items/api/pickable-items-request";
import { readDraft } from "@/features/submissions/api/draft";
import { unfilteredSearch } from "@/lib/catalogue-search";
import { type EarlyRead, sendEarly } from "@/lib/early-requests";
import { pageSize } from "@/lib/page-size";
import { ownProfileUrl } from "@/lib/services";
import type { Profile } from "@/lib/session";
import type { StoredSession } from "./stored-session";

/** First segments of the paths whose first view waits for the signed-in person's profile. */
export const userPages = ["profile", "profile-settings", "create-outfit", "notifications"];

/** The rows of the signed-in person's first view. Null where nothing was asked for, or no rows came. */
export interface UserRows {
  profile: Promise<Profile | null>;
  items: Promise<PickableItem[] | null>;
}

/** The read of the wizard's first items; null where a filter or a draft needs others. */
function firstItemsRead({ access_token, user }: StoredSession): EarlyRead | null {
  if (location.search !== "" || readDraft(user.id, null) !== null) return null;
  const body = JSON.stringify(pickableArguments(unfilteredSearch, 0, pageSize - 1));
  return { url: pickableItemsUrl(), token: access_token, body };
}

/** The rows of a response. It is copied, because the app reads the response itself. */
async function rowsOf<Row>(response: Promise<Response | null>): Promise<Row[] | null> {
  try {
    return (await (await response)?.clone().json()) ?? null;
  } catch {
    return null;
  }
}

async function firstOf<Row>(rows: Promise<Row[] | null>): Promise<Row | null> {
  return (await rows)?.[0] ?? null;
}

/** Requests the data of the first view of these pages before the app's scripts are loaded. */
export function requestUserData(segment: string, session: StoredSession | null): UserRows {
  const none: Promise<null> = Promise.resolve(null);
  if (session === null || !userPages.includes(segment)) return { profile: none, items: none };
  const key = document.querySelector<HTMLMetaElement>('meta[name="supabase-key"]')?.content ?? "";
  const itemsRead = segment === "create-outfit" ? firstItemsRead(session) : null;
  const items = itemsRead === null ? none : rowsOf<PickableItem>(sendEarly(itemsRead, key));
  const profileRead = { url: ownProfileUrl(session.user.id), token: session.access_token };
  return { profile: firstOf(rowsOf<Profile>(sendEarly(profileRead, key))), items };
}
