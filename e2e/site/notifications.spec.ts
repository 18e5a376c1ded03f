// Notifications: the bell, the page of all, and that they arrive while a page is open.

import type { Page } from "@playwright/test";
import { expectData, makeOutfit, type Outfit } from "../support/catalogue.ts";
import { type Person, signUp, signUpAdmin } from "../support/clients.ts";
import { expect, fillSignIn, saveScreenshot, signIn, test } from "./journey.ts";
import { findViolations } from "./measure.ts";

function bell(page: Page, unread: number) {
  const name = unread === 0 ? "Notifications" : `Notifications, ${unread} unread`;
  return page.getByRole("button", { name, exact: true });
}

async function like(outfit: Outfit, fan: Person): Promise<void> {
  expectData(await fan.client.from("likes").insert({ user_id: fan.id, combine_id: outfit.id }));
}

async function review(outfit: Outfit, approve: boolean, reason?: string): Promise<void> {
  const admin = await signUpAdmin();
  expectData(await admin.client.rpc("review_combine", { combine_id: outfit.id, approve, reason }));
}

test("visitors see two samples", async ({ page }) => {
  await page.goto("/");
  await bell(page, 0).click();

  await expect(page.getByRole("menu").getByText("New outfit liked")).toBeVisible();
  await expect(page.getByRole("menu").getByText("New follower")).toBeVisible();
});

test("a like and a review are counted while the page is open, and read one by one", {
  tag: "@phone",
}, async ({ page, person }) => {
  const liked = await makeOutfit(person, "approved");
  const refused = await makeOutfit(person, "pending");
  const fan = await signUp();
  const joined = page.waitForEvent("websocket").then((socket) =>
    socket.waitForEvent("framereceived", {
      predicate: ({ payload }) => payload.includes("Replication connection established"),
    }),
  );
  await signIn(page, person.email);
  await expect(bell(page, 0)).toBeVisible();
  await joined;

  await like(liked, fan);
  await expect(bell(page, 1)).toBeVisible();
  await review(refused, false, "The shoes are missing.");
  await expect(bell(page, 2)).toBeVisible();

  await bell(page, 2).click();
  const entry = page.getByRole("menuitem", { name: "New outfit liked" });
  await expect(entry).toContainText(`@${fan.username} liked ${liked.name}.`);
  await expect(page.getByRole("menuitem", { name: "Outfit rejected" })).toContainText(
    `${refused.name} was not approved. The shoes are missing.`,
  );
  await saveScreenshot(page, "notifications-menu");
  await entry.click();
  await expect(page.getByRole("heading", { name: liked.name, level: 1 })).toBeVisible();
  await expect(bell(page, 1)).toBeVisible();

  // Reloaded: what was read stays read.
  await page.reload();
  await expect(bell(page, 1)).toBeVisible();
  await bell(page, 1).click();
  await page.getByRole("menuitem", { name: "Outfit rejected" }).click();
  await expect(page).toHaveURL(`/create-outfit?outfit=${refused.id}`);
  await expect(
    page.getByText("This outfit was not approved. The shoes are missing."),
  ).toBeVisible();
});

test("the page of all lists them, and all are marked as read at once", async ({ page, person }) => {
  const outfits = await Promise.all([
    makeOutfit(person, "approved"),
    makeOutfit(person, "pending"),
  ]);
  await like(outfits[0], await signUp());
  await review(outfits[1], true);
  await signIn(page, person.email);
  await bell(page, 2).click();
  await page.getByRole("menuitem", { name: "See all notifications" }).click();

  await expect(page).toHaveURL("/notifications");
  const list = page.getByRole("region", { name: "Notifications", exact: true });
  await expect(list.getByRole("link")).toHaveCount(2);
  await expect(list.getByRole("link").first()).toContainText(`${outfits[1].name} is live.`);
  await expect(list.getByText("Unread")).toHaveCount(2);
  // Two entries leave room: for what they add up to, and for something to look at.
  const numbers = page.getByRole("list", { name: "Numbers" });
  await expect(numbers.getByRole("listitem").filter({ hasText: /^1like$/ })).toBeVisible();
  await expect(page.getByRole("heading", { name: "Newest outfits" })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "notifications");
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(bell(page, 0)).toBeVisible();
  await expect(list.getByText("Unread")).toHaveCount(0);
});

test("the page of all is empty at first, and asks visitors to sign in", async ({
  page,
  person,
}) => {
  await page.goto("/notifications");
  await expect(page).toHaveURL("/auth");
  await fillSignIn(page, person.email);
  await expect(page).toHaveURL("/notifications");

  await expect(page.getByText("You have no notifications yet.")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
});

test("without realtime they are asked for every minute", { tag: "@once" }, async ({
  page,
  person,
}) => {
  const outfit = await makeOutfit(person, "approved");
  await page.routeWebSocket(/\/realtime\/v1\//, () => {
    // Never answers: the channel does not open.
  });
  await page.clock.install();
  await signIn(page, person.email);
  await expect(bell(page, 0)).toBeVisible();

  await like(outfit, await signUp());
  await page.clock.fastForward(61_000);

  await expect(bell(page, 1)).toBeVisible();
});
