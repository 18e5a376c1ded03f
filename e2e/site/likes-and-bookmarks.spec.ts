// Likes and bookmarks: adding, listing and removing them.

import type { Page } from "@playwright/test";
import {
  cards,
  expect,
  goTo,
  openSignedIn,
  outfitName,
  saveScreenshot,
  signIn,
  test,
  toast,
} from "./journey.ts";

/** The bottom navigation of phones has no entry for bookmarks, so phones use their address. */
async function openBookmarks(page: Page, phone: boolean): Promise<void> {
  if (phone) {
    await page.goto("/?section=bookmarks");
  } else {
    await goTo(page, "Bookmarks");
  }
}

test("a user likes an outfit, finds it under Likes after a reload, and removes the like", {
  tag: "@phone",
}, async ({ page, person, phone }) => {
  await signIn(page, person.email);
  await expect(page.getByRole("complementary", { name: "About Lookbook" })).toBeHidden();
  const card = cards(page).first();
  const name = await outfitName(card);
  if (!phone) {
    await card.hover();
  }
  await card.getByRole("button", { name: `Like ${name}` }).click();
  await expect(card.getByRole("button", { name: `Unlike ${name}` })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await expect(toast(page, "Liked!")).toBeVisible();

  await goTo(page, "Likes");
  const liked = cards(page, "Your Liked Outfits");
  await expect(liked).toHaveCount(1);
  await expect(liked.getByRole("link", { name })).toBeVisible();
  await page.reload();
  await expect(liked.getByRole("link", { name })).toBeVisible();
  await saveScreenshot(page, "likes");

  await liked.getByRole("link").click();
  await page
    .getByRole("dialog", { name })
    .getByRole("button", { name: `Unlike ${name}` })
    .click();
  await expect(toast(page, "Unliked")).toBeVisible();
  await page.goto("/?section=likes");
  await expect(page.getByText("You haven't liked any outfits yet.")).toBeVisible();
});

test("a user bookmarks an outfit in the modal and finds it under Bookmarks", {
  tag: "@phone",
}, async ({ page, person, phone }) => {
  await signIn(page, person.email);
  const name = await outfitName(cards(page).nth(1));
  await cards(page).nth(1).getByRole("link").click();
  const modal = page.getByRole("dialog", { name });
  await modal.getByRole("button", { name: `Bookmark ${name}` }).click();
  await expect(modal.getByRole("button", { name: `Remove bookmark from ${name}` })).toBeVisible();
  await modal.getByRole("button", { name: "Close" }).click();
  await expect(modal).toBeHidden();

  await openBookmarks(page, phone);
  const bookmarked = cards(page, "Your Bookmarked Outfits");
  await expect(bookmarked).toHaveCount(1);
  await page.reload();
  await expect(bookmarked.getByRole("link", { name })).toBeVisible();
  await saveScreenshot(page, "bookmarks");

  if (!phone) {
    await bookmarked.hover();
  }
  await bookmarked.getByRole("button", { name: `Remove bookmark from ${name}` }).click();
  await expect(page.getByText("You haven't bookmarked any outfits yet.")).toBeVisible();
});

test("the keys l and b like and bookmark in the modal", { tag: "@once" }, async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/?outfit=night-bus");
  const modal = page.getByRole("dialog", { name: "Night Bus" });
  // The shortcuts press the buttons, which are disabled until the likes and bookmarks are loaded.
  for (const name of ["Like Night Bus", "Bookmark Night Bus"]) {
    await expect(modal.getByRole("button", { name })).toBeEnabled();
  }

  await page.keyboard.press("l");
  await page.keyboard.press("b");

  await expect(modal.getByRole("button", { name: "Unlike Night Bus" })).toBeVisible();
  await expect(modal.getByRole("button", { name: "Remove bookmark from Night Bus" })).toBeVisible();
});

test("likes of one user are not shown to the next user of the browser", { tag: "@once" }, async ({
  page,
  person,
}) => {
  await signIn(page, "noah@lookbook.test");
  await goTo(page, "Likes");
  await expect(cards(page, "Your Liked Outfits").first()).toBeVisible();
  await page.getByRole("button", { name: /^Account menu of / }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign In" })).toBeVisible();

  await signIn(page, person.email);
  await goTo(page, "Likes");

  await expect(page.getByText("You haven't liked any outfits yet.")).toBeVisible();
});
