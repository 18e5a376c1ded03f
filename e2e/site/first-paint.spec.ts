// The first view, which index.html paints before the app has loaded: it shows the pictures, and everything is where the app
// puts it, so that nothing moves when the app replaces it.

import type { Page, Response } from "@playwright/test";
import { test } from "./fresh-server.ts";
import { expect, signIn } from "./journey.ts";
import { recordLayoutShifts } from "./measure.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

const paths = ["/", "/discovery", "/look/camel-hour", "/product/camel-overcoat", "/auth"];

/** Pages of signed-in people, with what is painted last of each. */
const userPages = [
  { path: "/profile", last: "text=Delete account" },
  { path: "/profile/edit", last: "text=Reset" },
  { path: "/profile-settings", last: "text=Delete account" },
  { path: "/create-outfit", last: "img >> nth=3" },
  { path: "/notifications", last: "h1" },
];

/** Holds up the app's entry script. Returns a function that lets it through. */
async function holdApp(page: Page): Promise<() => void> {
  let letThrough = () => {};
  const released = new Promise<void>((resolve) => {
    letThrough = resolve;
  });
  await page.route("**/assets/main-*.js", async (route) => {
    await released;
    await route.continue();
  });
  return letThrough;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface View {
  heading: Box | undefined;
  /** The pictures that are loaded first, by the URL that the browser has chosen. */
  pictures: Record<string, Box>;
}

async function readView(page: Page): Promise<View> {
  return page.evaluate(async () => {
    await document.fonts.ready;
    const first = [...document.querySelectorAll<HTMLImageElement>('img[fetchpriority="high"]')];
    await Promise.all(first.map((image) => image.decode()));
    const measure = (element: Element): Box => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    };
    const heading = document.querySelector("h1");
    return {
      heading: heading === null ? undefined : measure(heading),
      pictures: Object.fromEntries(first.map((image) => [image.currentSrc, measure(image)])),
    };
  });
}

/** The largest difference between two boxes in one direction, in pixels. */
function distance(a: Box | undefined, b: Box | undefined): number {
  if (a === undefined || b === undefined) {
    return Number.POSITIVE_INFINITY;
  }
  return Math.max(
    ...(["x", "y", "width", "height"] as const).map((side) => Math.abs(a[side] - b[side])),
  );
}

/** A server that has just started may be too slow to write rows into its first page; nothing can be painted without them. */
async function waitForPageData(page: Page, path: string): Promise<void> {
  if (path === "/auth") {
    return;
  }
  await expect.poll(async () => (await page.request.get(path)).text()).toContain('id="page-data"');
}

/**
 * Opens a page until the server has rendered all pictures of it. A fresh server renders each for the first time, and refuses some while
 * it is busy with others; the page then shows the files themselves.
 */
async function renderPictures(page: Page, path: string): Promise<void> {
  await expect(async () => {
    let refused = 0;
    const count = (response: Response) => {
      if (response.status() === 429) refused += 1;
    };
    page.on("response", count);
    await page.goto(path);
    await page.waitForLoadState("networkidle");
    page.off("response", count);
    expect(refused).toBe(0);
  }).toPass();
}

/** Opens the page, and compares the view before the app with the one after it. */
async function compareViews(page: Page, path: string): Promise<void> {
  await waitForPageData(page, path);
  const release = await holdApp(page);
  await page.goto(path, { waitUntil: "commit" });
  await expect(page.locator("#root > [inert] h1")).toBeVisible();
  const painted = await readView(page);
  release();
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  const rendered = await readView(page);

  await expect(page.locator("#root > [inert]")).toHaveCount(0);
  expect(distance(painted.heading, rendered.heading), `heading of ${path}`).toBeLessThan(1);
  for (const [address, box] of Object.entries(painted.pictures)) {
    const after = rendered.pictures[address];
    const boxes = `${address} of ${path}: ${JSON.stringify([box, after])}`;
    expect(distance(box, after), boxes).toBeLessThan(1);
  }
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

test("the pictures are there before the app, and stay where they are", { tag: "@phone" }, async ({
  page,
  phone,
}) => {
  // A busy machine needs time to render the pictures that the views wait for.
  test.setTimeout(120_000);
  const requested: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "image") {
      requested.push(request.url());
    }
  });
  const widths = phone ? [390] : [1440, 768];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    for (const path of paths) {
      await compareViews(page, path);
    }
  }

  expect(requested.some((address) => address.includes("/render/image/"))).toBe(true);
});

test("the app takes the first view over without a shift and without loading a picture twice", {
  tag: "@phone",
}, async ({ page }) => {
  // Five pages are loaded to their end, which takes a busy machine ten seconds each.
  test.setTimeout(180_000);
  const shifts = await recordLayoutShifts(page);
  for (const path of paths) {
    await waitForPageData(page, path);
    const requested: string[] = [];
    page.on("request", (request) => {
      if (request.resourceType() === "image") {
        requested.push(request.url());
      }
    });
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");

    expect(await shifts(), path).toBeLessThan(0.02);
    expect(requested, path).toHaveLength(new Set(requested).size);
    page.removeAllListeners("request");
  }
});

/** Where the visible texts stand, by text. Several elements may have the same one. */
async function readTexts(page: Page): Promise<Record<string, Box[]>> {
  return page.evaluate(async () => {
    await document.fonts.ready;
    const texts: Record<string, Box[]> = {};
    for (const element of document.querySelectorAll("#root *")) {
      const nodes = [...element.childNodes].filter(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== "",
      );
      const [first, last] = [nodes.at(0), nodes.at(-1)];
      if (first === undefined || last === undefined || element.matches("textarea, option")) {
        continue;
      }
      const range = document.createRange();
      range.setStartBefore(first);
      range.setEndAfter(last);
      const { x, y, width, height } = range.getBoundingClientRect();
      texts[(element.textContent ?? "").trim()] ??= [];
      texts[(element.textContent ?? "").trim()]?.push({ x, y, width, height });
    }
    return texts;
  });
}

/**
 * Gives a page's first rows far more time than the one or two seconds (`longestWaitMs`) after which the app goes on without them, and
 * shows that it is loading: a busy machine may need that long, and these tests are about rows that arrive in time.
 */
async function waitLongerForRows(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const setTimer = window.setTimeout.bind(window);
    const setPatientTimer = (handler: TimerHandler, delay?: number, ...rest: unknown[]) =>
      setTimer(handler, delay === 1000 || delay === 2000 ? 60_000 : delay, ...rest);
    Object.assign(window, { setTimeout: setPatientTimer });
  });
}

/** Notes whether a view of a signed-in person was painted, and whether the app showed a spinner in the place of a page. */
async function recordWaiting(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() => {
      if (document.querySelector("[data-user-view]") !== null) {
        seen.push("painted");
      }
      const notices = [...document.querySelectorAll('#root [role="status"]')];
      if (notices.some(({ textContent }) => textContent?.startsWith("Loading..."))) {
        seen.push("spinner");
      }
    }).observe(document, { childList: true, subtree: true });
  });
  return () => page.evaluate(() => [...new Set((window as unknown as { seen: string[] }).seen)]);
}

test("pages of signed-in people are painted where the app shows them, and no spinner comes between", {
  tag: "@phone",
}, async ({ page, phone }) => {
  // Up to twelve pages are loaded to their end, which takes a busy machine ten seconds each.
  test.setTimeout(300_000);
  await signIn(page, "mira@lookbook.test");
  await waitLongerForRows(page);
  const shifts = await recordLayoutShifts(page);
  const waiting = await recordWaiting(page);
  const requested: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "image") {
      requested.push(request.url());
    }
  });
  for (const width of phone ? [390] : [1440, 768]) {
    await page.setViewportSize({ width, height: 900 });
    for (const { path, last } of userPages) {
      const message = `${path} with ${width} pixels`;
      if (path === "/create-outfit") await renderPictures(page, path);
      requested.length = 0;
      const release = await holdApp(page);
      await page.goto(path, { waitUntil: "commit" });
      await expect(page.locator("#root > [inert]").locator(last).first()).toBeVisible();
      const [painted, paintedTexts] = [await readView(page), await readTexts(page)];
      release();
      await expect(page.locator("#root > [inert]")).toHaveCount(0);
      const [rendered, renderedTexts] = [await readView(page), await readTexts(page)];

      expect(distance(painted.heading, rendered.heading), message).toBeLessThan(1);
      for (const [address, box] of Object.entries(painted.pictures)) {
        expect(distance(box, rendered.pictures[address]), `${address}, ${message}`).toBeLessThan(1);
      }
      for (const [text, boxes] of Object.entries(paintedTexts)) {
        for (const box of boxes) {
          const distances = (renderedTexts[text] ?? []).map((after) => distance(box, after));
          expect(Math.min(...distances), `"${text}", ${message}`).toBeLessThan(1);
        }
      }
      await page.waitForLoadState("networkidle");
      expect(await waiting(), message).toEqual(["painted"]);
      expect(await shifts(), message).toBeLessThan(0.02);
      expect(requested, message).toHaveLength(new Set(requested).size);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
  }
});

test("a person whose session has ended sees nothing of a private page, and lands on the sign-in page", async ({
  page,
  pageErrors,
}) => {
  await signIn(page, "mira@lookbook.test");
  await page.evaluate(() => {
    const key = Object.keys(localStorage).find((name) => name.endsWith("-auth-token")) ?? "";
    const session = JSON.parse(localStorage.getItem(key) ?? "{}");
    const ended = { ...session, expires_at: 1, refresh_token: "ended" };
    localStorage.setItem(key, JSON.stringify(ended));
  });
  // The server does not know the refresh token.
  pageErrors.expectStatus(400, "/auth/v1/token");
  const waiting = await recordWaiting(page);
  await page.goto("/profile", { waitUntil: "commit" });

  await expect(page).toHaveURL(/\/auth$/);
  await expect(page.getByRole("heading", { name: "Sign In", level: 1 })).toBeVisible();
  expect(await waiting()).not.toContain("painted");
});

test("a painted page without an answer about its person says what could not be loaded", {
  tag: "@once",
}, async ({ page, pageErrors }) => {
  await signIn(page, "mira@lookbook.test");
  pageErrors.expectNetworkFailures();
  await page.route("**/rest/v1/profiles*", (route) => route.abort());
  await page.goto("/profile-settings", { waitUntil: "commit" });

  await expect(page.getByText("Your profile could not be loaded.")).toBeVisible();
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("a picture that does not arrive keeps no page from working", async ({ page }) => {
  await waitForPageData(page, "/");
  await page.route("**/storage/v1/**", () => {
    // The request is never answered.
  });
  await page.goto("/", { waitUntil: "commit" });

  await expect(page.getByRole("heading", { name: "Explore Outfits" })).toBeVisible();
  await page.unrouteAll({ behavior: "ignoreErrors" });
});

test("what pages of signed-in people begin with is asked for before the app arrives, and once", {
  tag: "@once",
}, async ({ page }) => {
  // Four pages are loaded to their end, which takes a busy machine ten seconds each.
  test.setTimeout(180_000);
  await signIn(page, "noah@lookbook.test");
  const profile = "/rest/v1/profiles";
  for (const [path, reads] of [
    ["/profile", [profile]],
    ["/profile/edit", [profile]],
    ["/profile-settings", [profile]],
    ["/create-outfit", ["/rest/v1/rpc/search_items", profile]],
  ] as const) {
    const requested: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith("/rest/v1/")) {
        requested.push(pathname);
      }
    });
    const release = await holdApp(page);
    await page.goto(path, { waitUntil: "commit" });
    await expect.poll(() => requested, { message: path }).toEqual(reads);
    release();

    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");
    expect(requested.length, path).toBeGreaterThan(reads.length);
    for (const read of reads) {
      expect(
        requested.filter((one) => one === read),
        path,
      ).toHaveLength(1);
    }
    page.removeAllListeners("request");
    await page.unrouteAll({ behavior: "ignoreErrors" });
  }
});

test("a tap on a card of the first view opens it when the app has come", { tag: "@phone" }, async ({
  page,
}) => {
  await waitForPageData(page, "/");
  const release = await holdApp(page);
  await page.goto("/", { waitUntil: "commit" });
  const card = page.locator("#root > [inert] [data-list] .aspect-4\\/5").first();
  await expect(card).toBeVisible();
  const box = await card.boundingBox();
  await page.mouse.click((box?.x ?? 0) + 40, (box?.y ?? 0) + 40);
  release();

  await expect(page.getByRole("dialog")).toBeVisible();
  await page.unrouteAll({ behavior: "ignoreErrors" });
});
