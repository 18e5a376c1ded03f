// A separate file, which first-paint.ts imports only for signed-in people.

import type { FirstView } from "./first-view";
import { paintNotifications } from "./paint-notifications";
import { paintMyProfile, paintSettings } from "./paint-profile";
import { type Painter, paintMarked } from "./prepare-user-page";
import type { UserRows } from "./request-user-data";
import type { StoredSession } from "./stored-session";

const painters: Record<string, Painter | undefined> = {
  "/profile": paintMyProfile,
  "/profile/edit": paintSettings("Settings"),
  "/profile-settings": paintSettings("Profile Settings"),
  "/notifications": paintNotifications,
};

/** The first view of a signed-in person's page; null where the address names none. */
export function paintUserPage(session: StoredSession, rows: UserRows): FirstView | null {
  return paintMarked(painters[location.pathname], session, rows);
}
