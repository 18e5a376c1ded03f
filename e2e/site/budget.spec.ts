// The transfer size of a first visit without a click. Scripts, styles and fonts have the same size whenever they are sent, so they have
// narrow budgets; what the server writes at the time, page and rows, has wide ones. Pictures are not counted, because their number
// depends on the screen.

import type { Page, Request, Response } from "@playwright/test";
import { test as freshTest } from "./fresh-server.ts";
import { expect, signIn, test } from "./journey.ts";

interface Budget {
  path: string;
  /** Bytes of scripts, styles and fonts. */
  files: number;
}

// Sentences for errors, and loading parts again after a failure, take 2 kB of each. What makes lists wait for a click is loaded
// when the page is in use, and the names of such files are 0.2 kB of each.
// Retries of the data client and what tells of traces came with supabase-js 2.119, 0.4 kB.
// The notice of a lost network beside all controls, a search that waits for a click, and a wizard whose page scrolls are 0.2 kB of each.
const budgets: readonly Budget[] = [
  // 3 kB are the script that shows the outfits before the app arrives.
  // Links to the sections of signed-in people, and to terms and privacy, are 0.4 kB. Leaving out people whom one has blocked, and the
  // beginning of what is kept for times without a network, are 0.9 kB of each page.
  { path: "/", files: 149_700 },
  // The sign-in is a file of its own, because the admin area asks for it, too, when a session ends over a form.
  { path: "/auth", files: 157_600 },
  // Classes of the review and of notifications are 0.1 kB of the one stylesheet, and what is shown below short lists is a part of its
  // own, 0.1 kB.
  { path: "/discovery", files: 153_900 },
  { path: "/look/night-bus", files: 151_600 },
  { path: "/product/camel-overcoat", files: 152_300 },
  // With the numbers of a creator, following, sharing, reporting and blocking, 2 kB.
  { path: "/mira", files: 156_200 },
];
/**
 * Pages of signed-in people also load the auth client, 19 kB, what ends a person's requests with the session, 0.5 kB, what does
 * a visitor's tap after signing in, 0.5 kB, and the script that paints them before the app, 3 kB. The account has a list of blocked
 * people, 1.2 kB, and the switch of notices by mail, 0.9 kB.
 */
const signedInBudgets: readonly Budget[] = [
  { path: "/profile", files: 178_600 },
  { path: "/profile?tab=training-images", files: 179_800 },
  // Pages with forms also load the form library, 10 kB.
  // These two also ask before typed text is lost, keep it apart from that of other people, compare versions, and name what another
  // device has changed, 2.5 kB, and show what other tabs type, 0.3 kB.
  { path: "/profile/edit", files: 197_300 },
  { path: "/profile-settings", files: 197_300 },
  // It compares what it sends again with what an earlier attempt has stored, 2 kB, asks whose change is kept, 0.6 kB, and
  // asks for the password when a session ends over it. What moves the pieces of a sheet is loaded with the sheet, and its drafts take 0.4 kB.
  { path: "/create-outfit", files: 185_700 },
  // Numbers and mails beside the list are 1.5 kB. Below a list without entries are the newest outfits, 4 kB that show them.
  { path: "/notifications", files: 184_800 },
];
/** Bytes of a page and the rows that it asks for: its own 8 kB, and of most pages a first list of outfits or items, which other tests add to. */
const mostOfRows = 24_000;
/** File names are hashes of what is in the files, and the same source compresses by a few bytes better or worse with other names. */
const differenceOfBuilds = 400;

/** Longer than the app waits for the first sign of use (src/lib/when-in-use.ts), in milliseconds. */
const longestWaitForUse = 8000;

/**
 * Keeps the pages of this browser from counting as in use, however long they take to load: they would open a live connection and keep
 * copies, with 20 kB of scripts. A page that moves while it loads sends a scroll event, which is a sign of use.
 */
async function keepUnused(page: Page): Promise<void> {
  await page.addInitScript((longestWait) => {
    for (const sign of ["scroll", "pointermove"]) {
      window.addEventListener(sign, (event) => event.stopImmediatePropagation(), { capture: true });
    }
    const { setTimeout } = window;
    const setShortTimeout = (handler: TimerHandler, delay?: number, ...rest: unknown[]) =>
      delay === longestWait ? 0 : setTimeout(handler, delay, ...rest);
    Object.assign(window, { setTimeout: setShortTimeout });
  }, longestWaitForUse);
}

/** What a page has asked for until now. */
interface Traffic {
  readonly sent: readonly Request[];
  readonly open: ReadonlySet<Request>;
  stop(): void;
}

function watchTraffic(page: Page): Traffic {
  const sent: Request[] = [];
  const open = new Set<Request>();
  const begin = (request: Request) => {
    sent.push(request);
    open.add(request);
  };
  const end = (request: Request) => void open.delete(request);
  page.on("request", begin).on("requestfinished", end).on("requestfailed", end);
  const stop = () => {
    page.off("request", begin).off("requestfinished", end).off("requestfailed", end);
  };
  return { sent, open, stop };
}

/** Waits until the page has had nothing to do and to ask for several times in a row. On a busy machine half a second without a request is no end. */
async function waitForEnd(page: Page, traffic: Traffic): Promise<void> {
  await page.waitForLoadState("networkidle");
  let quiet = 0;
  await expect
    .poll(
      async () => {
        const before = traffic.sent.length;
        await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
        quiet = traffic.sent.length === before && traffic.open.size === 0 ? quiet + 1 : 0;
        return quiet;
      },
      { intervals: [100] },
    )
    .toBeGreaterThan(4);
}

const isFile = (pathname: string) => /^\/assets\/.*\.(js|css|woff2)$/.test(pathname);
/**
 * Fonts that a row asks for: of letters with accents, and of the letter in place of a missing picture. On the shared server the newest
 * outfits are those of other tests, which have none.
 */
const isFontOfRows = (pathname: string) => /(-italic-|-accents|-ext-).*\.woff2$/.test(pathname);
const sumOf = (sizes: readonly [string, number][]) =>
  sizes.reduce((total, [, size]) => total + size, 0);

/** Opens the page in a browser without a cache and compares what is sent with the budget. `isOwnServer` says that it has the demo data alone. */
async function measureFirstLoad(
  page: Page,
  { path, files }: Budget,
  isOwnServer: boolean,
): Promise<void> {
  await keepUnused(page);
  const traffic = watchTraffic(page);
  await page.goto(path);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await waitForEnd(page, traffic);
  traffic.stop();

  const counted = traffic.sent.filter(
    (request) => !new URL(request.url()).pathname.startsWith("/storage/v1/"),
  );
  const sizes = await Promise.all(
    counted.map(async (request): Promise<[string, number]> => {
      const { pathname } = new URL(request.url());
      await expectCompressed(pathname, await request.response());
      return [pathname, (await request.sizes()).responseBodySize];
    }),
  );
  const ofFiles = sizes.filter(([name]) => isFile(name) && (isOwnServer || !isFontOfRows(name)));
  const ofRows = sizes.filter(([name]) => !isFile(name));
  const list = sizes.map(([name, size]) => `${name} ${size}`).join("\n");
  console.info(`${path}: ${sumOf(ofFiles)} bytes of files, ${sumOf(ofRows)} of page and rows`);
  expect(ofFiles.filter(([name]) => name.endsWith(".js")).length, list).toBeGreaterThan(2);
  expect(ofFiles.filter(([name]) => name.endsWith(".woff2")).length, list).toBeGreaterThan(0);
  expect(new Set(ofFiles.map(([name]) => name)).size, list).toBe(ofFiles.length);
  expect(sumOf(ofFiles), list).toBeLessThanOrEqual(files + differenceOfBuilds);
  expect(sumOf(ofRows), list).toBeLessThanOrEqual(mostOfRows);
}

/** The build has compressed scripts and styles. One that is sent as it is would not be the file that a budget is about. */
async function expectCompressed(pathname: string, response: Response | null): Promise<void> {
  if (!isFile(pathname) || pathname.endsWith(".woff2")) return;
  expect((await response?.allHeaders())?.["content-encoding"], pathname).toBe("br");
}

for (const budget of budgets) {
  const { path, files } = budget;
  freshTest(
    `the first load of ${path} has at most ${files} bytes of files`,
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
      // It compresses the built page beside its first requests.
      await expect
        .poll(async () => (await page.request.get(path)).headers()["content-encoding"])
        .toBe("br");
      await measureFirstLoad(page, budget, true);
    },
  );
}

test("the first loads of pages for signed-in people keep to their budgets", {
  tag: "@once",
}, async ({ page, browser, baseURL, person }) => {
  test.setTimeout(240_000);
  await signIn(page, person.email);
  const storageState = await page.context().storageState();
  for (const budget of signedInBudgets) {
    const context = await browser.newContext({ storageState, ...(baseURL && { baseURL }) });
    await measureFirstLoad(await context.newPage(), budget, false);
    await context.close();
  }
});
