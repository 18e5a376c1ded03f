// The site as an app: its manifest and icons, and what is shown of it without a network.

import type { Locator, Page } from "@playwright/test";
import {
  cards,
  expect,
  openExplore,
  openSignedIn,
  saveScreenshot,
  signOut,
  test,
} from "./journey.ts";

test.use({ serviceWorkers: "allow" });

/** Addresses of what is kept for times without a network, also without the files of the site. */
function copies(page: Page, without = ""): Promise<string[]> {
  return page.evaluate(async (left) => {
    const found: string[] = [];
    for (const name of (await caches.keys()).filter((one) => one !== left)) {
      const cache = await caches.open(name);
      found.push(...(await cache.keys()).map(({ url }) => url));
    }
    return found;
  }, without);
}

/** Uses the page, so that the worker is registered, and waits until this address is kept. */
async function expectCopy(page: Page, path: string): Promise<void> {
  await page.keyboard.press("Shift");
  await page.evaluate(() => navigator.serviceWorker.ready);
  await expect(async () => {
    // The page keeps copies of what was shown when its tab is hidden.
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    expect((await copies(page)).map((url) => new URL(url).pathname)).toContain(path);
  }).toPass();
}

/** Waits until the picture has been loaded and decoded. */
async function expectPicture(picture: Locator): Promise<void> {
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(0);
}

test("the site can be installed, with icons of the sizes that it names", { tag: "@once" }, async ({
  page,
}) => {
  await page.goto("/terms");
  const href = await page.locator('link[rel="manifest"]').getAttribute("href");
  const manifest = await (await page.request.get(href ?? "")).json();
  expect(manifest).toMatchObject({ start_url: "/", display: "standalone" });
  for (const { src, sizes } of manifest.icons as { src: string; sizes: string }[]) {
    const size = await page.evaluate(async (url) => {
      const image = new Image();
      image.src = url;
      await image.decode();
      return `${image.naturalWidth}x${image.naturalHeight}`;
    }, src);
    expect(size).toBe(sizes);
  }
});

test("without a network pages that were seen are shown, and others are listed", {
  tag: "@phone",
}, async ({ page, context, pageErrors }) => {
  pageErrors.expectNetworkFailures();
  await openExplore(page);
  await expectCopy(page, "/");
  await page.goto("/look/night-bus");
  const picture = page
    .getByRole("region", { name: "Pictures of Night Bus" })
    .locator("img")
    .first();
  await expectPicture(picture);
  const source = await picture.evaluate((image: HTMLImageElement) => image.currentSrc);
  await expectCopy(page, "/look/night-bus");
  await expectCopy(page, new URL(source).pathname);

  // What the worker answers with for a page that is not there.
  pageErrors.expectStatus(503, "/look/camel-hour");
  await context.setOffline(true);
  await page.goto("/look/night-bus");
  await expect(page.getByRole("heading", { name: "Night Bus", level: 1 })).toBeVisible();
  await expectPicture(picture);
  await page.goto("/");
  await expect(cards(page).first()).toBeVisible();
  await page.goto("/look/camel-hour");
  await expect(page.getByRole("heading", { name: "You are offline" })).toBeVisible();
  await saveScreenshot(page, "offline");
  await page.getByRole("link", { name: /Night Bus/ }).click();
  await expect(page.getByRole("heading", { name: "Night Bus", level: 1 })).toBeVisible();
  await context.setOffline(false);
});

test("nothing of a session is kept, and signing out leaves the files of the site alone", {
  tag: "@once",
}, async ({ page, person }) => {
  await openSignedIn(page, person.email, "/");
  await expect(cards(page).first()).toBeVisible();
  await expectCopy(page, "/");
  await page.goto("/profile");
  await page.goto("/look/night-bus");
  await expectCopy(page, "/look/night-bus");
  const kept = (await copies(page)).map((url) => new URL(url).pathname);
  expect(
    kept.filter((path) => /^\/(rest|auth|profile|storage\/v1\/object\/sign)/.test(path)),
  ).toEqual([]);

  await signOut(page);
  await expect.poll(() => copies(page, "lookbook-files")).toEqual([]);
});

test("with the worker in between, a new version is said when there is one", {
  tag: "@once",
}, async ({ page, context, pageErrors }) => {
  pageErrors.expectNetworkFailures();
  pageErrors.expectConsole("Failed to fetch dynamically imported module");
  await openExplore(page);
  await expectCopy(page, "/");
  // After a deployment the files of the open page are gone, and the server's page names others.
  await context.route(/\/assets\/(?!main)[^/]*\.js$/, (route) => route.abort());
  await context.route(/\/$/, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replaceAll(
      /\/assets\/main-[^"]*\.js/g,
      "/assets/main-new.js",
    );
    await route.fulfill({ response, body });
  });
  await page.getByRole("navigation").getByRole("link", { name: "Discovery" }).click();

  await expect(page.getByText("There is a new version of this site.")).toBeVisible();
});
