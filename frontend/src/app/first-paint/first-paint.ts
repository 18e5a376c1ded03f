/**
 * Draws the first view of a page before the app arrives. The build writes this script into index.html (`inline-first-paint.ts`),
 * and the server writes the page's rows in front of it, so a visitor sees the pictures as soon as they are loaded, and not after
 * 150 kB of scripts. The app then renders the same view in its place; `e2e/site/first-paint.spec.ts` compares the two.
 *
 * Only addresses without search and hash are drawn: the rows in the page are those of the plain address.
 *
 * Pages of signed-in people are drawn only with a session whose token can still be used, and with nothing but that person's own
 * profile. It is asked for here, as are the wizard's items; the app takes the responses over.
 */

import { addPageData, readPageData } from "@/app/page-rows";
import { hasStoredSession } from "@/lib/services";
import { setSite } from "@/lib/site";
import { keepEarlyTap } from "./early-tap";
import type { FirstView } from "./first-view";
import { loadProviders } from "./load-providers";
import { paintAuth, paintSignInForm } from "./paint-auth";
import { paintDiscovery } from "./paint-discovery";
import { paintExplore } from "./paint-explore";
import { paintItem, paintOutfit } from "./paint-subject";
import { requestUserData, userPages } from "./request-user-data";
import { readStoredSession } from "./stored-session";

/** How long the app waits for the pictures at most, in milliseconds. A slow picture must not keep a page from working. */
const longestWaitMs = 1000;

const segment = location.pathname.split("/")[1];
/** Signed-in people are sent on from the sign-in page, so nothing is prepared for them. */
const isSignIn = segment === "auth" && !hasStoredSession();

const session = readStoredSession();
const userRows = requestUserData(segment ?? "", session);
const isPlainAddress = location.search === "" && location.hash === "";
const isUserPage = isPlainAddress && session !== null && userPages.includes(segment ?? "");

function createView(): HTMLElement | null {
  if (!isPlainAddress) return null;
  const data = readPageData();
  if (data.site !== undefined) {
    setSite({ name: data.site.name, registrationOpen: data.site.registration_open });
  }
  switch (segment) {
    case "":
      return paintExplore(data);
    case "auth":
      return isSignIn ? paintAuth() : null;
    case "discovery":
      return paintDiscovery(data);
    case "look":
      return paintOutfit(data);
    case "product":
      return paintItem(data);
    default:
      return null;
  }
}

/** The first view of a signed-in person's page. A separate script draws it, which visitors do not load. */
async function createUserView(): Promise<FirstView | null> {
  const [others, wizard] = listedScripts("user-view-scripts");
  const address = segment === "create-outfit" ? wizard : others;
  if (session === null || address === undefined) return null;
  const { paintUserPage }: typeof import("./paint-user-page") = await import(
    /* @vite-ignore */ address
  );
  return paintUserPage(session, userRows);
}

/** Resolves when the browser has drawn the pictures, or shown that it cannot. */
async function waitForPictures(view: HTMLElement): Promise<void> {
  const pictures = [...view.querySelectorAll("img")];
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => undefined)));
  // The frame in which they are drawn has to end first.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** The addresses in a meta element that the build writes into the page. */
function listedScripts(name: "app-scripts" | "page-scripts" | "user-view-scripts"): string[] {
  const list = document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";
  return list === "" ? [] : list.split(" ");
}

/**
 * Requests all scripts of the page and runs the app's. The libraries are loaded by a separate element, so that the
 * browser can paint between them and the app.
 */
function startApp(): void {
  isAppStarted = true;
  for (const href of listedScripts("page-scripts")) {
    const link = Object.assign(document.createElement("link"), { rel: "modulepreload", href });
    document.head.append(link);
  }
  for (const src of listedScripts("app-scripts")) {
    document.head.append(Object.assign(document.createElement("script"), { type: "module", src }));
  }
}

/** Returns the view; null where there is none or it failed, because the app must start in any case. */
function tryToCreateView(): HTMLElement | null {
  try {
    return createView();
  } catch (error) {
    console.error(error);
    return null;
  }
}

/** Puts the identity providers into the page's data, and draws the form that they belong to. */
async function prepareSignIn(page: HTMLElement | null): Promise<void> {
  const providers = await loadProviders();
  if (providers !== null) addPageData({ providers });
  if (page !== null) paintSignInForm(page, providers ?? []);
}

/** Shows a picture of the page: nothing in it can be operated yet, so it must neither be focused nor read out. A click is kept. */
function show(page: HTMLElement): void {
  page.inert = true;
  page.ariaHidden = "true";
  const root = document.getElementById("root");
  root?.append(page);
  if (root !== null) keepEarlyTap(root, page);
}

/** Resolves when a signed-in person's page can be seen with its rows. After the app has started, its own page must stay alone. */
async function paintForUser(): Promise<void> {
  const user = await createUserView();
  if (user === null || isAppStarted) return;
  show(user.page);
  await user.complete?.();
  await waitForPictures(user.page);
}

/** Resolves when the first view can be seen, and what decides its layout is known. */
async function waitForView(page: HTMLElement | null): Promise<void> {
  if (isUserPage) await paintForUser();
  if (isSignIn) await prepareSignIn(page);
  if (page !== null) await waitForPictures(page);
}

let isAppStarted = false;
const view = tryToCreateView();
if (view !== null) show(view);
if (view === null && !isSignIn && !isUserPage) {
  startApp();
} else {
  // Scripts that are loaded or run meanwhile would delay the pictures. In a hidden tab nothing is painted, so a time limit
  // applies.
  const deadline = new Promise((resolve) => setTimeout(resolve, longestWaitMs));
  void Promise.race([waitForView(view), deadline])
    .catch(console.error)
    .then(startApp);
}
