// The SQL editor: a result per statement, errors, plans, and the question before a statement that destroys.

import type { Page } from "@playwright/test";
import { findViolations } from "../site/measure.ts";
import { expect, test } from "./console-test.ts";

/** Replaces the text of the editor. It is emptied by keys first, as Chromium copies the styles of a text that it replaces by itself. */
async function writeSql(page: Page, sql: string): Promise<void> {
  const text = page.getByRole("textbox", { name: /^SQL of/ });
  await text.press("Control+a");
  await text.press("Delete");
  await text.fill(sql);
}

test("console_091 console_090 each statement has its result, and an error rolls everything back and is shown in the text", async ({
  page,
}) => {
  await page.goto("/sql");
  const text = page.getByRole("textbox", { name: /^SQL of/ });
  await writeSql(page, "select 'first' as one;\nselect 'second' as two");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const results = page.getByRole("tablist", { name: "Results" }).getByRole("tab");
  await expect(results).toHaveCount(3);
  await expect(page.getByRole("gridcell", { name: "second" })).toBeVisible();
  await results.first().click();
  await expect(page.getByRole("gridcell", { name: "first" })).toBeVisible();
  expect(await findViolations(page), "result").toEqual([]);

  await writeSql(
    page,
    "insert into empty_one (body) values ('undone');\nselect nonsense from garments",
  );
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const alert = page.getByRole("alert").filter({ hasText: "42703" });
  await expect(alert).toBeVisible();
  await alert.getByRole("button", { name: "Show in the text" }).click();
  await expect(text).toBeFocused();
  expect(await findViolations(page), "error").toEqual([]);
  await writeSql(page, "select count(*) as left_over from empty_one where body = 'undone'");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("gridcell", { name: "0", exact: true })).toBeVisible();
});

test("console_094 a delete of all rows asks with their number, and does nothing when refused", async ({
  page,
}) => {
  await page.goto("/sql");
  await writeSql(page, "delete from measurements");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog).toContainText("It deletes every row of measurements");
  await expect(dialog).toContainText("1,200");
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await writeSql(page, "select count(*) from measurements");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByRole("gridcell", { name: "1200", exact: true })).toBeVisible();
});

test("console_095 a plan is shown as a tree, in both lights", { tag: "@phone" }, async ({
  page,
}) => {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/sql");
    await writeSql(page, "select * from garments join makers on makers.id = maker_id");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByRole("menuitem", { name: "Run, measure and roll back" }).click();
    await expect(page.getByRole("tabpanel").getByText(/Scan/).first()).toBeVisible();
    expect(await findViolations(page), colorScheme).toEqual([]);
  }
});

test("console_093 a running statement is cancelled @once", async ({ page }) => {
  await page.goto("/sql");
  await writeSql(page, "select pg_sleep(60)");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(page.getByRole("alert").filter({ hasText: "57014" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
});
