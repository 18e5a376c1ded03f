// Rows as files: export of what the grid shows.

import { readFile } from "node:fs/promises";
import { findViolations } from "../site/measure.ts";
import { expect, openTable, test } from "./console-test.ts";

test("console_058 the rows of the grid are downloaded as a file", async ({ page }) => {
  await openTable(page, "measurements", "?f=reading.ilike.%25117_&s=id.desc");
  await page.getByRole("button", { name: "Export" }).click();
  const dialog = page.getByRole("dialog", { name: "Export measurements" });
  await expect(dialog).toContainText("10 rows that match the filters, in the order of the grid.");
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("radio", { name: /^Exact CSV/ }).check();

  const begun = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download" }).click();
  const download = await begun;

  expect(download.suggestedFilename()).toBe("measurements.csv");
  expect(await download.failure()).toBeNull();
  const file = await readFile(await download.path(), "utf8");
  const rows = Array.from({ length: 10 }, (_, n) => `${1179 - n},reading ${1179 - n}\n`);
  expect(file).toBe(`id,reading\n${rows.join("")}`);
  await expect(page.getByText("The download has begun", { exact: true })).toBeVisible();
  await expect(dialog).toBeHidden();
});

test("console_058 what cannot be exported is said in the dialog", async ({ page, pageErrors }) => {
  pageErrors.expectStatus(422, "/api/rows/read");
  pageErrors.expectStatus(422, "/api/rows/count");
  pageErrors.expectStatus(422, "/api/rows/export");
  await page.goto("/tables/public/measurements?f=id.eq.one");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("button", { name: "Download" }).click();

  const alert = page.getByRole("dialog").getByRole("alert");
  await expect(alert).toContainText("The export was refused");
  await expect(alert).toContainText("22P02");
});
