// The CSV import of the admin area.

import { expectData, fetchRows, uniqueName } from "../support/catalogue.ts";
import { owner } from "../support/clients.ts";
import { openSection } from "./admin.ts";
import { expect, saveScreenshot, test, toast } from "./journey.ts";
import { findViolations } from "./measure.ts";

test("item styles are imported from a file, and refused rows are named", async ({ page }) => {
  const name = uniqueName("Style");
  const lines = Array.from({ length: 600 }, (_, index) => `"${name}, ${index}","Said ""well"""`);
  lines[520] = `X,${name}`;
  await openSection(page, "styles", "Item Styles");
  await page.getByRole("button", { name: "Import CSV" }).click();
  const panel = page.getByRole("dialog", { name: "Import styles" });
  const file = panel.getByLabel("CSV file");
  await file.setInputFiles({
    name: "wrong.csv",
    mimeType: "text/csv",
    buffer: Buffer.from("title\nRed\n"),
  });
  await expect(toast(page, "Import failed")).toContainText(
    "no column name. Its first line names: title.",
  );
  await file.setInputFiles({
    name: "styles.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(`name,description\r\n${lines.join("\r\n")}\r\n`),
  });
  await expect(panel.getByRole("cell", { name: `${name}, 0` })).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await panel.getByRole("button", { name: "Import 600 rows" }).click();

  await expect(toast(page, "Import successful")).toContainText("599 rows imported");
  await expect(panel.getByText("599 imported, 1 refused")).toBeVisible();
  // As the spreadsheet numbers it, which counts the header.
  await expect(panel.getByText("Row 522 (X)")).toBeVisible();
  await saveScreenshot(page, "admin-import");
  expect(await fetchRows("styles", "name", `${name}, 599`)).toMatchObject([
    { description: 'Said "well"' },
  ]);
  expectData(await owner().from("styles").delete().like("name", `${name}%`));
});
