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

/** Addresses that were seen and are not kept yet, the latest last. */
const waiting: Readonly<Record<Kind, Set<string>>> = {
  pages: new Set(),
  files: new Set(),
  pictures: new Set(),
};

/** How many of each are kept at a time at most. Of more pictures the first ones are left out. */
const mostAtOnce: Readonly<Record<Kind, number>> = { pages: 8, files: 200, pictures: 100 };

function wait(kind: Kind, url: string): void {
  waiting[kind].delete(url);
  waiting[kind].add(url);
}

/** Stores copies of the addresses that wait. Those that the network does not give stay in the list for the next time. */
async function keep(kind: Kind, of: number): Promise<void> {
  const urls = [...waiting[kind]].slice(-mostAtOnce[kind]);
  if (kind === "pictures") waiting.pictures.clear();
  if (urls.length === 0 || of !== generation) return;
  const copies = await caches.open(names[kind]);
  for (const url of urls) {
    if (of !== generation) return;
    // A full storage takes nothing more of this one, and the others are tried all the same.
    const isAsked = await keepOne(copies, kind, url, of).catch(() => true);
    if (isAsked) waiting[kind].delete(url);
    else if (of === generation) wait(kind, url);
  }
  await trim(copies, most[kind]);
}

/** Puts one last, and fetches it where it is not there yet; pages are fetched anew. False where the network gave no answer. */
async function keepOne(copies: Cache, kind: Kind, url: string, of: number): Promise<boolean> {
  const known = kind === "pages" ? undefined : await copies.match(url);
  if (known !== undefined) {
    // What is still in use leaves after what is not: a copy that is put again is the latest.
    await copies.put(url, known);
    return true;
  }
  const response = await fetch(url, {
    // A picture or file that the page shows is in the browser's own cache.
    cache: kind === "pages" ? "default" : "force-cache",
    credentials: "omit",
    headers: kind === "pages" ? { accept: "text/html" } : {},
  }).catch(() => null);
  if (response === null) return false;
  // What is gone for everybody is gone here, too.
  if (response.status === 404 || response.status === 410) await copies.delete(url);
  if (!response.ok) return true;
  const body = await response.blob();
  if (body.size > largest[kind] || of !== generation) return true;
  const { headers } = response;
  const type = headers.get("content-type") ?? "application/octet-stream";
  const kept = { "content-type": type, [sizeHeader]: `${body.size}`, ...policyOf(headers) };
  await copies.put(url, new Response(body, { headers: kept }));
  return true;
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

let latest = "";

function notePage(): void {
  const { origin, pathname } = window.location;
  // A page that stays open is fetched once.
  if (pathname === latest || !isPublicPage(pathname)) return;
  latest = pathname;
  wait("pages", origin + pathname);
}

/** Whether the files that this document began with are noted: the browser's list may have lost them. */
let hasNotedDocument = false;

function noteDocument(): void {
  if (hasNotedDocument) return;
  hasNotedDocument = true;
  const selector = "script[src], link[rel=stylesheet], link[rel=modulepreload]";
  for (const element of document.querySelectorAll<HTMLScriptElement & HTMLLinkElement>(selector)) {
    noteLoaded(element.src || element.href);
  }
}

function noteLoaded(address: string): void {
  const kind = kindOf(new URL(address, window.location.href));
  if (kind !== null) wait(kind, address);
}

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
  noteDocument();
  for (const { name } of performance.getEntriesByType("resource")) noteLoaded(name);
  // Each is noted once, and the browser's list, which has room for 250, takes new ones.
  performance.clearResourceTimings();
  await keep("pages", of);
  await keep("files", of);
  await keep("pictures", of);
}

/** Removes pages and pictures: what one person has seen is not the business of the next. Files of the site are everybody's. */
export async function emptyCopies(): Promise<void> {
  generation += 1;
  latest = "";
  waiting.pages.clear();
  waiting.pictures.clear();
  // The browser's list of what this page has loaded names the former person's pictures, so it is emptied. The site's own
  // files in it are noted first, because they stay.
  for (const { name } of performance.getEntriesByType("resource")) {
    if (kindOf(new URL(name)) === "files") noteLoaded(name);
  }
  performance.clearResourceTimings();
  await running?.catch(() => undefined);
  await Promise.all([names.pages, names.pictures].map((name) => caches.delete(name)));
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
