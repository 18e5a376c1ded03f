import { readPageData } from "@/app/page-rows";
import { setSite } from "@/lib/site";
import type { FirstView } from "./first-view";
import type { UserRows } from "./request-user-data";
import type { StoredSession } from "./stored-session";

/** Draws one page for the person of the session; null where the app has to do it. */
export type Painter = (session: StoredSession, rows: UserRows) => FirstView | null;

/** Takes the site's name over from the page, and marks what the painter draws for the app. */
export function paintMarked(
  painter: Painter | undefined,
  session: StoredSession,
  rows: UserRows,
): FirstView | null {
  const { site } = readPageData();
  if (site !== undefined) setSite({ name: site.name, registrationOpen: site.registration_open });
  const view = painter?.(session, rows) ?? null;
  if (view !== null) view.page.dataset.userView = "";
  return view;
}
