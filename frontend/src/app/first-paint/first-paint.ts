/**
 * Draws the first view of a page before the app arrives. The build writes this script into index.html (`inline-first-paint.ts`),
 * and the server writes the page's rows in front of it, so a visitor sees the pictures as soon as they are loaded, and not after
 * 150 kB of scripts. The app then renders the same view in its place; `e2e/site/first-paint.spec.ts` compares the two.
 *
 * Only addresses without search and hash are drawn: the rows in the page are those of the plain address.
 */

import type { PageData } from "@/app/page-data";
import { setSite } from "@/lib/site";
import { paintAuth } from "./paint-auth";
import { paintDiscovery } from "./paint-discovery";
import { paintExplore } from "./paint-explore";
import { paintItem, paintOutfit } from "./paint-subject";

/** How long the app waits for the pictures at most, in milliseconds. A slow picture must not keep a page from working. */
const longestWaitMs = 1000;

function readData(): PageData {
  const text = document.getElementById("page-data")?.textContent ?? "";
  return text === "" ? {} : (JSON.parse(text) as PageData);
}

function createView(): HTMLElement | null {
  if (location.search !== "" || location.hash !== "") return null;
  const data = readData();
  if (data.site !== undefined) {
    setSite({ name: data.site.name, registrationOpen: data.site.registration_open });
  }
  switch (location.pathname.split("/")[1]) {
    case "":
      return paintExplore(data);
    case "auth":
      return paintAuth();
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

/** Resolves when the browser has drawn the pictures, or shown that it cannot. */
async function waitForPictures(view: HTMLElement): Promise<void> {
  const pictures = [...view.querySelectorAll("img")];
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => undefined)));
  // The frame in which they are drawn has to end first.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

/** Runs the app's scripts. The libraries have an element of their own, so that the browser can draw between them and the app. */
function startApp(): void {
  const entry = document.querySelector<HTMLMetaElement>('meta[name="app-scripts"]');
  for (const address of entry?.content.split(" ") ?? []) {
    const script = document.createElement("script");
    script.type = "module";
    script.src = address;
    document.head.append(script);
  }
}

/** The view, or null where there is none or it failed: the app must start in any case. */
function tryToCreateView(): HTMLElement | null {
  try {
    return createView();
  } catch (error) {
    console.error(error);
    return null;
  }
}

const view = tryToCreateView();
if (view === null) {
  startApp();
} else {
  // It is a picture of the page: nothing in it can be operated yet, so it must neither be focused nor read out.
  view.inert = true;
  view.ariaHidden = "true";
  document.getElementById("root")?.append(view);
  // Scripts that run meanwhile would delay the pictures. In a hidden tab nothing is drawn, so the time limit counts.
  const deadline = new Promise((resolve) => setTimeout(resolve, longestWaitMs));
  void Promise.race([waitForPictures(view), deadline]).then(startApp);
}
