// Journeys of visitors without an account.

import {
  cards,
  expect,
  goTo,
  listSize,
  openExplore,
  outfitName,
  saveScreenshot,
  test,
  toast,
} from "./journey.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

test("a visitor scrolls, and more outfits are loaded", async ({ page }) => {
  await openExplore(page);
  await expect(page.getByRole("complementary", { name: "About Lookbook" })).toBeVisible();
  expect(await listSize(page)).toBe(24);
  await saveScreenshot(page, "explore");

  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));

  await expect.poll(() => listSize(page)).toBeGreaterThan(24);
});

test("a visitor filters by gender, and the address keeps the filter", { tag: "@phone" }, async ({
  page,
  phone,
}) => {
  await openExplore(page);

  await page.getByRole("button", { name: "Filter" }).click();
  if (phone) {
    const sheet = page.getByRole("dialog", { name: "Filter" });
    await expect(sheet).toBeVisible();
    await saveScreenshot(page, "filter-sheet");
    await sheet.getByRole("button", { name: "Men", exact: true }).click();
    await expect(sheet.getByRole("button", { name: "Men", exact: true })).toHaveAttribute(
      "aria-pressed",
      "true",
    );
    await sheet.getByRole("button", { name: "Close" }).click();
    await expect(sheet).toBeHidden();
  } else {
    await page.getByRole("menuitemcheckbox", { name: "Men", exact: true }).click();
    await page.keyboard.press("Escape");
  }

  await expect(page).toHaveURL("/?gender=men");
  await expect(page.getByRole("button", { name: "Filter, 1 chosen" })).toBeVisible();
  await expect(page.getByRole("list", { name: "Explore Outfits" })).not.toHaveAttribute(
    "aria-busy",
  );
  await cards(page).first().getByRole("link").click();
  await expect(page.getByRole("dialog").getByText("Men", { exact: true })).toBeVisible();

  await page.reload();
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page.getByRole("button", { name: "Filter, 1 chosen" })).toBeVisible();
});

test("a visitor searches by name, and clears the search", async ({ page }) => {
  await openExplore(page);

  const box = page.getByRole("searchbox", { name: "Search outfits" });
  await box.fill("night bus");
  const results = 'Search Results for "night bus"';
  await expect(page.getByRole("heading", { name: results })).toBeVisible();
  await expect(cards(page, results)).toHaveCount(1);
  await expect(cards(page, results).getByRole("link", { name: /Night Bus/ })).toBeVisible();

  await box.fill("zzzz");
  await expect(page.getByRole("heading", { name: "No results found" })).toBeVisible();
  await expect(page.getByText('No outfit, brand, color or style is called "zzzz".')).toBeVisible();

  await page.getByRole("button", { name: "Clear search" }).click();
  await expect(page).toHaveURL("/");
  await expect.poll(() => listSize(page)).toBeGreaterThanOrEqual(24);
});

test("a visitor opens an outfit, pages with the arrows, and focus returns to the card shown last", {
  tag: "@phone",
}, async ({ page, phone }) => {
  await openExplore(page);
  const [first, second] = [cards(page).nth(0), cards(page).nth(1)];
  const [firstName, secondName] = [await outfitName(first), await outfitName(second)];

  await first.getByRole("link").click();
  const modal = page.getByRole("dialog", { name: firstName });
  await expect(modal).toBeVisible();
  await expect(modal.getByRole("heading", { name: /^Items \([1-9]/ })).toBeVisible();
  await expect(modal.getByRole("listitem").first()).toBeVisible();
  await saveScreenshot(page, "modal");
  if (phone) {
    // On phones the modal fills the screen.
    expect(await modal.boundingBox()).toMatchObject({ x: 0, y: 0, width: 390, height: 844 });
    await modal.getByRole("button", { name: "Next outfit" }).click();
  } else {
    await page.keyboard.press("ArrowRight");
  }
  await expect(page.getByRole("dialog", { name: secondName })).toBeVisible();
  await page.keyboard.press("ArrowLeft");
  await expect(modal).toBeVisible();
  // Nothing comes before the first outfit as long as the last one is not loaded.
  await expect(page.getByRole("button", { name: "Previous outfit" })).toHaveCount(0);
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("dialog", { name: secondName })).toBeVisible();

  await page.keyboard.press("Escape");

  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page).toHaveURL("/");
  await expect(second.getByRole("link")).toBeFocused();
});

test("a link with a slug opens its outfit over the grid", async ({ page }) => {
  await page.goto("/?outfit=night-bus");

  const modal = page.getByRole("dialog", { name: "Night Bus" });
  await expect(modal).toBeVisible();
  await expect(modal.getByRole("heading", { name: /^Items \(/ })).toBeVisible();

  await modal.getByRole("button", { name: "Close" }).click();
  await expect(modal).toBeHidden();
  await expect(page).toHaveURL("/");
  await expect(cards(page).first()).toBeVisible();
});

test("a link to an unknown outfit says that it is no longer here", { tag: "@once" }, async ({
  page,
}) => {
  await page.goto("/?outfit=no-such-outfit");

  await expect(page.getByRole("dialog").getByText("This outfit is no longer here.")).toBeVisible();
});

test("a visitor restricts the ranking to a time range", async ({ page }) => {
  await openExplore(page);
  await goTo(page, "Top");

  await expect(page.getByRole("heading", { name: "Top Outfits - All Time" })).toBeVisible();
  await expect(cards(page, "Top Outfits - All Time").first().getByText("Rank 1")).toBeVisible();
  await saveScreenshot(page, "top");
  await page.getByRole("button", { name: "Time range: All Time" }).click();
  await page.getByRole("menuitemradio", { name: "This Year" }).click();

  await expect(page.getByRole("heading", { name: "Top Outfits - This Year" })).toBeVisible();
  await expect(cards(page, "Top Outfits - This Year").first()).toBeVisible();
});

test("a visitor opens an outfit's page and from there its creator's", async ({ page }) => {
  await page.goto("/look/night-bus");
  await expect(page.getByRole("heading", { name: "Night Bus", level: 1 })).toBeVisible();
  await expect(page).toHaveTitle(/^Night Bus · /);
  await saveScreenshot(page, "look");

  await page.getByRole("main").getByRole("link", { name: /^by @/ }).click();

  await expect(page.getByRole("heading", { name: "Outfits", level: 2 })).toBeVisible();
  await expect(cards(page, "Outfits").first()).toBeVisible();
  await saveScreenshot(page, "profile");
});

test("a visitor who likes an outfit is asked to sign in and returns to the dashboard afterwards", {
  tag: "@phone",
}, async ({ page, person, phone }) => {
  await openExplore(page);
  const card = cards(page).first();
  const name = await outfitName(card);

  if (!phone) {
    await card.hover();
  }
  await card.getByRole("button", { name: `Like ${name}` }).click();

  await expect(page).toHaveURL("/auth");
  await expect(toast(page, "Authentication required")).toContainText(
    "Please sign in to like this item.",
  );
  await page.getByLabel("Email").fill(person.email);
  await page.getByLabel("Password", { exact: true }).fill("Lookbook-2026");
  await page.getByRole("button", { name: "Sign In" }).click();
  await expect(toast(page, "Welcome back!")).toBeVisible();
  await expect(page).toHaveURL("/");
});

test("an unknown address shows the 404 page with its path", async ({ page, pageErrors }) => {
  pageErrors.expectStatus(404, "/no/such/page");
  await page.goto("/no/such/page");

  await expect(page.getByText("404", { exact: true })).toBeVisible();
  await expect(page.getByText("Nothing is published at /no/such/page.")).toBeVisible();
  await expect(page).toHaveTitle(/^Page not found/);
  await expect(cards(page, "Newest outfits").first()).toBeVisible();
  await saveScreenshot(page, "not-found");
  await page.getByRole("link", { name: "Explore Outfits" }).click();
  await expect(cards(page).first()).toBeVisible();
});
