/**
 * Keeps copies of what was seen for times without a network: public pages, their files and pictures. Nothing of a session: pages come
 * from the server as a visitor gets them, and answers of the services are not kept. The worker in `public/sw.js` shows them.
 */

const names = { pages: "lookbook-pages", files: "lookbook-files", pictures: "lookbook-pictures" };
type Kind = keyof typeof names;

/** Bytes of each that are kept, 30 MB in all. The largest file of the site has 310 kB, and is needed by every page. */
const most: Readonly<Record<Kind, number>> = {
  pages: 4_000_000,
  files: 8_000_000,
  pictures: 18_000_000,
};
/** Larger ones are not kept. */
const largest: Readonly<Record<Kind, number>> = {
  pages: 150_000,
  files: 500_000,
  pictures: 150_000,
};

/** First segments of addresses that are no public pages. */
const privateSegments = new Set([
  "admin",
  "auth",
  "create-outfit",
  "notifications",
  "profile",
  "profile-settings",
  "welcome",
]);

export function isPublicPage(pathname: string): boolean {
  return !privateSegments.has(pathname.split("/")[1] ?? "");
}

/** What kind of copy a file of the site is; null for what is not kept. */
export function kindOf(url: URL): Kind | null {
  if (url.origin !== window.location.origin) return null;
  const { pathname } = url;
  if (pathname.startsWith("/assets/") || pathname === "/favicon.svg") return "files";
  const isPicture = /^\/storage\/v1\/(object|render\/image)\/public\//.test(pathname);
  return isPicture ? "pictures" : null;
}

/** Puts each last, and fetches what is not there yet; the first ones leave. Pages are fetched anew, so that they are of the present. */
async function keep(kind: Kind, urls: readonly string[], of: number): Promise<void> {
  if (urls.length === 0 || of !== generation) return;
  const copies = await caches.open(names[kind]);
  for (const url of urls) {
    const known = kind === "pages" ? undefined : await copies.match(url);
    if (known !== undefined) {
      // Put last: what is still in use leaves after what is not.
      await copies.delete(url);
      await copies.put(url, known);
      continue;
    }
    const response = await fetch(url, {
      // A picture or file that the page shows is in the browser's own cache.
      cache: kind === "pages" ? "default" : "force-cache",
      credentials: "omit",
      headers: kind === "pages" ? { accept: "text/html" } : {},
    }).catch(() => null);
    // What is gone for everybody is gone here, too.
    if (response?.status === 404 || response?.status === 410) await copies.delete(url);
    if (response === null || !response.ok) continue;
    const body = await response.blob();
    if (body.size > largest[kind] || of !== generation) continue;
    await copies.delete(url);
    const { headers } = response;
    const type = headers.get("content-type") ?? "application/octet-stream";
    const kept = { "content-type": type, [sizeHeader]: `${body.size}`, ...policyOf(headers) };
    await copies.put(url, new Response(body, { headers: kept }));
  }
  await trim(copies, most[kind]);
}

/** Where a copy has its size, so that nothing is read to know it. */
const sizeHeader = "x-copy-size";

/** Deletes the oldest copies beyond this many bytes. */
async function trim(copies: Cache, bytes: number): Promise<void> {
  let sum = 0;
  for (const request of (await copies.keys()).toReversed()) {
    const copy = await copies.match(request);
    sum += Number(copy?.headers.get(sizeHeader) ?? 0);
    if (sum > bytes) await copies.delete(request);
  }
}

/** A page without a network has the same rules for scripts as with one. */
function policyOf(headers: Headers): Record<string, string> {
  const policy = headers.get("content-security-policy");
  return policy === null ? {} : { "content-security-policy": policy };
}

/** Paths of public pages that were shown since they were last kept, the latest last. */
const shown = new Set<string>();

let latest = "";

function notePage(): void {
  const { origin, pathname } = window.location;
  // A page that stays open is fetched once.
  if (pathname === latest || !isPublicPage(pathname)) return;
  latest = pathname;
  const url = origin + pathname;
  shown.delete(url);
  shown.add(url);
}

/** How many pages, and how many pictures, are fetched at a time at most. */
const mostAtOnce = 8;
const mostPictures = 100;

/** Counts sign-outs: a copy that was begun before the last one belongs to the former person, and is dropped. */
let generation = 0;

let running: Promise<void> | null = null;

/** Keeps what was shown until now. */
export function keepShown(): Promise<void> {
  notePage();
  running ??= copyShownPages().finally(() => {
    running = null;
  });
  return running;
}

async function copyShownPages(): Promise<void> {
  if (!navigator.onLine) return;
  const of = generation;
  const pages = [...shown].slice(-mostAtOnce);
  shown.clear();
  const urls = performance.getEntriesByType("resource").map(({ name }) => name);
  // Each is looked at once, and the browser's list, which has room for 250, takes new ones.
  performance.clearResourceTimings();
  const ofKind = (kind: Kind) => [...new Set(urls)].filter((url) => kindOf(new URL(url)) === kind);
  await keep("pages", pages, of);
  await keep("files", ofKind("files"), of);
  await keep("pictures", ofKind("pictures").slice(-mostPictures), of);
}

/** Removes all copies: what one person has seen is not the business of the next. */
export async function emptyCopies(): Promise<void> {
  generation += 1;
  latest = "";
  shown.clear();
  // The list of what this page has loaded would bring the former person's pictures back.
  performance.clearResourceTimings();
  await running?.catch(() => undefined);
  await Promise.all(Object.values(names).map((name) => caches.delete(name)));
}

/** Milliseconds between two looks at what was shown. */
const interval = 20_000;

/** Registers the worker, and keeps what is shown from now on. */
export async function startKeeping(): Promise<void> {
  if (!("serviceWorker" in navigator) || !("caches" in window)) return;
  // Refused in some private windows; the site works without it.
  await navigator.serviceWorker.register("/sw.js").catch(() => undefined);
  const look = () => void keepShown().catch(() => undefined);
  look();
  window.setInterval(() => document.visibilityState === "visible" && look(), interval);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") look();
  });
}
