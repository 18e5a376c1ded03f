// Access to the admin area, and its behaviour for users without access.

import { owner, signUpAdmin } from "../support/clients.ts";
import { replaceRenderedPictures } from "./admin.ts";
import {
  accountMenu,
  cards,
  expect,
  fillSignIn,
  openSignedIn,
  saveScreenshot,
  signIn,
  test,
} from "./journey.ts";
import { findViolations } from "./measure.ts";

test.beforeEach(({ page }) => replaceRenderedPictures(page));

const dashboard = { name: "Dashboard", level: 1 } as const;

test("a visitor signs in first and then gets to the section they asked for", async ({ page }) => {
  await page.goto("/admin/dashboard");
  await expect(page).toHaveURL("/auth");

  await fillSignIn(page, "admin@lookbook.test");

  await expect(page.getByRole("heading", dashboard)).toBeVisible();
  await expect(page).toHaveURL("/admin/dashboard");
  await saveScreenshot(page, "admin-dashboard");
  expect(await findViolations(page)).toEqual([]);
});

test("a user who is no administrator is told so and led away", async ({ page, person }) => {
  await signIn(page, person.email);
  const requested: string[] = [];
  page.on("request", (request) => requested.push(new URL(request.url()).pathname));
  await page.goto("/admin/brands");

  await expect(page.getByRole("heading", { name: "Admin Access Required" })).toBeVisible();
  await expect(page.getByText("You don't have permission to access the admin area.")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-denied");
  expect(requested.filter((path) => path.includes("admin_overview"))).toEqual([]);
  await page.getByRole("link", { name: "Go to Home Page" }).click();
  await expect(page).toHaveURL("/");
  await expect(cards(page).first()).toBeVisible();
  await accountMenu(page).click();
  await expect(page.getByRole("menuitem", { name: "Sign out" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Admin", exact: true })).toHaveCount(0);
});

test("Go Back returns to the page before the admin area", { tag: "@once" }, async ({
  page,
  person,
}) => {
  await openSignedIn(page, person.email, "/discovery");
  await page.goto("/admin");

  await page.getByRole("button", { name: "Go Back" }).click();

  await expect(page).toHaveURL("/discovery");
});

test("an administrator reaches the area by the account menu, and unknown sections become the dashboard", async ({
  page,
}) => {
  await signIn(page, "admin@lookbook.test");
  await accountMenu(page).click();
  await page.getByRole("menuitem", { name: "Admin", exact: true }).click();
  await expect(page).toHaveURL("/admin/dashboard");
  await expect(page.getByRole("heading", dashboard)).toBeVisible();

  for (const address of ["/admin", "/admin/no-such-section", "/admin/brands/1/2"]) {
    await page.goto(address);
    await expect(page).toHaveURL("/admin/dashboard");
    await expect(page.getByRole("heading", dashboard)).toBeVisible();
  }
});

test("whoever loses the role while the area is open is led to the home page", {
  tag: "@once",
}, async ({ page }) => {
  const admin = await signUpAdmin();
  await openSignedIn(page, admin.email, "/admin/dashboard");
  await expect(page.getByRole("heading", dashboard)).toBeVisible();

  await owner().from("profiles").update({ role: "user" }).eq("id", admin.id);
  // The check runs again when the window gets the focus.
  await page.evaluate(() => window.dispatchEvent(new Event("visibilitychange")));

  await expect(page).toHaveURL("/");
});

test("visitors load no code of the admin area", { tag: "@once" }, async ({ page }) => {
  const scripts: string[] = [];
  page.on("request", (request) => {
    if (request.resourceType() === "script") scripts.push(request.url());
  });
  await page.goto("/");
  await page.waitForLoadState("networkidle");

  expect(scripts.length).toBeGreaterThan(0);
  expect(scripts.filter((url) => /admin/.test(url))).toEqual([]);
});
