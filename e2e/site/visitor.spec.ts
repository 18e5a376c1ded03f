// Somebody without an account looks around.

import { cards, expect, goTo, openExplore, outfitName, picture, test, toast } from "./journey.ts";

test("a visitor browses, and the grid grows with the scrolling", async ({ page }) => {
  await openExplore(page);
  await expect(cards(page)).toHaveCount(24);
  await picture(page, "explore");

  await cards(page).last().scrollIntoViewIfNeeded();

  await expect.poll(() => cards(page).count()).toBeGreaterThan(24);
});

test("a visitor filters by gender, and the address keeps the filter", async ({ page, phone }) => {
  await openExplore(page);

  await page.getByRole("button", { name: "Filter" }).click();
  if (phone) {
    const sheet = page.getByRole("dialog", { name: "Filter" });
    await expect(sheet).toBeVisible();
    await picture(page, "filter-sheet");
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
  await expect(page.getByText('Nothing is called "zzzz".')).toBeVisible();

  await page.getByRole("button", { name: "Clear search" }).click();
  await expect(page).toHaveURL("/");
  // More than a page when the reader's place is near the end of the first one: the next is read ahead.
  await expect.poll(() => cards(page).count()).toBeGreaterThanOrEqual(24);
});

test("a visitor opens an outfit, walks on with the arrows and comes back to the last card", async ({
  page,
  phone,
}) => {
  await openExplore(page);
  const [first, second] = [cards(page).nth(0), cards(page).nth(1)];
  const [firstName, secondName] = [await outfitName(first), await outfitName(second)];

  await first.getByRole("link").click();
  const modal = page.getByRole("dialog", { name: firstName });
  await expect(modal).toBeVisible();
  await expect(modal.getByRole("heading", { name: /^Items \([1-9]/ })).toBeVisible();
  await expect(modal.getByRole("listitem").first()).toBeVisible();
  await picture(page, "modal");
  if (phone) {
    // The modal is a page of its own: nothing of the grid is left around it.
    expect(await modal.boundingBox()).toMatchObject({ x: 0, y: 0, width: 390, height: 844 });
    await modal.getByRole("button", { name: "Next outfit" }).click();
  } else {
    await page.keyboard.press("ArrowRight");
  }
  await expect(page.getByRole("dialog", { name: secondName })).toBeVisible();
  await page.keyboard.press("ArrowLeft");
  await expect(modal).toBeVisible();
  // Around the end: what comes before the first is the last.
  await page.keyboard.press("ArrowLeft");
  await expect(modal).toBeHidden();
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect(page.getByRole("dialog", { name: secondName })).toBeVisible();

  await page.keyboard.press("Escape");

  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page).toHaveURL("/");
  await expect(second.getByRole("link")).toBeFocused();
});

test("a link opens its outfit over the grid, by slug", async ({ page }) => {
  await page.goto("/?outfit=night-bus");

  const modal = page.getByRole("dialog", { name: "Night Bus" });
  await expect(modal).toBeVisible();
  await expect(modal.getByRole("heading", { name: /^Items \(/ })).toBeVisible();

  await modal.getByRole("button", { name: "Close" }).click();
  await expect(modal).toBeHidden();
  await expect(page).toHaveURL("/");
  await expect(cards(page).first()).toBeVisible();
});

test("a link to an outfit that is gone says so", { tag: "@once" }, async ({ page }) => {
  await page.goto("/?outfit=no-such-outfit");

  await expect(page.getByRole("dialog").getByText("This outfit is no longer here.")).toBeVisible();
});

test("a visitor ranks the outfits by time", async ({ page }) => {
  await openExplore(page);
  await goTo(page, "Top");

  await expect(page.getByRole("heading", { name: "Top Outfits - All Time" })).toBeVisible();
  await expect(cards(page, "Top Outfits - All Time").first().getByText("Rank 1")).toBeVisible();
  await picture(page, "top");
  await page.getByRole("button", { name: "Time range: All Time" }).click();
  await page.getByRole("menuitemradio", { name: "This Year" }).click();

  await expect(page.getByRole("heading", { name: "Top Outfits - This Year" })).toBeVisible();
  await expect(cards(page, "Top Outfits - This Year").first()).toBeVisible();
});

test("a visitor reads an outfit's own page and its creator's", async ({ page }) => {
  await page.goto("/look/night-bus");
  await expect(page.getByRole("heading", { name: "Night Bus", level: 1 })).toBeVisible();
  await expect(page).toHaveTitle(/^Night Bus · /);
  await picture(page, "look");

  await page.getByRole("main").getByRole("link", { name: /@/ }).click();

  await expect(page.getByRole("heading", { name: "Outfits", level: 2 })).toBeVisible();
  await expect(cards(page, "Outfits").first()).toBeVisible();
  await picture(page, "profile");
});

test("a visitor who likes is asked to sign in, and is back afterwards", async ({
  page,
  person,
  phone,
}) => {
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

test("an address that nothing is published at is named", async ({ page }) => {
  await page.goto("/no/such/page");

  await expect(page.getByText("404", { exact: true })).toBeVisible();
  await expect(page.getByText("Nothing is published at /no/such/page.")).toBeVisible();
  await expect(page).toHaveTitle(/^Page not found/);
  await picture(page, "not-found");
  await page.getByRole("link", { name: "Explore Outfits" }).click();
  await expect(cards(page).first()).toBeVisible();
});
