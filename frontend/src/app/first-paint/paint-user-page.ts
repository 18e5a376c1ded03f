import type { FirstView } from "./first-view";
import { paintCreateOutfit } from "./paint-create-outfit";
import { paintNotifications } from "./paint-notifications";
import { paintMyProfile, paintSettings } from "./paint-profile";
import type { UserRows } from "./request-user-data";
import type { StoredSession } from "./stored-session";

type Painter = (session: StoredSession, rows: UserRows) => FirstView | null;

const painters: Record<string, Painter | undefined> = {
  "/profile": paintMyProfile,
  "/profile/edit": paintSettings("Settings", false),
  "/profile-settings": paintSettings("Profile Settings", true),
  "/create-outfit": paintCreateOutfit,
  "/notifications": paintNotifications,
};

/** The first view of a signed-in person's page, marked as such for the app; null where the address names none. */
export function paintUserPage(
  path: string,
  session: StoredSession,
  rows: UserRows,
): FirstView | null {
  const view = painters[path]?.(session, rows) ?? null;
  if (view !== null) view.page.dataset.userView = "";
  return view;
}
