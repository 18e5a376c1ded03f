// "Show as": the texts that the console offers for an action do what the action does.

import { execFile } from "node:child_process";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Locator } from "@playwright/test";
import { serviceKey } from "../support/clients.ts";
import { expect, openTable, test } from "./console-test.ts";

const run = promisify(execFile);

/** The text of the code block that a tab of the dialog shows. */
async function readCode(dialog: Locator, tab: string): Promise<string> {
  const block = dialog.getByRole("region", { name: tab }).locator("pre");
  return (await block.textContent()) ?? "";
}

test("console_004 curl, supabase-js and SQL read the rows of the grid, and none shows a key @once", async ({
  page,
}, testInfo) => {
  const environment = { ...process.env, SUPABASE_KEY: serviceKey };
  await openTable(page, "measurements", "?f=reading.ilike.%25117_&s=id.desc");
  await page.getByRole("button", { name: "Show as" }).click();
  const dialog = page.getByRole("dialog", { name: "Read public.measurements" });
  const expected = Array.from({ length: 10 }, (_, n) => ({
    id: 1179 - n,
    reading: `reading ${1179 - n}`,
  }));

  await dialog.getByRole("tab", { name: "curl" }).click();
  const curl = await readCode(dialog, "curl");
  expect(curl).not.toContain("eyJ");
  const answer = await run("sh", ["-c", curl], { env: environment });
  expect(JSON.parse(answer.stdout)).toEqual(expected);

  await dialog.getByRole("tab", { name: "supabase-js" }).click();
  const code = await readCode(dialog, "supabase-js");
  expect(code).not.toContain("eyJ");
  // Beside this file, so that Node finds the client library.
  const script = join(import.meta.dirname, `.show-as-${testInfo.workerIndex}.mjs`);
  await writeFile(script, `${code}\nconsole.log(JSON.stringify(data));\nprocess.exit();\n`);
  try {
    // Node 20, unlike later ones, has the WebSocket that the client asks for behind a flag.
    const flags = process.version.startsWith("v20.") ? ["--experimental-websocket"] : [];
    const printed = await run("node", [...flags, script], { env: environment });
    expect(JSON.parse(printed.stdout)).toEqual(expected);
  } finally {
    await rm(script);
  }

  await dialog.getByRole("tab", { name: "SQL" }).click();
  const sql = await readCode(dialog, "SQL");
  await page.keyboard.press("Escape");
  await page.goto("/sql");
  await page.getByRole("textbox", { name: /^SQL of/ }).fill(sql);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  const rows = page.getByRole("grid", { name: "Rows of the result" });
  await expect(rows.getByText("reading 1179")).toBeVisible();
  await expect(rows.getByText("reading 1170")).toBeVisible();
  await expect(rows).toHaveAttribute("aria-rowcount", "11");
});
