// One value for a column of many rows: of the selected ones, and of all that match, which are counted once more when it is applied.

import { findViolations } from "../site/measure.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { askConsole, cell, expect, findOid, grid, openTable, rest, test } from "./console-test.ts";

interface Stock {
  id: number;
  pieces: number | null;
}

/** Number of rows of the table `stock` with this place and these pieces. */
async function countStock(server: Selvedge, place: string, pieces: string): Promise<number> {
  const filters = Object.entries({ place, pieces }).map(([column, value]) => ({
    column,
    operator: "eq",
    value,
  }));
  const table = await findOid(server, "stock");
  const text = await askConsole(server, "/api/rows/count", { table, filters, exact: true });
  return (JSON.parse(text) as { count: number }).count;
}

test("console_057 a column of the selected rows is set, and of no others", {
  tag: "@phone",
}, async ({ page, consoleServer, phone }) => {
  const [first, second, other] = phone ? [2401, 2402, 2403] : [2406, 2407, 2408];
  await openTable(page, "stock", `?f=id.in.(${first},${second},${other})`);
  await grid(page).focus();
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  await expect(page.getByText("2 rows selected")).toBeVisible();

  await page.getByRole("button", { name: "Set a column of many rows" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a column of many rows" });
  await expect(dialog.getByRole("radio", { name: "The selected 2 rows" })).toBeChecked();
  await dialog.getByLabel("Column").selectOption("pieces");
  await dialog.getByRole("button", { name: "NULL" }).click();
  await dialog.getByRole("button", { name: "Stage" }).click();
  await expect(cell(page, 0, 2)).toHaveText("NULL");
  await expect(cell(page, 1, 2)).toHaveText("NULL");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("2 changes applied", { exact: true })).toBeVisible();

  const path = `stock?id=in.(${first},${second},${other})&select=id,pieces&order=id`;
  expect(await rest<Stock[]>(consoleServer, path)).toEqual([
    { id: first, pieces: null },
    { id: second, pieces: null },
    { id: other, pieces: other },
  ]);
});

test("console_057 all that match change by one statement, only if there are as many as were confirmed", {
  tag: "@phone",
}, async ({ page, pageErrors, consoleServer, phone }) => {
  pageErrors.expectStatusOfAny(409, "/api/rows/apply");
  const place = phone ? "phone" : "desktop";
  const added = phone ? 9001 : 9002;
  await openTable(page, "stock", `?f=place.eq.${place}`);
  const stageAll = async (rows: number, typed: string) => {
    await page.getByRole("button", { name: "Set a column of many rows" }).click();
    const dialog = page.getByRole("dialog", { name: "Set a column of many rows" });
    await expect(dialog.getByText(`All that match the filters: ${typed}`)).toBeVisible();
    await dialog.getByLabel("Column").selectOption("pieces");
    await dialog.getByLabel("New value").fill("70000");
    await expect(dialog.getByRole("button", { name: "Stage" })).toBeDisabled();
    await dialog.getByLabel(`Type ${rows} to confirm`).fill(`${rows - 1}`);
    await expect(dialog.getByRole("button", { name: "Stage" })).toBeDisabled();
    expect(await findViolations(page)).toEqual([]);
    await dialog.getByLabel(`Type ${rows} to confirm`).fill(typed);
    await dialog.getByRole("button", { name: "Stage" }).click();
    await expect(page.getByRole("region", { name: "Staged changes" })).toContainText(
      "1 staged change",
    );
  };

  await stageAll(1200, "1,200");
  await rest(consoleServer, "stock", {
    method: "POST",
    body: { id: added, place, pieces: 1 },
  });
  await page.getByRole("button", { name: "Apply" }).click();
  const refused = page.getByRole("alert").filter({ hasText: "Nothing was applied" });
  await expect(refused).toContainText("1201");
  expect(await countStock(consoleServer, place, "70000")).toBe(0);

  await page.getByRole("button", { name: "Discard all" }).click();
  await stageAll(1201, "1,201");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText(/change.* applied/).first()).toBeVisible();
  expect(await countStock(consoleServer, place, "70000")).toBe(1201);
  expect(await countStock(consoleServer, "both", "70000")).toBe(0);
});
