// The admin area's users: finding people, changing roles, and links that must not change one.

import type { Page } from "@playwright/test";
import { fetchRows } from "../support/catalogue.ts";
import { openSection } from "./admin.ts";
import { expect, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

async function openUsers(page: Page, search: string): Promise<void> {
  await openSection(page, `users${search}`, "Users");
}

/** Lets the clock of the page go on, so that a card that submits itself after a moment has done so. Needs `page.clock.install()`. */
async function passTime(page: Page): Promise<void> {
  await page.clock.fastForward(5_000);
  await page.request.get("/auth/v1/health");
}

test("a user is found by address, and the toggle gives and takes the role", {
  tag: "@phone",
}, async ({ page, person }) => {
  await openUsers(page, "");
  await expect(page.getByRole("row").nth(1)).toBeVisible();
  await saveScreenshot(page, "admin-users");
  expect(await findViolations(page)).toEqual([]);
  await page.getByRole("searchbox").fill(person.email);
  const access = page.getByRole("switch", { name: `Admin access of ${person.username}` });
  await expect(access).not.toBeChecked();
  await access.click();
  await expect(toast(page, "User role updated")).toBeVisible();
  await expect(access).toBeChecked();
  expect(await fetchRows("profiles", "id", person.id)).toMatchObject([{ role: "admin" }]);
  await access.click();
  await expect(access).not.toBeChecked();
  expect(await fetchRows("profiles", "id", person.id)).toMatchObject([{ role: "user" }]);
});

test("a role is set by address, and an unknown address is refused", { tag: "@once" }, async ({
  page,
  pageErrors,
  person,
}) => {
  pageErrors.expectStatus(404, "/rest/v1/rpc/set_user_role_by_email");
  await openUsers(page, "");
  const button = page.getByRole("button", { name: "Update Role" });
  await button.click();
  await expect(toast(page, "Email required")).toContainText("Please enter a user email");
  await page.getByLabel("Email", { exact: true }).fill("nobody-at-all@lookbook.test");
  await button.click();
  await expect(toast(page, "Failed to update user role")).toContainText(
    "No user has this e-mail address.",
  );
  await page.getByLabel("Email", { exact: true }).fill(person.email.toUpperCase());
  await expect(page.getByLabel("Role", { exact: true })).toHaveValue("admin");
  await button.click();

  await expect(toast(page, "Role updated successfully")).toBeVisible();
  expect(await fetchRows("profiles", "id", person.id)).toMatchObject([{ role: "admin" }]);
});

test("a link from elsewhere fills in the card and changes no role", async ({ page, person }) => {
  const calls: string[] = [];
  page.on("request", (request) => calls.push(new URL(request.url()).pathname));
  await page.clock.install();
  await openUsers(page, `?email=${encodeURIComponent(person.email)}&autoupdate=true`);

  await expect(page.getByLabel("Email", { exact: true })).toHaveValue(person.email);
  await expect(page.getByText("A link filled in this address.")).toBeVisible();
  await passTime(page);
  expect(calls.filter((path) => path.endsWith("set_user_role_by_email"))).toEqual([]);
  expect(await fetchRows("profiles", "id", person.id)).toMatchObject([{ role: "user" }]);
});

test("a link of the site submits the card once, not again on reload", { tag: "@once" }, async ({
  page,
  person,
}) => {
  const calls: string[] = [];
  page.on("request", (request) => calls.push(new URL(request.url()).pathname));
  const search = `?email=${encodeURIComponent(person.email)}&autoupdate=true`;
  await page.clock.install();
  await openUsers(page, "");
  // As react-router stores the state of a link.
  await page.evaluate((address) => {
    history.replaceState({ usr: { mayAutoUpdate: true }, key: "inside", idx: 0 }, "", address);
  }, `/admin/users${search}`);
  await page.reload();
  await expect(toast(page, "Role updated successfully")).toBeVisible();
  await page.reload();
  await expect(page.getByText("A link filled in this address.")).toBeVisible();
  await passTime(page);

  expect(calls.filter((path) => path.endsWith("set_user_role_by_email"))).toHaveLength(1);
  expect(await fetchRows("profiles", "id", person.id)).toMatchObject([{ role: "admin" }]);
});
