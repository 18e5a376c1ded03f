// The table editor: rows by keyset, staged edits, conflicts, tables without key, and hostile values.

import { findViolations } from "../site/measure.ts";
import { cell, expect, grid, openTable, rest, test } from "./console-test.ts";

interface Garment {
  id: number;
  name: string;
  price: number | null;
}

test("console_054 edits by keyboard are staged, survive a reload and are applied at once", {
  tag: "@phone",
}, async ({ page, consoleServer, phone }) => {
  const [made] = await rest<Garment[]>(consoleServer, "garments", {
    method: "POST",
    body: { name: `Coat ${phone}`, price: 10 },
  });
  const id = `${made?.id}`;
  await openTable(page, "garments", `?f=id.eq.${id}`);
  await grid(page).focus();

  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("e");
  await page.keyboard.type("Long coat");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Alt+Backspace");
  await expect(page.getByRole("region", { name: "Staged changes" })).toContainText(
    "1 staged change",
  );
  await page.reload();
  await expect(cell(page, 0, 1)).toHaveText("Long coat");
  await expect(cell(page, 0, 3)).toHaveText("NULL");
  expect(await rest<Garment[]>(consoleServer, `garments?id=eq.${id}`)).toMatchObject([
    { name: `Coat ${phone}`, price: 10 },
  ]);

  await grid(page).focus();
  await page.keyboard.press("Control+Enter");
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();

  expect(await rest<Garment[]>(consoleServer, `garments?id=eq.${id}`)).toMatchObject([
    { name: "Long coat", price: null },
  ]);
});

test("console_056 what was applied can be undone", { tag: "@phone" }, async ({
  page,
  consoleServer,
  phone,
}) => {
  const [made] = await rest<Garment[]>(consoleServer, "garments", {
    method: "POST",
    body: { name: `Scarf ${phone}`, price: 7 },
  });
  await openTable(page, "garments", `?f=id.eq.${made?.id}`);
  await grid(page).focus();
  await page.keyboard.press("Delete");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("No row matches the filters")).toBeVisible();
  expect(await rest<Garment[]>(consoleServer, `garments?id=eq.${made?.id}`)).toEqual([]);

  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  // The staged row shows the same text before it is written, so only the vanished bar proves the commit.
  await expect(page.getByRole("region", { name: "Staged changes" })).toBeHidden();
  await expect(cell(page, 0, 1)).toHaveText(`Scarf ${phone}`);

  expect(await rest<Garment[]>(consoleServer, `garments?id=eq.${made?.id}`)).toEqual([made]);
});

test("console_054 a refused change names its cell and nothing is applied", {
  tag: "@phone",
}, async ({ page, pageErrors, consoleServer, phone }) => {
  pageErrors.expectStatus(422, "/api/rows/apply");
  const [made] = await rest<Garment[]>(consoleServer, "garments", {
    method: "POST",
    body: { name: `Belt ${phone}`, price: 5 },
  });
  await openTable(page, "garments", `?f=id.eq.${made?.id}`);
  await grid(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("e");
  await page.keyboard.type("Other belt");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("e");
  await page.keyboard.type("-1");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Apply" }).click();

  const alert = page.getByRole("alert").filter({ hasText: "Nothing was applied" });
  await expect(alert).toContainText("23514");
  await expect(alert).toContainText("The fault is in price");
  await expect(page.getByRole("region", { name: "Staged changes" })).toContainText(
    "1 staged change",
  );
  expect(await rest<Garment[]>(consoleServer, `garments?id=eq.${made?.id}`)).toEqual([made]);
});

test("console_033 a row that somebody else has changed is never overwritten silently", {
  tag: "@phone",
}, async ({ page, pageErrors, consoleServer, phone }) => {
  pageErrors.expectStatus(409, "/api/rows/apply");
  const [made] = await rest<Garment[]>(consoleServer, "garments", {
    method: "POST",
    body: { name: `Hat ${phone}`, price: 20 },
  });
  const path = `garments?id=eq.${made?.id}`;
  await openTable(page, "garments", `?f=id.eq.${made?.id}`);
  await grid(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("e");
  await page.keyboard.type("My hat");
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("e");
  await page.keyboard.type("25");
  await page.keyboard.press("Enter");
  await rest(consoleServer, path, { method: "PATCH", body: { name: "Their hat", price: 30 } });
  await page.getByRole("button", { name: "Apply" }).click();

  const dialog = page.getByRole("dialog", { name: "Somebody else has changed these rows" });
  await expect(dialog).toContainText("Their hat");
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("radio", { name: "Theirs: Their hat" }).check();
  await dialog.getByRole("button", { name: "Apply with these choices" }).click();
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();

  expect(await rest<Garment[]>(consoleServer, path)).toMatchObject([
    { name: "Their hat", price: 25 },
  ]);
});

test("console_055 rows of a table without key are edited", { tag: "@phone" }, async ({
  page,
  consoleServer,
  phone,
}) => {
  const text = `note ${phone}`;
  await rest(consoleServer, "notes", { method: "POST", body: { body: text } });
  await openTable(page, "notes", `?f=body.eq.${encodeURIComponent(text)}`);
  await grid(page).focus();
  await page.keyboard.press("e");
  await page.keyboard.type(`${text} edited`);
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();

  expect(await rest(consoleServer, `notes?body=like.${encodeURIComponent(`${text}%`)}`)).toEqual([
    { body: `${text} edited`, done: null },
  ]);
});

test("console_050 End shows the last rows, and scrolling up reads those before", async ({
  page,
}) => {
  await openTable(page, "measurements");
  await expect(page.getByRole("gridcell", { name: "reading 1", exact: true })).toBeVisible();
  await grid(page).focus();
  await page.keyboard.press("End");
  await expect(page.getByRole("gridcell", { name: "reading 1200", exact: true })).toBeVisible();
  await expect(page).toHaveURL(/from=end/);

  const before = page.getByRole("gridcell", { name: "reading 1050", exact: true });
  await expect(async () => {
    await page.keyboard.press("PageUp");
    await expect(before).toBeVisible({ timeout: 200 });
  }).toPass();
  await page.keyboard.press("Home");
  await expect(page.getByRole("gridcell", { name: "reading 1", exact: true })).toBeVisible();
});

test("console_001 filters and sort are in the address and open alike in another tab", async ({
  page,
  context,
}) => {
  await openTable(page, "measurements");
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  const form = page.getByRole("dialog", { name: "New filter" });
  await form.getByLabel("Column").selectOption("reading");
  await form.getByLabel("Operator").selectOption("ilike");
  await form.getByLabel("Value").fill("%117_");
  await form.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByRole("gridcell", { name: "reading 1179", exact: true })).toBeVisible();

  const other = await context.newPage();
  await other.goto(page.url());

  await expect(other.getByRole("gridcell", { name: "reading 1179", exact: true })).toBeVisible();
  await expect(other.getByText("10 rows")).toBeVisible();
});

test("console_002 console_032 the list keeps its search and the focus when a table is opened from it @once", async ({
  page,
}) => {
  await page.goto("/tables");
  const search = page.getByRole("searchbox", { name: "Search tables" });
  const link = (table: string) => page.getByRole("link", { name: new RegExp(`^${table}`) });
  await search.fill("m");
  await search.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/tables\/public\/garments$/);
  await expect(grid(page)).toBeVisible();

  await expect(search).toHaveValue("m");
  await expect(link("garments")).toBeFocused();
  await page.keyboard.press("ArrowDown");
  await expect(link("imported")).toBeFocused();
});

test("console_163 values that try to be more than text are shown as text @once", async ({
  page,
}) => {
  await openTable(page, "makers", "?s=id.desc");

  await expect(page.getByText("<img src=x onerror=alert(1)>")).toBeVisible();
  await expect(page.getByTitle("right-to-left override")).toBeVisible();
  await expect(page.locator("img")).toHaveCount(0);
});

test("console_181 grid, row and review have no violations in both lights", {
  tag: "@phone",
}, async ({ page }) => {
  // Six analyses of large pages.
  test.slow();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await openTable(page, "garments", "?f=id.lt.20&s=id");
    await grid(page).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Delete");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Alt+Backspace");
    expect(await findViolations(page), `grid, ${colorScheme}`).toEqual([]);
    await page.getByRole("button", { name: "Review" }).click();
    await expect(page.getByRole("region", { name: "SQL" })).toContainText("delete");
    expect(await findViolations(page), `review, ${colorScheme}`).toEqual([]);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Discard all" }).click();
    await grid(page).focus();
    await page.keyboard.press("Enter");
    await expect(page.getByRole("region", { name: "Row", exact: true })).toBeVisible();
    expect(await findViolations(page), `row, ${colorScheme}`).toEqual([]);
  }
});

test("console_030 an empty table says so and offers the first row", async ({ page }) => {
  await page.goto("/tables/public/empty_one");
  await expect(page.getByText("This table is empty")).toBeVisible();
  expect(await findViolations(page)).toEqual([]);

  await page.getByRole("button", { name: "Insert the first row" }).click();
  await page.getByRole("region", { name: "New row" }).getByLabel("body").fill("hello");

  await expect(page.getByRole("region", { name: "Staged changes" })).toContainText(
    "1 staged change",
  );
});

test("console_060 rows are viewed as a caller of the API, whose policies hide them", async ({
  page,
}) => {
  await openTable(page, "garments", "?f=id.lt.20");
  await expect(cell(page, 0, 1)).toBeVisible();
  await page.getByRole("button", { name: /^View as/ }).click();
  await page.getByRole("radio", { name: /^anon/ }).check();
  await page.keyboard.press("Escape");

  await expect(page.getByText("No row matches the filters")).toBeVisible();
  await expect(page).toHaveURL(/anon/);
  expect(await findViolations(page)).toEqual([]);
});
