// Another project is started on the port of a console whose pages are still open: nothing of the first one reaches it.

import type { Page } from "@playwright/test";
import { findViolations } from "../site/measure.ts";
import { makeProject } from "../support/project.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { cell, test as consoleTest, expect, openTable, rest } from "./console-test.ts";

const migration = `
create table public.coats (id bigint primary key, name text);
insert into public.coats select n, 'Coat ' || n from generate_series(1, 3) n;
insert into storage.buckets (id, name) values ('photos', 'photos');
`;

const test = consoleTest.extend({
  consoleServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const project = await makeProject("atelier", migration);
      const server = await startSelvedge(project.path);
      await use(server);
      await server.stop();
      await project.remove();
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

const staged = (page: Page) => page.getByRole("region", { name: "Staged changes" });

test("console_033 staged edits, SQL and uploads of one project never reach another that is started on its port @once", async ({
  page,
  context,
  consoleServer: server,
  pageErrors,
}) => {
  pageErrors.expectNetworkFailures();
  pageErrors.expectStatusOfAny(409, "/api/");
  await openTable(page, "coats");
  await cell(page, 0, 1).dblclick();
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Of the atelier");
  await page.keyboard.press("Enter");
  const sql = await context.newPage();
  await sql.goto("/sql");
  await sql.getByRole("textbox", { name: /^SQL of/ }).click();
  await sql.keyboard.type("insert into public.coats values (9, 'of the atelier')");
  const files = await context.newPage();
  await files.goto("/storage?bucket=photos");
  await expect(files.getByLabel("Files to upload")).toBeAttached();

  await server.kill();
  const project = await makeProject("museum", migration);
  const port = Number(new URL(server.consoleUrl).port);
  const other = await startSelvedge(project.path, [], {}, ["start"], port);
  try {
    const bar = page.getByRole("alert").filter({ hasText: "runs at this address now" });
    await expect(bar).toContainText("Another project, museum");
    expect(await findViolations(page)).toEqual([]);
    await staged(page).getByRole("button", { name: "Apply" }).click();
    await expect(page.getByText("other_project").first()).toBeVisible();
    await expect(staged(page)).toContainText("1 staged change");
    await sql.getByRole("button", { name: /^Run/ }).first().click();
    await expect(sql.getByText("This address serves another project").first()).toBeVisible();
    const chosen = { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("of the atelier") };
    await files.getByLabel("Files to upload").setInputFiles([chosen]);
    await expect(files.getByText("The uploads are paused", { exact: true })).toBeVisible();

    const coats = await rest<{ name: string }[]>(other, "coats?order=id");
    expect(coats.map(({ name }) => name)).toEqual(["Coat 1", "Coat 2", "Coat 3"]);
    // A new page is one of the other project, with nothing of the first.
    const fresh = await context.newPage();
    await openTable(fresh, "coats");
    await expect(staged(fresh)).toHaveCount(0);
    await fresh.close();
  } finally {
    await other.stop();
    await project.remove();
    await server.restart();
  }
  await expect(page.getByText("runs at this address now")).toHaveCount(0);
  await staged(page).getByRole("button", { name: "Apply" }).click();
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();
  expect(await rest(server, "coats?id=eq.1")).toMatchObject([{ name: "Of the atelier" }]);
});
