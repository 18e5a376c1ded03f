// Two tabs and two people: what one stages, undoes, types or uploads is neither lost, nor undone, nor sent by another.

import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { findViolations } from "../site/measure.ts";
import { makeProject } from "../support/project.ts";
import { binary, type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { cell, test as consoleTest, expect, grid, openTable, rest } from "./console-test.ts";

const config = `project_id = "pair"
[selvedge.console]
login = true
`;

const migration = `
create table public.coats (id bigint primary key, name text, price int);
insert into public.coats select n, 'Coat ' || n, n from generate_series(1, 9) n;
insert into storage.buckets (id, name) values ('photos', 'photos');
`;

const password = "correct horse battery";

/** Runs \`selvedge console user …\`; the password of a new account is its first line of input. */
async function account(server: Selvedge, ...command: string[]): Promise<void> {
  await new Promise<void>((done, failed) => {
    const child = execFile(
      binary(),
      ["console", "user", ...command],
      { env: { ...process.env, DATABASE_URL: server.databaseUrl } },
      (error, _, output) => (error === null ? done() : failed(new Error(output))),
    );
    child.stdin?.end(`${password}\n`);
  });
}

const test = consoleTest.extend({
  consoleServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const project = await makeProject("pair", migration);
      await writeFile(join(project.path, "config.toml"), config);
      const server = await startSelvedge(project.path);
      for (const name of ["ana", "ben"]) await account(server, "add", name, "--level", "admin");
      await use(server);
      await server.stop();
      await project.remove();
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

async function signIn(page: Page, name: string): Promise<void> {
  await page.getByLabel("Account").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

async function openSignedIn(page: Page, name: string, path: string): Promise<void> {
  await page.goto(path);
  await signIn(page, name);
  await expect(page.getByRole("button", { name: "Sign in" })).toHaveCount(0);
}

const staged = (page: Page) => page.getByRole("region", { name: "Staged changes" });

/** Types a name into the row of the open table, and waits until it is staged. */
async function rename(page: Page, row: number, name: string): Promise<void> {
  await cell(page, row, 1).dblclick();
  await page.keyboard.press("Control+a");
  await page.keyboard.type(name);
  await page.keyboard.press("Enter");
  await expect(cell(page, row, 1)).toHaveText(name);
}

const namesOf = async (server: Selvedge) =>
  (await rest<{ name: string }[]>(server, "coats?order=id")).map(({ name }) => name);

test("console_054 console_056 two tabs stage, undo and apply together, and another person's change is a conflict of its batch alone @once", async ({
  page,
  context,
  browser,
  consoleServer: server,
  pageErrors,
}) => {
  pageErrors.expectStatusOfAny(409, "/api/rows/apply");
  await openSignedIn(page, "ana", "/tables/public/coats");
  await expect(grid(page)).toBeVisible();
  const second = await context.newPage();
  await openTable(second, "coats");

  await rename(page, 0, "Of the first tab");
  await expect(cell(second, 0, 1)).toHaveText("Of the first tab");
  await rename(second, 1, "Of the second tab");
  await expect(staged(page)).toContainText("2 staged changes");
  // Each tab undoes its own step.
  await grid(page).focus();
  await page.keyboard.press("Control+z");
  await expect(staged(second)).toContainText("1 staged change");
  await expect(cell(second, 1, 1)).toHaveText("Of the second tab");

  await rename(page, 0, "Again");
  await staged(second).getByRole("button", { name: "Apply" }).click();
  await expect(second.getByText("2 changes applied", { exact: true })).toBeVisible();
  await expect(staged(page)).toHaveCount(0);
  expect((await namesOf(server)).slice(0, 2)).toEqual(["Again", "Of the second tab"]);
  // What another tab has applied does not come back.
  await grid(page).focus();
  await page.keyboard.press("Control+z");
  await expect(page.getByText("There is nothing to undo", { exact: true })).toBeVisible();
  await expect(staged(page)).toHaveCount(0);

  // Ben has his own staged changes, and changes a row that Ana has read.
  const other = await browser.newContext({ baseURL: server.consoleUrl });
  const ben = await other.newPage();
  await openSignedIn(ben, "ben", "/tables/public/coats");
  await rename(page, 2, "Of Ana");
  await rename(page, 3, "Waits");
  await expect(staged(ben)).toHaveCount(0);
  await rename(ben, 2, "Of Ben");
  await staged(ben).getByRole("button", { name: "Apply" }).click();
  await expect(ben.getByText("1 change applied", { exact: true })).toBeVisible();

  await staged(page).getByRole("button", { name: "Review" }).click();
  const review = page.getByRole("dialog", { name: "2 staged changes" });
  await review.getByRole("button", { name: "Apply this" }).first().click();
  const conflict = page.getByRole("dialog", { name: "Somebody else has changed these rows" });
  await expect(conflict).toContainText("Of Ben");
  await conflict.getByRole("button", { name: "Apply with these choices" }).click();
  await expect(page.getByText("1 change applied", { exact: true })).toBeVisible();
  expect((await namesOf(server)).slice(2, 4)).toEqual(["Of Ana", "Coat 4"]);
  await page.reload();
  await expect(staged(page)).toContainText("1 staged change");
  await staged(page).getByRole("button", { name: "Discard all" }).click();
  await other.close();
});

test("console_031 console_120 SQL and uploads of two tabs are neither lost nor doubled, and an ended session keeps what is typed @once", async ({
  page,
  context,
  consoleServer: server,
  pageErrors,
}) => {
  pageErrors.expectStatusOfAny(401, "/api/");
  await openSignedIn(page, "ben", "/sql");
  const text = (one: Page) => one.getByRole("textbox", { name: /^SQL of/ });
  await text(page).click();
  await page.keyboard.type("select 'typed in the first'");
  const second = await context.newPage();
  await second.goto("/sql");
  await expect(text(second)).toContainText("select 'typed in the first'");
  await text(second).click();
  await second.keyboard.press("Control+End");
  await second.keyboard.type(" as both");
  await expect(text(page)).toContainText("select 'typed in the first' as both");
  await page.getByRole("button", { name: "New query" }).click();
  await second.getByRole("button", { name: "New query" }).click();
  await page.reload();
  await expect(page.getByRole("tablist", { name: "Queries" }).getByRole("tab")).toHaveCount(3);

  const uploads: string[] = [];
  context.on("request", (request) => {
    if (request.method() === "POST" && request.url().endsWith("/upload/resumable")) {
      uploads.push(request.url());
    }
  });
  await page.goto("/storage?bucket=photos");
  await second.goto("/storage?bucket=photos");
  const files = ["a.txt", "b.txt"].map((name) => ({
    name,
    mimeType: "text/plain",
    buffer: Buffer.from(name),
  }));
  await page.getByLabel("Files to upload").setInputFiles(files);
  await expect(page.getByRole("region", { name: "Uploads" })).toContainText("2 uploads");
  await second.reload();
  await expect(second.getByRole("grid", { name: "Files" })).toContainText("b.txt");
  await expect(second.getByRole("region", { name: "Uploads" })).toHaveCount(0);
  expect(uploads).toHaveLength(2);
  await second.close();

  await page.getByRole("button", { name: "New bucket" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New bucket" });
  await dialog.getByLabel("Name").fill("half-typed");
  await page.keyboard.press("Escape");
  const question = page.getByRole("alertdialog", { name: "Discard what you typed?" });
  expect(await findViolations(page)).toEqual([]);
  await question.getByRole("button", { name: "Cancel" }).click();
  // A new level ends the account's sessions.
  await account(server, "set-level", "ben", "admin");
  const again = page.getByRole("dialog", { name: "Your session has ended" });
  await expect(again).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await again.getByLabel("Password").fill(password);
  await again.getByRole("button", { name: "Sign in" }).click();
  await expect(again).toHaveCount(0);
  await expect(dialog.getByLabel("Name")).toHaveValue("half-typed");
  await dialog.getByRole("button", { name: "Create bucket" }).click();
  await expect(page.getByText("Bucket created", { exact: true })).toBeVisible();
});
