// Errors while a person works in the console: the server stops, a column is dropped, a page times out, tables and values are huge.

import type { Selvedge } from "../support/selvedge.ts";
import { cell, expect, grid, openTable, rest, test } from "./console-test.ts";

/** Number of the console's screens; each has its own script. */
const screenCount = 12;

/** Runs SQL as `postgres`, in place of another person who works at the same time. */
async function runSql(server: Selvedge, text: string): Promise<void> {
  const response = await fetch(`${server.consoleUrl}/api/sql/runs`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "sec-fetch-site": "same-origin",
      "x-selvedge-console": "1",
    },
    body: JSON.stringify({ id: crypto.randomUUID(), text }),
  });
  expect(await response.text()).toContain('"committed":true');
}

test("console_031 staged edits and typed SQL outlive a killed server, and the page heals by itself @once", async ({
  page,
  pageErrors,
  consoleServer,
}) => {
  // The server is started twice, which takes longer.
  test.slow();
  pageErrors.expectNetworkFailures();
  pageErrors.expectStatusOfAny(503, "/api/");
  const [made] = await rest<{ id: number }[]>(consoleServer, "garments", {
    method: "POST",
    body: { name: "Before the crash", price: 10 },
  });
  const path = `garments?id=eq.${made?.id}`;
  const sql = page.getByRole("textbox", { name: /^SQL of/ });
  await page.goto("/sql");
  await sql.fill("select 'typed before the crash'");
  await openTable(page, "garments", `?f=id.eq.${made?.id}`);
  await grid(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("e");
  await page.keyboard.type("After the crash");
  await page.keyboard.press("Enter");

  // The scripts of all screens are loaded while the browser is idle.
  await page.waitForFunction((count) => {
    const files = performance.getEntriesByType("resource").map(({ name }) => name);
    return files.filter((name) => /\/screen-[^/]+\.js$/.test(name)).length >= count;
  }, screenCount);

  const bar = page.getByRole("status").filter({ hasText: "The server cannot be reached." });
  await consoleServer.kill();
  try {
    await expect(bar).toContainText("What you see is");
    await page.getByRole("button", { name: "Apply" }).click();
    const alert = page.getByRole("alert").filter({ hasText: "It is unknown whether" });
    await expect(alert).toContainText("All changes are still staged.");
    // The scripts of other screens are loaded already, so they can be opened without the server.
    await page.getByRole("link", { name: "Storage", exact: true }).click();
    await expect(page.getByRole("heading", { name: "Storage", level: 1 })).toBeVisible();
    await page.goBack();
  } finally {
    await consoleServer.restart();
  }
  await expect(bar).toBeHidden();
  await page.reload();
  await expect(cell(page, 0, 1)).toHaveText("After the crash");
  expect(await rest(consoleServer, path)).toMatchObject([{ name: "Before the crash" }]);
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();
  expect(await rest(consoleServer, path)).toMatchObject([{ name: "After the crash" }]);
  await page.goto("/sql");
  await expect(sql).toHaveText("select 'typed before the crash'");
});

test("console_054 console_034 a column dropped under an open grid takes no other value along, and its edit is refused by name @once", async ({
  page,
  pageErrors,
  consoleServer,
}) => {
  // The grid may request the dropped column once more before the catalog is reloaded.
  pageErrors.expectStatus(422, "/api/rows/read");
  pageErrors.expectStatus(422, "/api/rows/apply");
  await runSql(
    consoleServer,
    `create table public.shrinking (id int primary key, first text, second text, third text);
     insert into public.shrinking values (1, 'the first', 'the second', 'the third')`,
  );
  await openTable(page, "shrinking");
  await grid(page).focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("e");
  await page.keyboard.type("edited");
  await page.keyboard.press("Tab");
  await page.keyboard.press("e");
  await page.keyboard.type("lost");
  await page.keyboard.press("Enter");

  await runSql(consoleServer, "alter table public.shrinking drop column second");
  await expect(page.getByRole("columnheader", { name: "second" })).toHaveCount(0);
  await expect(cell(page, 0, 1)).toHaveText("edited");
  await expect(cell(page, 0, 2)).toHaveText("the third");
  await page.getByRole("button", { name: "Apply" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "Nothing was applied" });
  await expect(alert).toContainText("The fault is in second");

  await page.getByRole("button", { name: "Review" }).click();
  await page.getByRole("button", { name: "Discard the change of second" }).click();
  await page.getByRole("button", { name: "Apply all" }).click();
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();
  await expect(cell(page, 0, 1)).toHaveText("edited");
});

test("console_030 a page that takes too long says what can be done @once", async ({
  page,
  pageErrors,
  consoleServer,
}) => {
  pageErrors.expectStatus(422, "/api/rows/read");
  await runSql(
    consoleServer,
    "create view public.slow_one as select 1 as id from (select pg_sleep(8) offset 0) s",
  );
  await page.goto("/tables/public/slow_one");

  const alert = page.getByRole("alert").filter({ hasText: "The rows could not be read" });
  await expect(alert).toContainText("57014");
  await expect(alert).toContainText("Filter or sort by a column that has an index");
  await expect(alert).toContainText("Nothing was changed.");
  await expect(alert.getByRole("button", { name: "Try again" })).toBeVisible();
  await expect(alert.getByRole("link", { name: "Show its log line" })).toBeVisible();
});

test("console_173 a table of 1600 columns is edited, and a cell of 70 MB is shown by its size @once", async ({
  page,
  pageErrors,
  consoleServer,
}) => {
  pageErrors.expectStatus(422, "/api/rows/cell");
  await runSql(
    consoleServer,
    `do $$ begin execute (select format('create table public.wide (id int primary key, %s)',
       string_agg('c' || n || ' int2', ', ')) from generate_series(1, 1599) n); end $$;
     insert into public.wide (id, c1599) values (1, 7);
     create table public.heavy (id int primary key, note text);
     insert into public.heavy values (1, repeat('x', 70 * 1024 * 1024))`,
  );
  await openTable(page, "wide");
  await expect(grid(page)).toHaveAttribute("aria-colcount", "1601");
  // Only the visible columns are rendered.
  expect(await page.getByRole("gridcell").count()).toBeLessThan(60);
  await grid(page).focus();
  await page.keyboard.press("Control+ArrowRight");
  await expect(cell(page, 0, 1599)).toHaveText("7");
  await page.keyboard.press("e");
  await page.keyboard.type("8");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();

  await openTable(page, "heavy");
  await expect(cell(page, 0, 1).getByText("70.0 MB")).toBeInViewport();
  await cell(page, 0, 1).click();
  await page.keyboard.press("e");
  const dialog = page.getByRole("dialog", { name: "note" });
  await expect(dialog.getByRole("alert")).toContainText("longer than 64 MB");
  await expect(dialog.getByRole("button", { name: "Stage" })).toBeDisabled();
});
