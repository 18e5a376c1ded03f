// Rows as files: export of what the grid shows.

import { Buffer } from "node:buffer";
import { readFile } from "node:fs/promises";
import { findViolations } from "../site/measure.ts";
import { serviceKey } from "../support/clients.ts";
import type { Selvedge } from "../support/selvedge.ts";
import { expect, openTable, rest, test } from "./console-test.ts";

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

test("console_058 what cannot be exported is said in the dialog", { tag: "@phone" }, async ({
  page,
  pageErrors,
}) => {
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

const csv = (text: string, name = "garments.csv") => ({
  name,
  mimeType: "text/csv",
  buffer: Buffer.from(text),
});

test("console_059 a broken file names line and column, and its good rows can be imported alone", async ({
  page,
  consoleServer,
  pageErrors,
}) => {
  pageErrors.expectStatus(422, "/api/rows/import");
  await page.goto("/tables/public/imported");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import into imported" });
  const start = 1_000_000 + Math.floor(Math.random() * 1_000_000_000);
  const file = `id;body;other\n${start};"a;b";x\nsome;words;y\n${start + 1};é;z\n`;
  await dialog.getByLabel("CSV file").setInputFiles(csv(file));
  await expect(dialog.getByLabel("Delimiter")).toHaveValue(";");
  await expect(dialog.getByLabel("Column for id")).toHaveValue("id");
  await expect(dialog.getByLabel("Column for other")).toHaveValue("");
  expect(await findViolations(page)).toEqual([]);

  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await expect(dialog.getByRole("alert")).toContainText("A fault in line 3, column id of the file");
  const rows = `imported?id=gte.${start}&id=lte.${start + 1}&order=id`;
  expect(await rest(consoleServer, rows)).toEqual([]);

  await dialog.getByLabel("Leave faulty rows out, and list them").check();
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await expect(
    dialog.getByText(/^2 rows imported into public\.imported; 1 row left out/),
  ).toBeVisible();
  const begun = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Download the rows that were left out" }).click();
  const rejects = await readFile(await (await begun).path(), "utf8");
  expect(rejects).toMatch(/^line,error,id,body\r\n3,.*invalid input syntax.*,some,words$/);
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).last().click();
  expect(await rest(consoleServer, rows)).toEqual([
    { id: start, body: "a;b" },
    { id: start + 1, body: "é" },
  ]);
});

test("console_059 an import that is cancelled leaves nothing behind @once", async ({
  page,
  consoleServer,
  pageErrors,
}) => {
  pageErrors.expectNetworkFailures();
  await page.goto("/tables/public/imported");
  await page.getByRole("button", { name: "Import", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Import into imported" });
  const line = `cancelled ${"x".repeat(1000)}\n`;
  await dialog.getByLabel("CSV file").setInputFiles(csv(`body\n${line.repeat(40_000)}`));
  // The upload is throttled, so that it still runs when it is cancelled.
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput: 4_000_000,
  });
  await dialog.getByRole("button", { name: "Import", exact: true }).click();
  await expect(dialog.getByText(/MB of .* sent/)).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel the import" }).click();
  await expect(dialog.getByRole("button", { name: "Import", exact: true })).toBeEnabled();
  expect(await rest(consoleServer, "imported?body=like.cancelled*&limit=1")).toEqual([]);
});

test("console_059 a file becomes a new table with types, and its rows @once", async ({
  page,
  consoleServer,
}) => {
  const name = `shops_${crypto.randomUUID().slice(0, 8)}`;
  await page.goto("/overview");
  await page.goto("/tables?import=1");
  const dialog = page.getByRole("dialog", { name: "Import a file as a new table" });
  const text = "Shop name,Opened,Zip,Rating\nOne,2020-01-31,01234,4.5\nTwo,2021-02-28,99999,\n";
  await dialog.getByLabel("CSV file").setInputFiles(csv(text, `${name}.csv`));
  await expect(dialog.getByLabel("Name of the table")).toHaveValue(name);
  await expect(dialog.getByLabel("Type for Opened")).toHaveValue("date");
  await expect(dialog.getByLabel("Type for Zip")).toHaveValue("text");
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Show the table" }).click();
  await page.getByRole("button", { name: "Save as migration" }).click();
  await expect(dialog.getByText(`2 rows imported into public.${name}.`)).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await expect(page).toHaveURL(new RegExp(`/tables/public/${name}$`));
  await expect(page.getByRole("grid").getByText("01234")).toBeVisible();
  expect(await rest(consoleServer, `${name}?select=shop_name,opened,zip,rating&order=id`)).toEqual([
    { shop_name: "One", opened: "2020-01-31", zip: "01234", rating: 4.5 },
    { shop_name: "Two", opened: "2021-02-28", zip: "99999", rating: null },
  ]);
});

test("console_005 what PostgreSQL refuses this login is disabled with the reason", async ({
  page,
}) => {
  await page.goto("/tables/selvedge_console/selvedge_audit");
  const insert = page.getByRole("button", { name: "Insert", exact: true });
  await expect(insert).toBeDisabled();
  await expect(insert).toHaveAttribute(
    "title",
    "PostgreSQL does not let this login insert into selvedge_console.selvedge_audit.",
  );
  await expect(page.getByRole("button", { name: "Import", exact: true })).toBeDisabled();
  await page.goto("/schema/tables?schema=selvedge_console&q=audit");
  await page.getByRole("row").filter({ hasText: "audit" }).first().click();
  const drop = page.getByRole("button", { name: "Drop", exact: true });
  await expect(drop).toBeDisabled();
  await expect(drop).toHaveAttribute("title", /lets only the owner/);
});

/** Runs a statement as the role postgres, and returns its rows. */
async function query(server: Selvedge, text: string): Promise<Record<string, unknown>[]> {
  const response = await fetch(`${server.apiUrl}/pg/query`, {
    method: "POST",
    headers: {
      apikey: serviceKey,
      authorization: `Bearer ${serviceKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ query: text }),
  });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Record<string, unknown>[];
}

/** The policy of Linux's scheduler for programs that run only while no other needs the processor. */
const schedIdle = "5";

/** The scheduling policy of a process: the 41st field of its status. The second is a name, which may contain spaces. */
async function policyOf(pid: number): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/stat`, "utf8");
  return status.slice(status.lastIndexOf(") ") + 2).split(" ")[38];
}

/** Whether this user may change the priority of PostgreSQL's processes. They are another user's where the tests run as root. */
async function mayChangePriorities(): Promise<boolean> {
  const status = await readFile("/proc/self/status", "utf8");
  const capabilities = BigInt(`0x${/^CapEff:\s+(\w+)/m.exec(status)?.[1] ?? "0"}`);
  const sysNice = 1n << 23n;
  return process.getuid?.() !== 0 || (capabilities & sysNice) !== 0n;
}

test("console_155 an export gets a low priority once the API is busy @once", async ({
  consoleServer,
}) => {
  const own = {
    "x-selvedge-console": "1",
    "sec-fetch-site": "same-origin",
    origin: consoleServer.consoleUrl,
    "content-type": "application/json",
  };
  await query(
    consoleServer,
    "create view long_texts as select i as id, repeat('x', 1000) as body from generate_series(1, 300000) i",
  );
  const [view] = await query(consoleServer, "select 'long_texts'::regclass::oid::text as oid");
  const answer = await fetch(`${consoleServer.consoleUrl}/api/rows/export`, {
    method: "POST",
    headers: own,
    body: JSON.stringify({ table: view?.oid, format: "csv" }),
  });
  const { ticket } = (await answer.json()) as { ticket: string };
  // The file is not read to its end, so the export goes on until its client leaves.
  const leave = new AbortController();
  const download = await fetch(`${consoleServer.consoleUrl}/api/rows/export/${ticket}`, {
    headers: own,
    signal: leave.signal,
  });
  expect(download.status).toBe(200);
  const running =
    "select pid from pg_stat_activity where datname = current_database() and query like 'copy (%'";
  const [backend] = await query(consoleServer, running);
  const pid = Number(backend?.pid);
  expect(await policyOf(pid), "while the API has nothing to do").not.toBe(schedIdle);

  const makeBusy = async () => {
    await Promise.all(Array.from({ length: 40 }, () => rest(consoleServer, "makers?limit=1")));
    return (await policyOf(pid)) === schedIdle;
  };
  if (await mayChangePriorities()) await expect.poll(makeBusy, { timeout: 20_000 }).toBe(true);
  else expect(await makeBusy()).toBe(false);
  leave.abort();
  await expect.poll(() => query(consoleServer, running), { timeout: 20_000 }).toEqual([]);
  await query(consoleServer, "drop view long_texts");
});
