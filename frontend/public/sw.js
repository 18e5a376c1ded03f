// Without a network the site shows what was seen of it. While there is one, this worker only hands navigations on: what it answers
// with then was put into the caches by the page (src/lib/offline-copies.ts), which keeps what everybody may read and nothing of a
// session. Files of the site have a hash of their content in their names, so an older page finds its own files beside newer ones.

const names = { pages: "lookbook-pages", files: "lookbook-files", pictures: "lookbook-pictures" };

/** Milliseconds for which a page is waited for where a copy of it is there. */
const patience = 8000;

/** Milliseconds for which a picture is waited for then, and for which the network counts as dead after a navigation without an answer. */
const shortPatience = 3000;
const deadFor = 30_000;

/** When the network did not answer a navigation for the last time, also where the system believes that there is one. */
let failedAt = Number.NEGATIVE_INFINITY;
const isDead = () => Date.now() - failedAt < deadFor;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const take = async () => {
    // The request for a page starts while the worker does.
    await self.registration.navigationPreload?.enable();
    await self.clients.claim();
  };
  event.waitUntil(take());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || url.origin !== self.location.origin) return;
  if (request.mode === "navigate") event.respondWith(openPage(event, url));
  else if (isKept(url) && (isDead() || !self.navigator.onLine))
    event.respondWith(findCopy(request));
});

/** Whether there may be a copy of it: a file of the site, or a public picture. */
function isKept({ pathname }) {
  return (
    pathname.startsWith("/assets/") ||
    pathname === "/favicon.svg" ||
    /^\/storage\/v1\/(object|render\/image)\/public\//.test(pathname)
  );
}

/** A promise that is rejected after this many milliseconds. */
const rejectAfter = (milliseconds) =>
  new Promise((_, refuse) => setTimeout(() => refuse(new Error("late")), milliseconds));

async function openPage(event, url) {
  const copy = await findIn(names.pages, url.origin + url.pathname);
  try {
    const asked = requestPage(event);
    const page = await (copy === undefined ? asked : Promise.race([asked, rejectAfter(patience)]));
    failedAt = Number.NEGATIVE_INFINITY;
    return page;
  } catch {
    failedAt = Date.now();
    return copy ?? offlinePage();
  }
}

async function requestPage(event) {
  return (await event.preloadResponse) ?? fetch(event.request);
}

async function findIn(name, key) {
  // Not opened where it is not there: opening makes it.
  if (!(await caches.has(name))) return undefined;
  return (await caches.open(name)).match(key);
}

async function findCopy(request) {
  const file = await findIn(names.files, request);
  // Built files have a hash in their names, so a stored one is never out of date.
  if (file !== undefined) return file;
  const picture = await findIn(names.pictures, request);
  if (picture === undefined) return fetch(request);
  if (!self.navigator.onLine) return picture;
  try {
    // Another picture may be at its address by now.
    const present = await Promise.race([fetch(request), rejectAfter(shortPatience)]);
    failedAt = Number.NEGATIVE_INFINITY;
    return present;
  } catch {
    return picture;
  }
}

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escapeText = (text) => text.replace(/[&<>"]/g, (letter) => escapes[letter]);

/** The titles of the pages that are there without a network, as links. */
async function listPages() {
  if (!(await caches.has(names.pages))) return "";
  const pages = await caches.open(names.pages);
  const links = await Promise.all(
    (await pages.keys()).map(async (request) => {
      const html = (await (await pages.match(request))?.text()) ?? "";
      // Written by the server, which has escaped it.
      const title = /<title>([^<]*)<\/title>/.exec(html)?.[1] ?? "";
      const { pathname } = new URL(request.url);
      return `<li><a href="${escapeText(pathname)}">${title || escapeText(pathname)}</a></li>`;
    }),
  );
  return links.join("");
}

async function offlinePage() {
  const links = await listPages();
  const seen = links === "" ? "" : `<h2>Seen before</h2><ul>${links}</ul>`;
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>You are offline</title>
<style>
  body { margin: 0 auto; max-width: 40rem; padding: 4rem 1.25rem; background: #131110; color: #f5f1ea; font: 16px/1.6 system-ui, sans-serif }
  h1 { font: 400 2.5rem/1.1 Georgia, serif }
  h2 { margin-top: 3rem; font: 400 1.25rem Georgia, serif }
  ul { margin: 0; padding: 0; list-style: none }
  a { display: flex; align-items: center; min-height: 2.75rem; color: inherit; text-underline-offset: 4px }
</style>
<main>
<h1>You are offline</h1>
<p>This page was not opened before on this device, so it is not here.</p>
<p><a href="">Try again</a></p>
${seen}
</main>
</html>`;
  return new Response(html, {
    status: 503,
    headers: { "content-type": "text/html; charset=utf-8" },
  });
}
