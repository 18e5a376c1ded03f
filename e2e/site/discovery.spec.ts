// Discovery: search in outfits and items, filters, and the address that holds them.

import type { Page } from "@playwright/test";
import { cards, expect, listSize, saveScreenshot, test } from "./journey.ts";

async function openDiscovery(page: Page, search = ""): Promise<void> {
  await page.goto(`/discovery${search}`);
  await expect(page.getByRole("heading", { name: "Discovery", level: 1 })).toBeVisible();
}

/** Pictures that are rendered for the first time keep a slow machine busy; the tests of search and filters do not need them. */
async function leaveOutPictures(page: Page): Promise<void> {
  await page.route("**/storage/v1/**", (route) => route.abort("aborted"));
}

const outfits = "Found outfits";
const items = "Found items";

test("a visitor sees outfits with gender, styles and description, and then items", async ({
  page,
}) => {
  await openDiscovery(page);
  await expect(page).toHaveTitle("Discovery · Lookbook");
  await expect(page.getByRole("tab", { name: "Outfits" })).toHaveAttribute("aria-selected", "true");
  await expect(cards(page, outfits).first()).toBeVisible();
  await expect(cards(page, outfits).first()).toContainText(/Men|Women|Unisex/);
  await saveScreenshot(page, "discovery");

  await page.getByRole("tab", { name: "Items" }).click();
  await expect(page).toHaveURL("/discovery?tab=items");
  await expect(cards(page, items).first()).toBeVisible();
  await expect(cards(page, items).first()).toContainText("$");
  await saveScreenshot(page, "discovery-items");

  await page.getByRole("tab", { name: "Outfits" }).click();
  await cards(page, outfits).first().getByRole("link").first().click();
  await expect(page).toHaveURL(/\/look\//);
});

test("the search finds names first, then brands, colors and styles", async ({ page }) => {
  await leaveOutPictures(page);
  await openDiscovery(page);
  const box = page.getByRole("searchbox", { name: "Search outfits and items" });

  await box.fill("camel");
  await expect(page).toHaveURL("/discovery?q=camel");
  await expect(cards(page, outfits).first()).toContainText("Camel Hour");
  await expect.poll(() => listSize(page, outfits)).toBeGreaterThan(5);

  await page.getByRole("tab", { name: "Items" }).click();
  await expect(cards(page, items).first()).toContainText(/camel/i);

  await box.fill("zzzz");
  await expect(page.getByText('No items found for "zzzz".')).toBeVisible();
  await page.getByRole("button", { name: "Clear search", exact: true }).last().click();
  await expect(page).toHaveURL("/discovery?tab=items");
  await expect(cards(page, items).first()).toBeVisible();
});

test("filters narrow the results, stay in the address and are removed one by one", {
  tag: "@phone",
}, async ({ page, phone }) => {
  await openDiscovery(page);
  await expect(cards(page, outfits).first()).toBeVisible();

  await page.getByRole("button", { name: "Filters", exact: true }).click();
  const panel = phone
    ? page.getByRole("dialog", { name: "Filters" })
    : page.getByRole("region", { name: "Filters" });
  await panel.getByRole("button", { name: "Women", exact: true }).click();
  await panel.getByRole("button", { name: "Tarn & Tiller" }).click();
  await expect(page).toHaveURL("/discovery?gender=women&brand=tarn-tiller");
  await saveScreenshot(page, "discovery-filters");
  if (phone) {
    await panel.getByRole("button", { name: /^Show \d+ outfits?$/ }).click();
    await expect(panel).toBeHidden();
  }
  await expect(page.getByRole("list", { name: outfits })).not.toHaveAttribute("aria-busy");
  await expect(cards(page, outfits).first()).toContainText("Women");

  await page.reload();
  const chosen = page.getByRole("list", { name: "Chosen filters" });
  await expect(chosen.getByRole("button", { name: "Remove filter Tarn & Tiller" })).toBeVisible();
  await chosen.getByRole("button", { name: "Remove filter Women" }).click();
  await expect(page).toHaveURL("/discovery?brand=tarn-tiller");
});

test("a range of prices is applied on Enter, and an impossible one is explained", {
  tag: "@phone",
}, async ({ page, phone }) => {
  await leaveOutPictures(page);
  await openDiscovery(page, "?tab=items");
  await page.getByRole("button", { name: "Filters", exact: true }).click();

  await page.getByLabel("Lowest price").fill("600");
  await page.getByLabel("Highest price").fill("500");
  await expect(page.getByText("The lowest price is above the highest.")).toBeVisible();
  await page.getByLabel("Highest price").fill("650");
  await page.keyboard.press("Enter");

  await expect(page).toHaveURL("/discovery?tab=items&min=600&max=650");
  if (phone) {
    await page.getByRole("button", { name: /^Show \d+ items?$/ }).click();
  }
  await expect(page.getByRole("button", { name: "Remove filter $600 – $650" })).toBeVisible();
  await expect(cards(page, items).filter({ hasText: "$620" })).toHaveCount(1);
});

test("filters without a match offer to clear them", async ({ page }) => {
  await leaveOutPictures(page);
  await openDiscovery(page, "?min=9000000");
  await expect(page.getByText("No outfits match these filters.")).toBeVisible();
  await page.getByRole("button", { name: "Clear all filters" }).click();
  await expect(page).toHaveURL("/discovery");
  await expect(cards(page, outfits).first()).toBeVisible();
});

test("a failed search says so and is repeated on demand", { tag: "@once" }, async ({
  page,
  pageErrors,
}) => {
  pageErrors.expectNetworkFailures();
  await leaveOutPictures(page);
  await page.route("**/rpc/search_outfits*", (route) => route.abort("connectionrefused"));
  // Without a search the outfits come with the page.
  await openDiscovery(page, "?q=camel");
  await expect(page.getByText("The outfits could not be loaded.")).toBeVisible();

  await page.unroute("**/rpc/search_outfits*");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(cards(page, outfits).first()).toBeVisible();
});
