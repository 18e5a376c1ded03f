// The console's shell: screens, keyboard, command palette, the light and the dark theme, and what its pages may load.

import { findViolations } from "../site/measure.ts";
import { anonKey, serviceKey } from "../support/clients.ts";
import { expect, test } from "./console-test.ts";

test.use({ contextOptions: { reducedMotion: "no-preference" } });

test("console_002 screens are reached by keys, and ? lists the keys @once", async ({ page }) => {
  await page.goto("/tables");
  await expect(page.getByRole("heading", { name: "Tables", level: 1 })).toBeVisible();

  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toContainText("Find a screen");
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox", { name: "Search tables" })).toBeFocused();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find" }).fill("garm");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/tables\/public\/garments$/);
  await page.getByRole("grid").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await expect(page).toHaveURL(/\/tables$/);
});

test("console_002 the palette finds users, buckets, actions and SQL that was run before @once", async ({
  page,
  consoleServer,
}) => {
  for (const [path, body] of [
    ["auth/v1/admin/users", { email: "findme@example.com" }],
    ["storage/v1/bucket", { id: "findable", name: "findable" }],
  ] as const) {
    const response = await fetch(`${consoleServer.apiUrl}/${path}`, {
      method: "POST",
      headers: {
        apikey: anonKey,
        authorization: `Bearer ${serviceKey}`,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    expect(response.ok).toBe(true);
  }
  await page.goto("/sql");
  await page.getByRole("textbox", { name: /^SQL of/ }).fill("select 'findings' as kept");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("grid", { name: "Rows of the result" })).toBeVisible();
  const find = page.getByRole("combobox", { name: "Find" });

  await page.goto("/overview");
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await page.keyboard.press("Control+k");
  await find.fill("find");
  const options = page.getByRole("option");
  await expect(options.filter({ hasText: "findme@example.com" })).toBeVisible();
  await expect(options.filter({ hasText: "findable" })).toBeVisible();
  await options.filter({ hasText: "select 'findings' as kept" }).click();
  await expect(page.getByRole("textbox", { name: /^SQL of/ })).toHaveText(
    "select 'findings' as kept",
  );
  await page.keyboard.press("Control+k");
  await find.fill("simulate");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/policies\/simulator$/);
});

test("console_006 the shell is whole on this screen and has no violations in both lights", {
  tag: "@phone",
}, async ({ page, phone }) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/tables");
    await expect(page.getByRole("link", { name: "garments" })).toBeVisible();
    expect(await findViolations(page), colorScheme).toEqual([]);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
  }
  if (phone) {
    await page.getByRole("button", { name: "Screens" }).click();
    await page.getByRole("link", { name: "Tables" }).click();
    await page.getByRole("link", { name: "garments" }).click();
    await expect(page.getByRole("grid")).toBeVisible();
    await page.getByRole("button", { name: "Back to the list" }).click();
    await expect(page.getByRole("link", { name: "garments" })).toBeVisible();
  }
});

test("console_007 nothing is loaded from another origin @once", async ({ page, baseURL }) => {
  const origins = new Set<string>();
  page.on("request", (request) => origins.add(new URL(request.url()).origin));

  await page.goto("/tables/public/garments");
  await expect(page.getByRole("grid")).toBeVisible();

  expect([...origins]).toEqual([baseURL]);
});
