// The pages of an outfit, an item and a brand, and the links from each.

import type { Page } from "@playwright/test";
import { cards, expect, signIn, test, toast } from "./journey.ts";
import { findViolations, recordLayoutShifts } from "./measure.ts";

/** A picture of one pixel, which replaces all pictures, because rendering many real ones takes a busy machine minutes. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Responds to requests for pictures with one pixel: pages full of real ones take a busy machine's renderer minutes. */
async function skipPictures(page: Page): Promise<void> {
  await page.route("**/storage/v1/**", (route) =>
    route.fulfill({ contentType: "image/png", body: pixel }),
  );
}

/** Opens an item of the seed, for tests that do not look at pictures. */
async function openItem(page: Page, slug: string, name: string): Promise<void> {
  await skipPictures(page);
  await page.goto(`/product/${slug}`);
  await expect(page.getByRole("heading", { name, level: 1 })).toBeVisible();
}

test("a visitor goes from an outfit to an item, an outfit with it, its brand, and another item", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await skipPictures(page);
  await page.goto("/look/camel-hour");
  await expect(page.getByRole("heading", { name: "Camel Hour", level: 1 })).toBeVisible();
  await expect(page.getByText("$1,368 in all")).toBeVisible();
  await expect(cards(page, "More by @mira").first()).toBeVisible();
  await expect(cards(page, "Related outfits").first()).toBeVisible();

  await page
    .getByRole("region", { name: "Items (5)" })
    .getByRole("link", { name: "Belted Wrap Coat", exact: true })
    .click();
  await expect(page).toHaveURL("/product/wrap-coat");
  await expect(page.getByRole("heading", { name: "Belted Wrap Coat", level: 1 })).toBeVisible();
  await expect(page).toHaveTitle("Belted Wrap Coat by Mare Lune · Lookbook");
  const shop = page.getByRole("link", { name: /^View in shop/ });
  await expect(shop).toHaveAttribute("href", /^https:\/\/marelune\.example\//);
  await expect(shop).toHaveAttribute("rel", /noopener/);
  await expect(cards(page, "Similar items").first()).toBeVisible();

  await page.getByRole("link", { name: "See outfits with it" }).click();
  await cards(page, "Outfits with this item")
    .getByRole("link", { name: /^Camel Hour/ })
    .click();
  await expect(page).toHaveURL("/look/camel-hour");
  // The new page starts at its top, although the link was far down on the previous one.
  await expect(page.getByRole("heading", { name: "Camel Hour", level: 1 })).toBeInViewport();
  await page.goBack();

  await page.getByRole("link", { name: "Mare Lune", exact: true }).first().click();
  await expect(page.getByRole("heading", { name: "Mare Lune", level: 1 })).toBeVisible();
  await expect(page).toHaveTitle("Mare Lune · Lookbook");
  await expect(cards(page, "Outfits with Mare Lune").first()).toBeVisible();

  await cards(page, "Items").first().getByRole("link").first().click();
  await expect(page).toHaveURL(/\/product\/[a-z-]+$/);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
});

test("the gallery shows each picture, and names what is in it", { tag: "@phone" }, async ({
  page,
  phone,
}) => {
  await page.goto("/look/camel-hour");
  const gallery = page.getByRole("region", { name: "Pictures of Camel Hour" });
  const thumbnails = gallery.getByRole("button", { name: /^Show picture/ });
  if (phone) {
    // Phones swipe in place of thumbnails: the name and the heart are above the bar at the lower edge.
    await expect(gallery.getByText("1 / 6")).toBeVisible();
    const bar = await page.getByRole("navigation", { name: "Sections" }).boundingBox();
    const heart = await page.getByRole("button", { name: "Like Camel Hour" }).boundingBox();
    expect((heart?.y ?? 999) + (heart?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
  } else {
    await expect(thumbnails).toHaveCount(6);
    await expect(thumbnails.first()).toHaveAttribute("aria-current", "true");
  }
  // The color stored with the picture is shown until the picture is loaded.
  await expect(gallery.locator("[data-picture]").first()).toHaveAttribute(
    "style",
    /background-color: rgb\(/,
  );

  if (phone) {
    await gallery.getByRole("group", { name: "3 of 6" }).scrollIntoViewIfNeeded();
    await expect(gallery.getByText("3 / 6")).toBeVisible();
  } else {
    await thumbnails.nth(2).click();
    await expect(thumbnails.nth(2)).toHaveAttribute("aria-current", "true");
  }
  const caption = gallery.getByRole("link", { name: "Mock Neck Knit, $98" });
  await expect(caption).toBeInViewport();
  await caption.click();
  await expect(page.getByRole("heading", { name: "Mock Neck Knit", level: 1 })).toBeVisible();
});

test("a like is counted on the outfit's page", async ({ page, person }) => {
  await signIn(page, person.email);
  await skipPictures(page);
  await page.goto("/look/soft-launch");
  const count = page.getByRole("main").getByText(/^[0-9,]+ likes?$/);
  await expect(count).toBeVisible();
  const likes = async () => Number.parseInt((await count.textContent()) ?? "", 10);
  const before = await likes();

  await page.getByRole("button", { name: "Like Soft Launch" }).first().click();

  // Other tests like outfits of the seed too, but none takes back a like of this one.
  await expect.poll(likes).toBeGreaterThan(before);
});

test("a user likes an item, and it stays liked after a reload", async ({ page, person }) => {
  await signIn(page, person.email);
  await openItem(page, "camel-overcoat", "Camel Overcoat");

  await page.getByRole("button", { name: "Like Camel Overcoat" }).click();

  await expect(toast(page, "Liked!")).toContainText(
    "This product has been added to your favorites",
  );
  await page.reload();
  const liked = page.getByRole("button", { name: "Unlike Camel Overcoat" });
  await expect(liked).toHaveAttribute("aria-pressed", "true");
  await liked.click();
  await expect(toast(page, "Unliked")).toBeVisible();
});

test("a visitor who likes an item is asked to sign in, and returns to it", async ({
  page,
  person,
}) => {
  await openItem(page, "camel-overcoat", "Camel Overcoat");

  await page.getByRole("button", { name: "Like Camel Overcoat" }).click();

  await expect(toast(page, "Authentication required")).toContainText(
    "Please sign in to like this item.",
  );
  await page.getByLabel("Email").fill(person.email);
  await page.getByLabel("Password", { exact: true }).fill("Lookbook-2026");
  await page.getByRole("button", { name: "Sign In" }).click();
  await expect(page).toHaveURL("/product/camel-overcoat");
});

test("unknown outfits, items and brands say what is missing", async ({ page, pageErrors }) => {
  for (const [path, text] of [
    ["/look/no-such-outfit", "This outfit is no longer here."],
    ["/product/no-such-item", "This item is no longer here."],
    ["/brands/00000000-0000-4000-8000-000000000000", "There is no such brand here."],
    ["/brands/no-id", "There is no such brand here."],
  ] as const) {
    pageErrors.expectStatus(404, path);
    await page.goto(path);
    await expect(page.getByRole("heading", { name: text, level: 1 })).toBeVisible();
    await expect(page.getByRole("link", { name: "Explore Outfits" })).toBeVisible();
    await expect(cards(page, "Newest outfits").first()).toBeVisible();
  }
});

for (const path of ["/look/camel-hour", "/product/camel-overcoat"]) {
  test(`${path} has no violations of axe's rules, does not move while it loads, and fits the screen`, {
    tag: "@phone",
  }, async ({ page }) => {
    const shifts = await recordLayoutShifts(page);
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await page.waitForLoadState("networkidle");

    expect(await shifts()).toBeLessThan(0.01);
    expect(await findViolations(page)).toEqual([]);
  });
}

test("a brand's page has no violations of axe's rules and does not move while it loads", async ({
  page,
}) => {
  await openItem(page, "camel-overcoat", "Camel Overcoat");
  const brand = await page
    .getByRole("link", { name: "Sellino Vetri", exact: true })
    .first()
    .getAttribute("href");
  // Layout shifts are measured with real pictures.
  await page.unroute("**/storage/v1/**");
  const shifts = await recordLayoutShifts(page);
  await page.goto(brand ?? "");
  await expect(cards(page, "Items").first()).toBeVisible();
  await page.waitForLoadState("networkidle");

  expect(await shifts()).toBeLessThan(0.01);
  expect(await findViolations(page)).toEqual([]);
});
