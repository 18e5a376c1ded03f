// The admin area's settings. Settings that affect the whole site are tested on a separate server, because the other tests
// need the usual ones.

import { randomUUID } from "node:crypto";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { openSection, tinyPicture } from "./admin.ts";
import { expect, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

/** Not the fixture of fresh-server.ts, whose server other files measure. */
const ownServer = test.extend<object, { settingsServer: Selvedge }>({
  settingsServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const server = await startSelvedge("sql/app");
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],
  baseURL: async ({ settingsServer }, use) => use(settingsServer.apiUrl),
});

test("settings: what the server holds is shown, with versions and sizes", {
  tag: "@phone",
}, async ({ page }) => {
  await openSection(page, "settings", "Settings");
  await expect(page.getByLabel("Site name")).toHaveValue("Lookbook");
  await expect(page.getByRole("switch", { name: "Registration" })).toBeChecked();
  await expect(page.getByRole("switch", { name: "Review of submissions" })).toBeChecked();
  await expect(page.getByText("Every file is shown somewhere.")).toBeVisible();

  const server = page.getByRole("region", { name: "Server" });
  await expect(server.getByText(/^1[5-9]\.\d/)).toBeVisible();
  const images = server
    .getByRole("table", { name: "Buckets" })
    .getByRole("row", { name: /^images / });
  await expect(images).toContainText(/MB|kB/);
  await expect(server.getByRole("row", { name: /^combines / })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await saveScreenshot(page, "admin-settings");

  await page.getByLabel("Site name").fill("X");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Name must be at least 2 characters")).toBeVisible();
});

ownServer.describe("settings on a server of their own:", () => {
  // One after the other, because they change the same settings.
  ownServer.describe.configure({ mode: "serial" });

  ownServer(
    "the name of the site changes on its pages, and Undo brings it back",
    {
      tag: "@once",
    },
    async ({ page }) => {
      await openSection(page, "settings", "Settings");
      const name = page.getByLabel("Site name");
      await name.fill("Wardrobe");
      await page.getByRole("button", { name: "Save" }).click();
      await expect(toast(page, "Settings saved")).toBeVisible();
      // Its time does not go on while the pointer rests on it: the pages below may take longer.
      await toast(page, "Settings saved").hover();
      await expect(page.getByRole("link", { name: "Wardrobe, home" })).toBeVisible();
      // A page that was not asked for before: the server keeps pages for a minute.
      const response = await page.request.get("/look/night-bus");
      expect(await response.text()).toContain("<title>Night Bus · Wardrobe</title>");
      const visitor = await page.context().newPage();
      await visitor.goto("/product/camel-overcoat");
      await expect(visitor.getByRole("link", { name: "Wardrobe, home" }).first()).toBeVisible();
      await expect(visitor).toHaveTitle(/^Camel Overcoat.* · Wardrobe$/);
      await visitor.close();

      await toast(page, "Settings saved").getByRole("button", { name: "Undo" }).click();
      await expect(toast(page, "Change undone")).toBeVisible();
      await expect(page.getByRole("link", { name: "Lookbook, home" })).toBeVisible();
      await expect(name).toHaveValue("Lookbook");
    },
  );

  ownServer(
    "while registration is closed the form says so, and the service refuses",
    {
      tag: "@once",
    },
    async ({ page, browser, settingsServer }) => {
      const guest = await (await browser.newContext({ baseURL: settingsServer.apiUrl })).newPage();
      await guest.goto("/auth?mode=signup");
      await expect(guest.getByRole("button", { name: "Create Account" })).toBeVisible();
      await openSection(page, "settings", "Settings");
      const registration = page.getByRole("switch", { name: "Registration" });
      await registration.click();
      await expect(toast(page, "Settings saved")).toBeVisible();
      await expect(page.getByText("Nobody can create an account.")).toBeVisible();

      // The guest opened the form before registration was switched off.
      await guest.getByLabel("Full name").fill("Late Guest");
      await guest.getByLabel("Username").fill(`late_${randomUUID().slice(0, 8)}`);
      await guest.getByLabel("Email").fill("late@lookbook.test");
      await guest.getByLabel("Password", { exact: true }).fill("Lookbook-2026");
      await guest.getByRole("button", { name: "Create Account" }).click();
      await expect(toast(guest, "Error")).toContainText("Registration is closed at the moment.");
      // A page that was not asked for before: the server keeps pages for a minute.
      await guest.goto("/discovery");
      await guest.getByRole("link", { name: "Sign In" }).first().click();
      await guest.getByRole("tab", { name: "Sign Up" }).click();
      await expect(guest.getByText("Registration is closed at the moment.")).toBeVisible();
      await guest.context().close();

      await registration.click();
      await expect(page.getByText("Everybody may create an account.")).toBeVisible();
    },
  );

  ownServer(
    "orphaned files are listed and removed",
    { tag: "@once" },
    async ({ page, settingsServer }) => {
      // The list leaves out files younger than a day; the test's own is seconds old.
      await page.route("**/rest/v1/rpc/storage_orphans", (route) =>
        route.continue({ postData: JSON.stringify({ min_age: "0 seconds" }) }),
      );
      await openSection(page, "brands", "Brands");
      await page.getByRole("button", { name: "Add Brand" }).click();
      const upload = page.getByRole("dialog").getByLabel("Upload logo");
      await upload.setInputFiles({ name: "a.png", mimeType: "image/png", buffer: tinyPicture });
      await expect(toast(page, "Image uploaded")).toBeVisible();
      const url = await page.getByRole("img", { name: "Current logo" }).getAttribute("src");
      // As a closed browser: the form cannot delete what it has uploaded.
      await page.goto("/admin/settings");
      const orphans = page.getByRole("region", { name: "Orphaned files" });
      await expect(orphans.getByText(/^brand-logos\/[0-9a-f-]+\.png$/)).toBeVisible();
      expect(await findViolations(page)).toEqual([]);
      await saveScreenshot(page, "admin-orphans");
      await orphans.getByRole("button", { name: "Remove 1 file" }).click();
      await page.getByRole("alertdialog").getByRole("button", { name: "Remove" }).click();

      await expect(toast(page, "1 file removed")).toBeVisible();
      await expect(orphans.getByText("Every file is shown somewhere.")).toBeVisible();
      const response = await page.request.get(`${settingsServer.apiUrl}${url}`);
      expect(response.status()).toBeGreaterThanOrEqual(400);
    },
  );
});
