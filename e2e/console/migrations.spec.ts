// Changes of the schema in an empty project: forms that end in migration files, and the same schema made again from them.

import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { findViolations } from "../site/measure.ts";
import { anonKey, client } from "../support/clients.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { binary, startSelvedge } from "../support/selvedge.ts";
import { test as consoleTest, expect } from "./console-test.ts";

interface WorkerFixtures {
  emptyProject: ProjectFolder;
}

const test = consoleTest.extend<object, WorkerFixtures>({
  emptyProject: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const project = await makeProject("empty");
      await use(project);
      await project.remove();
    },
    { scope: "worker" },
  ],
  consoleServer: [
    async ({ emptyProject }, use) => {
      const server = await startSelvedge(emptyProject.path);
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

/** Confirms the open question about a change, and expects its file's name in the answer. */
async function saveAsMigration(page: Page, name: string): Promise<void> {
  // The form that led here stays beneath.
  const save = page.getByRole("button", { name: "Save as migration" });
  const dialog = page.getByRole("dialog").filter({ has: save });
  await expect(dialog.getByText(/No table is written anew/)).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save as migration" }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText(new RegExp(`^migrations/\\d{14}_${name}\\.sql$`))).toBeVisible();
}

test("console_180 console_071 from an empty project to a table, a row, a policy, and the same schema from the files", async ({
  page,
  consoleServer,
  emptyProject,
  pageErrors,
}) => {
  test.slow();
  // The refused change further down is meant to fail.
  pageErrors.expectStatus(422, "/api/migrations");

  await page.goto("/overview");
  await page.getByRole("link", { name: "New table" }).click();
  const form = page.getByRole("dialog", { name: "New table" });
  await form.getByRole("textbox", { name: "Name", exact: true }).fill("notes");
  await form.getByRole("button", { name: "Add a column" }).click();
  await form.getByRole("textbox", { name: "Name of the column" }).last().fill("body");
  await form.getByRole("combobox", { name: "Type of body" }).fill("text");
  await expect(form.getByText("enable row level security")).toBeVisible();
  await form.getByRole("button", { name: "Show the change" }).click();
  const preview = page.getByRole("dialog", { name: "Create table notes" });
  await preview.getByRole("button", { name: "Cancel" }).click();
  await expect(form.getByRole("textbox", { name: "Name", exact: true })).toHaveValue("notes");
  await form.getByRole("button", { name: "Show the change" }).click();
  await saveAsMigration(page, "create_table_notes");

  await page.goto("/tables/public/notes");
  await page.getByRole("button", { name: "Insert the first row" }).click();
  await page.getByRole("region", { name: "New row" }).getByLabel("body").fill("hello");
  await page.getByRole("button", { name: "Apply" }).click();
  await expect(page.getByRole("gridcell", { name: "hello" })).toBeVisible();
  const api = client(anonKey, consoleServer.apiUrl);
  expect((await api.from("notes").select("body")).data).toEqual([]);

  await page.goto("/policies");
  await page
    .getByRole("row")
    .filter({ hasText: /^notes/ })
    .getByRole("button")
    .first()
    .click();
  await page.getByRole("button", { name: "New policy" }).click();
  await page.getByRole("menuitem", { name: /Everyone can read/ }).click();
  await page.getByRole("button", { name: "Save as migration" }).click();
  await saveAsMigration(page, "create_policy_everyone_can_read_on_notes");
  expect((await api.from("notes").select("body")).data).toEqual([{ body: "hello" }]);
  const simulatorTab = page.getByRole("button", { name: "Simulator", exact: true });
  if (await simulatorTab.isVisible()) await simulatorTab.click();
  await page.getByRole("button", { name: /^Simulate(?! as)/ }).click();
  await expect(page.getByText("explanation and real result agree")).toBeVisible();

  // A change that PostgreSQL refuses is not offered, and leaves no file.
  await page.goto("/schema/tables");
  await page.getByRole("row").filter({ hasText: "notes" }).click();
  await page.getByRole("button", { name: "Add a column" }).click();
  const column = page.getByRole("dialog");
  await column.getByRole("textbox", { name: "Name", exact: true }).fill("body");
  await column.getByRole("combobox", { name: "Type" }).fill("text");
  await column.getByRole("button", { name: "Show the change" }).click();
  await expect(column.getByText("Line 1 is refused")).toBeVisible();
  await expect(column.getByRole("button", { name: "Save as migration" })).toBeDisabled();
  await column.getByRole("button", { name: "Cancel" }).click();

  const files = await readdir(join(emptyProject.path, "migrations"));
  expect(files.sort().map((file) => file.replace(/^\d{14}_/, ""))).toEqual([
    "create_table_notes.sql",
    "create_policy_everyone_can_read_on_notes.sql",
  ]);
  const run = (...words: string[]) =>
    promisify(execFile)(binary(), ["--project", emptyProject.path, "db", ...words], {
      env: { ...process.env, SELVEDGE_DATA_DIR: consoleServer.dataFolder },
    });
  const schema = `
    select attname, format_type(atttypid, atttypmod), attnotnull, relrowsecurity, polname, pg_get_expr(polqual, polrelid)
    from pg_attribute join pg_class c on c.oid = attrelid left join pg_policy on polrelid = c.oid
    where attrelid = 'public.notes'::regclass and attnum > 0 order by attnum`;
  const before = await run("query", schema);
  await run("reset");
  expect((await run("query", schema)).stdout).toBe(before.stdout);
  expect(before.stdout).toContain("Everyone can read");
});
