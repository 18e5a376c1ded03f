// Collections of bookmarks, the first steps of a new account, reports with their queue, and blocking.

import type { Page } from "@playwright/test";
import { expectData, fetchRows, makeOutfit } from "../support/catalogue.ts";
import { owner, signUp, signUpAdmin } from "../support/clients.ts";
import { openSection } from "./admin.ts";
import { cards, expect, openSignedIn, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations, measureOverflow } from "./measure.ts";

async function expectSound(page: Page, name: string): Promise<void> {
  await saveScreenshot(page, name);
  expect(await findViolations(page), name).toEqual([]);
  expect(await measureOverflow(page), `sideways overflow: ${name}`).toBeLessThanOrEqual(0);
}

test("a collection is made of a bookmark, shared by its link, and deleted", {
  tag: "@phone",
}, async ({ page, person, browser }) => {
  const outfit = await makeOutfit(await signUp(), "approved");
  const mark = { user_id: person.id, combine_id: outfit.id };
  expectData(await owner().from("bookmarks").insert(mark).select());
  await openSignedIn(page, person.email, "/?section=bookmarks");
  const card = cards(page, "Your Bookmarked Outfits").filter({ hasText: outfit.name });
  await card.hover();
  await card.getByRole("button", { name: `Put ${outfit.name} into a collection` }).click();
  const window = page.getByRole("dialog", { name: `Collections of ${outfit.name}` });
  await window.getByLabel("Name of the collection").fill("Office");
  await window.getByRole("button", { name: "Make a collection with it" }).click();
  await expect(window.getByRole("checkbox", { name: "Office" })).toBeChecked();
  await expectSound(page, "collect-window");
  await page.keyboard.press("Escape");

  await page
    .getByRole("navigation", { name: "Collections" })
    .getByRole("link", { name: "Office" })
    .click();
  await expect(page.getByRole("heading", { name: "Office", level: 1 })).toBeVisible();
  await expect(cards(page, "Office").filter({ hasText: outfit.name })).toHaveCount(1);
  await expect(page.getByText("Only you can see it.")).toBeVisible();
  await page.getByRole("button", { name: "Share by link" }).click();
  await expect(page.getByRole("button", { name: "Share Office" })).toBeVisible();
  await expectSound(page, "collection-own");

  const [{ id } = { id: "" }] = await fetchRows<{ id: string }>(
    "collections",
    "user_id",
    person.id,
  );
  const visitor = await browser.newContext({ baseURL: new URL("/", page.url()).href });
  const theirs = await visitor.newPage();
  await theirs.goto(`/collections/${id}`);
  await expect(theirs.getByRole("heading", { name: "Office", level: 1 })).toBeVisible();
  await expect(theirs.getByText(`A collection of @${person.username}`)).toBeVisible();
  await expect(cards(theirs, "Office").filter({ hasText: outfit.name })).toHaveCount(1);
  await expectSound(theirs, "collection-shared");
  await visitor.close();

  await page.getByRole("button", { name: "Delete Office" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete", exact: true }).click();
  await expect(page).toHaveURL("/?section=bookmarks");
  await expect(card).toHaveCount(1);
  expect(await fetchRows("collections", "user_id", person.id)).toEqual([]);
});

test("three styles of the first steps fill For You", { tag: "@phone" }, async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/?section=for-you");
  await page.getByRole("link", { name: "Choose styles" }).click();
  await expect(page.getByRole("heading", { name: /^Welcome to/, level: 1 })).toBeVisible();
  const styles = page.getByRole("list", { name: "Styles" }).getByRole("button");
  for (const index of [0, 1, 2]) await styles.nth(index).click();
  await expect(page.getByText("3 chosen.")).toBeVisible();
  await expectSound(page, "welcome");
  const name = (await styles.first().textContent()) ?? "";
  await page.getByRole("link", { name: "See outfits for you" }).click();

  await expect(page.getByRole("heading", { name: `Because you like ${name}` })).toBeVisible();
  await saveScreenshot(page, "for-you-styles");
  expect(await fetchRows("liked_styles", "user_id", person.id)).toHaveLength(3);
});

test("a report reaches the queue of the admin area, and is decided there", {
  tag: "@once",
}, async ({ page, person, browser }) => {
  const outfit = await makeOutfit(await signUp(), "approved");
  await openSignedIn(page, person.email, `/look/${outfit.id}`);
  await page.getByRole("button", { name: `Report ${outfit.name}` }).click();
  const window = page.getByRole("alertdialog", { name: `Report ${outfit.name}` });
  const send = window.getByRole("button", { name: "Report", exact: true });
  await window.getByLabel("Something else").check();
  await expect(send).toBeDisabled();
  await window.getByLabel("What it is").fill("It is my photo.");
  await expectSound(page, "report-window");
  await send.click();
  await expect(toast(page, "Thank you")).toBeVisible();

  const admin = await signUpAdmin();
  const context = await browser.newContext({ baseURL: new URL("/", page.url()).href });
  const desk = await context.newPage();
  await openSection(desk, "reports", "Reports", admin.email);
  const entry = desk.getByRole("row").filter({ hasText: outfit.name });
  await expect(entry).toContainText("It is my photo.");
  await expect(entry).toContainText(`@${person.username}`);
  await expectSound(desk, "admin-reports");
  await entry.getByRole("button", { name: `Done: ${outfit.name}` }).click();
  await expect(toast(desk, "Report decided")).toBeVisible();
  await expect(entry).toHaveCount(0);
  await context.close();
  expect(await fetchRows("reports", "reporter_id", person.id)).toMatchObject([
    { state: "done", decided_by: admin.id, note: "It is my photo." },
  ]);
});

test("a blocked person's outfits leave the lists, until they are unblocked", {
  tag: "@phone",
}, async ({ page, person }) => {
  const creator = await signUp();
  const outfit = await makeOutfit(creator, "approved");
  await openSignedIn(page, person.email, `/${creator.username}`);
  await expect(cards(page, "Outfits").filter({ hasText: outfit.name })).toHaveCount(1);
  await page.getByRole("button", { name: /^Block / }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Block", exact: true }).click();
  await expect(page.getByText("You have blocked this person.")).toBeVisible();
  await expect(page.getByRole("button", { name: /^Unblock / })).toBeVisible();
  await expectSound(page, "blocked");

  await page.goto(`/?q=${encodeURIComponent(outfit.name)}`);
  await expect(page.getByRole("heading", { name: /results/i, level: 1 })).toBeVisible();
  await expect(page.getByRole("article").filter({ hasText: outfit.name })).toHaveCount(0);

  await page.goto("/profile-settings");
  await page.getByRole("button", { name: `Unblock ${creator.username}` }).click();
  await expect(page.getByRole("heading", { name: "Blocked people" })).toHaveCount(0);
  await page.goto(`/?q=${encodeURIComponent(outfit.name)}`);
  await expect(page.getByRole("article").filter({ hasText: outfit.name })).toHaveCount(1);
});

test("an unlisted outfit is seen by those who have its link alone", { tag: "@once" }, async ({
  page,
  person,
  browser,
}) => {
  const outfit = await makeOutfit(person, "approved");
  await openSignedIn(page, person.email, "/?section=my-outfits");
  const card = cards(page, "My outfits").filter({ hasText: outfit.name });
  await card.hover();
  await card.getByRole("button", { name: `Take ${outfit.name} out of all lists` }).click();
  await expect(toast(page, "Unlisted")).toBeVisible();
  await expect(card).toContainText("Unlisted");
  await expectSound(page, "unlisted-own");

  const context = await browser.newContext({ baseURL: new URL("/", page.url()).href });
  const theirs = await context.newPage();
  const link = expectData(await person.client.rpc("unlisted_link", { outfit_id: outfit.id }));
  await theirs.goto(`/look/${link}`);
  await expect(theirs.getByRole("heading", { name: outfit.name, level: 1 })).toBeVisible();
  // The server says it for crawlers that run no script, and the page for those that follow a link within the site.
  await expect(theirs.locator('meta[name="robots"]').first()).toHaveAttribute(
    "content",
    /^noindex/,
  );
  await expect(theirs.getByRole("button", { name: `Like ${outfit.name}` })).toHaveCount(0);
  await context.close();
});
