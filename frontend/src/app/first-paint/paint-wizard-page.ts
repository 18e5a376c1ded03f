// A separate file, which first-paint.ts imports only for the wizard, because its cards would enlarge the other pages.

import type { FirstView } from "./first-view";
import { paintCreateOutfit } from "./paint-create-outfit";
import { paintMarked } from "./prepare-user-page";
import type { UserRows } from "./request-user-data";
import type { StoredSession } from "./stored-session";

/** The first view of the wizard; null where the address is another one, or the app has to read a draft. */
export function paintUserPage(session: StoredSession, rows: UserRows): FirstView | null {
  const isWizard = location.pathname === "/create-outfit";
  return paintMarked(isWizard ? paintCreateOutfit : undefined, session, rows);
}
