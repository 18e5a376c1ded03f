import { beforeEach, expect, it, vi } from "vitest";
import { emptyCopies, isPublicPage, keepShown, kindOf } from "./offline-copies";

/** The browser's caches, in memory: keys in the order in which they were put. */
let stored: Map<string, Map<string, Response>>;
let fetched: [url: string, init: RequestInit | undefined][];

beforeEach(async () => {
  stored = new Map();
  fetched = [];
  vi.stubGlobal("caches", {
    open: async (name: string) => {
      const kept = stored.get(name) ?? new Map<string, Response>();
      stored.set(name, kept);
      return {
        match: async (url: string) => kept.get(url),
        put: async (url: string, response: Response) => void kept.set(url, response),
        delete: async (url: string) => kept.delete(url),
        keys: async () => [...kept.keys()],
      };
    },
    delete: async (name: string) => stored.delete(name),
  });
  await emptyCopies();
  vi.stubGlobal("fetch", async (url: string, init?: RequestInit) => {
    fetched.push([url, init]);
    return new Response("x".repeat(url.includes("huge") ? 150_001 : 10), {
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

it("keeps the latest pages and pictures, and no large ones", async () => {
  for (let page = 0; page < 32; page += 1) await show(`/look/${page}`);
  const pictures = Array.from({ length: 120 }, (_, at) => `/storage/v1/object/public/images/${at}`);
  await show("/look/0", ...pictures, "/storage/v1/object/public/images/huge");

  const pages = [...(stored.get("lookbook-pages")?.keys() ?? [])];
  expect(pages).toHaveLength(30);
  expect(pages.at(-1)).toBe(`${origin}/look/0`);
  expect(pages).not.toContain(`${origin}/look/1`);
  expect(stored.get("lookbook-pictures")?.size).toBeLessThanOrEqual(110);
  expect([...(stored.get("lookbook-pictures")?.keys() ?? [])].join()).not.toContain("huge");
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

it("leaves nothing when it is emptied", async () => {
  await show("/", "/assets/main-1.js");
  await emptyCopies();

  expect(stored.size).toBe(0);
});
