// Navigation, the choice of appearance, and what addresses lead to.

import type { Page } from "@playwright/test";
import { cards, expect, goTo, openExplore, openSignedIn, saveScreenshot, test } from "./journey.ts";

const theme = (page: Page) => page.locator("html").getAttribute("data-theme");

async function chooseAppearance(page: Page, appearance: string): Promise<void> {
  await page.getByRole("button", { name: "Appearance" }).click();
  await page.getByRole("menuitemradio", { name: appearance }).click();
  await expect(page.getByRole("menuitemradio")).toHaveCount(0);
}

test("a visitor goes from page to page by the navigation", { tag: "@phone" }, async ({
  page,
  phone,
}) => {
  await openExplore(page);
  await goTo(page, "Discovery");
  await expect(page).toHaveURL("/discovery");
  await expect(page.getByRole("heading", { name: "Discovery", level: 1 })).toBeVisible();

  await goTo(page, "Explore");
  await expect(page).toHaveURL("/");
  await expect(cards(page).first()).toBeVisible();

  await page.goto("/look/night-bus");
  await expect(page.getByRole("heading", { name: "Night Bus", level: 1 })).toBeVisible();
  await goTo(page, phone ? "Create" : "Create Your Page");
  await expect(page.getByRole("heading", { name: "Create Account" })).toBeVisible();

  if (phone) {
    await openExplore(page);
    await goTo(page, "Likes");
    await expect(page.getByText("Sign in to see the outfits you like.")).toBeVisible();
    await goTo(page, "Me");
    await expect(page.getByRole("heading", { name: "Sign In" })).toBeVisible();
  }
});

// On phones the search is on Discovery itself.
test("the reading pages search on Discovery", { tag: "@once" }, async ({ page }) => {
  await page.goto("/look/night-bus");
  await expect(page.getByRole("heading", { name: "Night Bus", level: 1 })).toBeVisible();
  await page.keyboard.press("/");
  const box = page.getByRole("searchbox", { name: "Search outfits and items" });
  await expect(box).toBeFocused();

  await box.fill("camel");
  await page.keyboard.press("Enter");

  await expect(page).toHaveURL("/discovery?q=camel");
  await expect(box).toHaveCount(1);
  await expect(cards(page, "Found outfits").first()).toBeVisible();
});

test("a choice of appearance holds on every page and after a reload", async ({ page }) => {
  await openExplore(page);
  expect(await theme(page)).toBe("dark");
  await page.goto("/discovery");
  await expect(page.getByRole("heading", { name: "Discovery" })).toBeVisible();
  expect(await theme(page)).toBe("light");

  await chooseAppearance(page, "Dark");
  expect(await theme(page)).toBe("dark");
  await page.reload();
  await expect(page.getByRole("heading", { name: "Discovery" })).toBeVisible();
  expect(await theme(page)).toBe("dark");

  await chooseAppearance(page, "Light");
  await openExplore(page);
  expect(await theme(page)).toBe("light");
  await saveScreenshot(page, "explore-light");

  await page.emulateMedia({ colorScheme: "dark" });
  await chooseAppearance(page, "System");
  expect(await theme(page)).toBe("dark");
  await page.emulateMedia({ colorScheme: "light" });
  await expect.poll(() => theme(page)).toBe("light");

  await chooseAppearance(page, "By page");
  expect(await theme(page)).toBe("dark");
});

test("a reserved word without a page shows the 404, a name that nobody has is a missing user", {
  tag: "@once",
}, async ({ page, pageErrors }) => {
  pageErrors.expectStatus(404, "/likes");
  pageErrors.expectStatus(404, "/no_such_user");
  await page.goto("/likes");
  await expect(page.getByText("Nothing is published at /likes.")).toBeVisible();
  await page.goto("/no_such_user");
  await expect(page.getByRole("heading", { name: "User Not Found" })).toBeVisible();
});

test("a signed-in user finds the same navigation on every page", { tag: "@phone" }, async ({
  page,
  person,
  phone,
}) => {
  await openSignedIn(page, person.email, "/discovery");
  await expect(page.getByRole("button", { name: /^Account menu of / })).toBeVisible();
  await expect(page.getByRole("button", { name: "Notifications" })).toBeVisible();
  if (phone) {
    await goTo(page, "Me");
    await expect(page).toHaveURL("/profile");
    await expect(page.getByRole("heading", { name: person.username })).toBeVisible();
  }
});
