// The transfer size of a first visit without a click: page, scripts, styles, fonts and rows. Pictures are not counted,
// because their number depends on the screen.

import type { Page, Request } from "@playwright/test";
import { test as freshTest } from "./fresh-server.ts";
import { expect, signIn, test } from "./journey.ts";

/** Bytes. */
// Sentences for errors, and loading parts again after a failure, take 2 kB of each. What makes lists wait for a click is loaded
// when the page is in use, and the names of such files are 0.2 kB of each; a page that counts as in use while it loads has it, too, 0.4 kB.
// The notice of a lost network beside all controls, a search that waits for a click, and a wizard whose page scrolls are 0.2 kB of each.
const budgets = [
  // 8 kB are the first page of outfits, and 3 kB the script that shows them before the app arrives.
  // Links to the sections of signed-in people, and to terms and privacy, are 0.4 kB. Leaving out people whom one has blocked, and the
  // beginning of what is kept for times without a network, are 0.9 kB of each page.
  { path: "/", most: 165_000 },
  // The sign-in is a file of its own, because the admin area asks for it, too, when a session ends over a form. The sign of
  // Google is 0.3 kB.
  { path: "/auth", most: 166_700 },
  // Classes of the review and of notifications are 0.1 kB of the one stylesheet, and what is shown below short lists is a part of its
  // own, 0.1 kB.
  { path: "/discovery", most: 169_300 },
  { path: "/look/night-bus", most: 165_700 },
  { path: "/product/camel-overcoat", most: 167_500 },
  // With the numbers of a creator, following, sharing, reporting and blocking, 2 kB.
  { path: "/mira", most: 166_900 },
];
/**
 * Pages of signed-in people also load the auth client, 18 kB, what ends a person's requests with the session, 0.5 kB, what does
 * a visitor's tap after signing in, 0.5 kB, and the script that paints them before the app, 3 kB. The account has a list of blocked
 * people, 1.2 kB, and the switch of notices by mail, 0.9 kB.
 */
const signedInBudgets = [
  { path: "/profile", most: 184_100 },
  { path: "/profile?tab=training-images", most: 185_300 },
  // Pages with forms also load the form library, 10 kB.
  // These two also ask before typed text is lost, keep it apart from that of other people, compare versions, and name what another
  // device has changed, 2.5 kB, and show what other tabs type, 0.3 kB.
  { path: "/profile/edit", most: 203_800 },
  { path: "/profile-settings", most: 203_800 },
  // It compares what it sends again with what an earlier attempt has stored, 2 kB, asks whose change is kept, 0.6 kB, and
  // asks for the password when a session ends over it. What moves the pieces of a sheet is loaded with the sheet, and its drafts take 0.4 kB.
  { path: "/create-outfit", most: 195_900 },
  // Numbers and mails beside the list are 1.5 kB. Below a list without entries are the newest outfits: 8 kB of rows, and 4 kB that show
  // them.
  { path: "/notifications", most: 199_000 },
];

/** Live connections are opened this many milliseconds after the app's start, on a busy machine while the page is still loading. */
const beginOfLiveConnections = 8000;

/** Opens the page in a browser without a cache and compares what is sent with the budget. */
async function measureFirstLoad(page: Page, path: string, most: number): Promise<void> {
  const sizes: Promise<[string, number]>[] = [];
  const begun = Date.now();
  const addSize = (request: Request): void => {
    const { pathname } = new URL(request.url());
    const isFirst = request.timing().startTime - begun < beginOfLiveConnections;
    if (isFirst && !pathname.startsWith("/storage/v1/")) {
      sizes.push(request.sizes().then(({ responseBodySize }) => [pathname, responseBodySize]));
    }
  };
  page.on("requestfinished", addSize);

  await page.goto(path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await page.waitForLoadState("networkidle");
  // The size of what comes later would be asked of a page that is closed by then.
  page.off("requestfinished", addSize);

  const loaded = await Promise.all(sizes);
  const sum = loaded.reduce((total, [, size]) => total + size, 0);
  const list = loaded.map(([name, size]) => `${name} ${size}`).join("\n");
  console.info(`${path}: ${sum} bytes`);
  expect(loaded.filter(([name]) => name.endsWith(".js")).length, list).toBeGreaterThan(2);
  expect(loaded.filter(([name]) => name.endsWith(".woff2")).length, list).toBeGreaterThan(0);
  expect(sum, list).toBeLessThanOrEqual(most);
}

for (const { path, most } of budgets) {
  freshTest(
    `the first load of ${path} is at most ${most} bytes`,
    { tag: "@once" },
    async ({ page }) => {
      // A busy machine needs time to render the pictures that the page waits for.
      freshTest.setTimeout(120_000);
      // A server that has just started may be too slow to write rows into its first page; the browser would fetch them again.
      if (path !== "/auth") {
        await expect
          .poll(async () => (await page.request.get(path)).text())
          .toContain('id="page-data"');
      }
      // It compresses a page beside its first requests.
      await expect
        .poll(async () => (await page.request.get(path)).headers()["content-encoding"])
        .toBe("br");
      await measureFirstLoad(page, path, most);
    },
  );
}

test("the first loads of pages for signed-in people keep to their budgets", {
  tag: "@once",
}, async ({ page, browser, baseURL, person }) => {
  test.setTimeout(240_000);
  await signIn(page, person.email);
  const storageState = await page.context().storageState();
  for (const { path, most } of signedInBudgets) {
    const context = await browser.newContext({ storageState, ...(baseURL && { baseURL }) });
    await measureFirstLoad(await context.newPage(), path, most);
    await context.close();
  }
});
