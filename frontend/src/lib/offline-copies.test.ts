import { beforeEach, expect, it, vi } from "vitest";
import { emptyCopies, isPublicPage, keepShown, kindOf } from "./offline-copies";

/** The browser's caches, in memory: keys in the order in which they were put. */
let stored: Map<string, Map<string, Response>>;
let fetched: [url: string, init: RequestInit | undefined][];
/** The network gives no answer, although the system believes that there is one. */
let isAway = false;

beforeEach(async () => {
  stored = new Map();
  fetched = [];
  vi.stubGlobal("caches", {
    open: async (name: string) => {
      const kept = stored.get(name) ?? new Map<string, Response>();
      stored.set(name, kept);
      return {
        match: async (url: string) => kept.get(url),
        // As in a browser, what is put again is the latest.
        put: async (url: string, response: Response) => {
          if (url.includes("too-much")) throw new DOMException("full", "QuotaExceededError");
          kept.delete(url);
          kept.set(url, response);
        },
        delete: async (url: string) => kept.delete(url),
        keys: async () => [...kept.keys()],
      };
    },
    delete: async (name: string) => stored.delete(name),
  });
  await emptyCopies();
  stored.clear();
  isAway = false;
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    fetched.push([url, init]);
    if (isAway) throw new TypeError("Failed to fetch");
    const size = url.includes("huge") ? 310_000 : url.includes("large") ? 140_000 : 10;
    return new Response("x".repeat(size), {
      headers: { "content-type": "text/html", "content-security-policy": "default-src 'self'" },
    });
  });
});

const origin = window.location.origin;

function show(path: string, ...resources: string[]): Promise<void> {
  window.history.replaceState(null, "", path);
  vi.spyOn(performance, "getEntriesByType").mockReturnValue(
    resources.map((name) => ({ name: `${origin}${name}` })) as never,
  );
  return keepShown();
}

it.each([
  ["/assets/main-1.js", "files"],
  ["/storage/v1/object/public/images/a.webp", "pictures"],
  ["/storage/v1/render/image/public/images/a.webp?width=300", "pictures"],
  ["/storage/v1/object/sign/profile-avatars/a.webp?token=t", null],
  ["/storage/v1/object/authenticated/profile-avatars/a.webp", null],
  ["/rest/v1/combines?select=id", null],
  ["/auth/v1/user", null],
])("%s is kept as %s", (path, kind) => {
  expect(kindOf(new URL(path, origin))).toBe(kind);
  expect(kindOf(new URL(path, "https://elsewhere.test"))).toBeNull();
});

it("keeps public pages as a visitor gets them, and none of a signed-in person", async () => {
  await show("/look/night-bus?from=mail", "/assets/main-1.js", "/rest/v1/likes");
  await show("/profile?tab=outfits");
  await show("/admin/users");

  expect([...(stored.get("lookbook-pages")?.keys() ?? [])]).toEqual([`${origin}/look/night-bus`]);
  expect([...(stored.get("lookbook-files")?.keys() ?? [])]).toEqual([`${origin}/assets/main-1.js`]);
  expect(fetched.every(([, init]) => init?.credentials === "omit")).toBe(true);
  const page = stored.get("lookbook-pages")?.get(`${origin}/look/night-bus`);
  expect(page?.headers.get("content-security-policy")).toBe("default-src 'self'");
  expect(["/welcome", "/auth", "/create-outfit"].some(isPublicPage)).toBe(false);
});

it("keeps the latest pages up to 4 MB, the largest file of the site, and no large pictures", async () => {
  for (let page = 0; page < 32; page += 1) await show(`/look/large-${page}`);
  await show("/look/large-0", "/assets/vendor-huge.js", "/storage/v1/object/public/images/huge");

  const pages = [...(stored.get("lookbook-pages")?.keys() ?? [])];
  // Each has 140 kB.
  expect(pages).toHaveLength(28);
  expect(pages.at(-1)).toBe(`${origin}/look/large-0`);
  expect(pages).not.toContain(`${origin}/look/large-1`);
  expect([...(stored.get("lookbook-files")?.keys() ?? [])]).toEqual([
    `${origin}/assets/vendor-huge.js`,
  ]);
  expect([...(stored.get("lookbook-pictures")?.keys() ?? [])]).toEqual([]);
});

it("fetches a page once for each visit, a file once, and nothing without a network", async () => {
  await show("/", "/assets/main-1.js");
  await show("/", "/assets/main-1.js");
  expect(fetched.map(([url]) => url.replace(origin, ""))).toEqual(["/", "/assets/main-1.js"]);
  await show("/discovery");
  await show("/");
  expect(fetched).toHaveLength(4);
  vi.spyOn(navigator, "onLine", "get").mockReturnValue(false);
  await show("/look/a");
  expect(fetched).toHaveLength(4);
});

it("leaves no page and no picture when it is emptied, and brings nothing of the former person back", async () => {
  const loaded = ["/assets/main-1.js", "/storage/v1/object/public/user-outfit-images/u/1.webp"];
  const clear = vi.spyOn(performance, "clearResourceTimings");
  await show("/", ...loaded);
  // A page that is noted, and a run that is under way.
  const running = show("/look/of-the-former", ...loaded);
  await emptyCopies();
  // And what waits for a network that gives no answer.
  isAway = true;
  await show("/look/of-the-former-too", "/storage/v1/object/public/user-outfit-images/u/2.webp");
  isAway = false;
  await emptyCopies();
  await running;

  expect([...stored.keys()]).toEqual(["lookbook-files"]);
  expect(clear).toHaveBeenCalled();
  await show("/discovery");
  expect([...(stored.get("lookbook-pages")?.keys() ?? [])]).toEqual([`${origin}/discovery`]);
  expect(stored.get("lookbook-pictures")?.size ?? 0).toBe(0);
});

it("has the scripts of a page that stays open after a sign-out", async () => {
  await show("/", "/assets/main-1.js");
  await emptyCopies();
  // The browser's list is empty by then, and the page asks for nothing again.
  await show("/discovery");

  const files = [...(stored.get("lookbook-files")?.keys() ?? [])];
  expect(files).toEqual([`${origin}/assets/main-1.js`]);
});

it("tries again what the network did not give", async () => {
  isAway = true;
  await show("/look/a", "/assets/main-1.js");
  expect([...stored.values()].every((kept) => kept.size === 0)).toBe(true);
  isAway = false;
  await show("/look/a");

  expect([...(stored.get("lookbook-pages")?.keys() ?? [])]).toEqual([`${origin}/look/a`]);
  expect([...(stored.get("lookbook-files")?.keys() ?? [])]).toEqual([`${origin}/assets/main-1.js`]);
});

it("keeps the files of a page for which the storage has no room, and the next page", async () => {
  await show("/look/too-much", "/assets/main-1.js");
  await show("/look/b", "/assets/main-1.js");

  expect([...(stored.get("lookbook-pages")?.keys() ?? [])]).toEqual([`${origin}/look/b`]);
  expect([...(stored.get("lookbook-files")?.keys() ?? [])]).toEqual([`${origin}/assets/main-1.js`]);
});
