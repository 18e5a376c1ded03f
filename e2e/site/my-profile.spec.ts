// The signed-in person's own area: the guard around it, and the tabs of My Profile.

import { makeOutfit } from "../support/catalogue.ts";
import { expect, fillSignIn, openSignedIn, saveScreenshot, signOut, test } from "./journey.ts";
import { findViolations } from "./measure.ts";

test("a visitor is asked to sign in and then sees the page they came for", async ({
  page,
  person,
}) => {
  await page.goto("/profile?tab=favorites");
  await expect(page).toHaveURL("/auth");
  await fillSignIn(page, person.email);

  await expect(page).toHaveURL("/profile?tab=favorites");
  await expect(page.getByRole("tab", { name: "My Favorites", selected: true })).toBeVisible();
  await expect(page.getByText("You haven't added any favorite outfits yet")).toBeVisible();
});

test("a session that ends in another tab leads to the sign-in page and back", async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile?tab=submissions");
  await expect(page.getByRole("heading", { name: "Your Outfit Submissions" })).toBeVisible();

  const other = await page.context().newPage();
  await other.goto("/");
  await signOut(other);
  await other.close();

  await expect(page).toHaveURL("/auth");
  await fillSignIn(page, person.email);
  await expect(page).toHaveURL("/profile?tab=submissions");
});

test("signing out on a private page leads to the dashboard", { tag: "@once" }, async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/profile");
  await signOut(page);

  await expect(page).toHaveURL("/");
});

test("My Profile shows who is signed in, their outfits and their favorites", {
  tag: "@phone",
}, async ({ page, person }) => {
  const waiting = await makeOutfit(person, "pending");
  const refused = await makeOutfit(person, "rejected");
  await openSignedIn(page, person.email, "/profile");

  await expect(page.getByRole("heading", { name: person.username })).toBeVisible();
  await expect(page.getByRole("tabpanel").getByText(person.email)).toBeVisible();
  await expect(page.getByRole("link", { name: "See Public Profile" })).toHaveAttribute(
    "href",
    `/${person.username}`,
  );
  await expect(page.locator('meta[name="referrer"]')).toHaveAttribute("content", "same-origin");
  await saveScreenshot(page, "my-profile");
  expect(await findViolations(page)).toEqual([]);

  await page.getByRole("tab", { name: "My Submissions" }).click();
  const list = page.getByRole("list", { name: "Your Outfit Submissions" });
  const cardOf = (name: string) => list.getByRole("article").filter({ hasText: name });
  await expect(cardOf(waiting.name)).toContainText("Pending");
  await expect(cardOf(waiting.name)).toContainText("under admin review");
  await expect(cardOf(refused.name)).toContainText("Your outfit was not approved.");
  await saveScreenshot(page, "my-submissions");
  expect(await findViolations(page)).toEqual([]);

  await page.getByRole("tab", { name: "My Favorites" }).click();
  await page.getByRole("tab", { name: "Products" }).click();
  await expect(page.getByText("You haven't added any favorite products yet")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
});
