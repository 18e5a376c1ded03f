// Text messages in the inbox of `selvedge start`, as a developer sees them. Uses a separate server, because Lookbook has no
// sign-in by phone.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anonKey, client } from "../support/clients.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { expect, saveScreenshot, test } from "./journey.ts";
import { findViolations, measureOverflow } from "./measure.ts";

let folder: string;
let server: Selvedge;

test.beforeAll(async () => {
  test.setTimeout(120_000);
  folder = await mkdtemp(join(tmpdir(), "selvedge-texts-"));
  const settings = "[auth.sms]\nenabled = true\n[auth.sms.twilio]\nenabled = true\n";
  await writeFile(join(folder, "config.toml"), `project_id = "texts"\n${settings}`);
  server = await startSelvedge(folder);
});

test.afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("the code of a text message is copied with one press", { tag: "@once" }, async ({
  page,
  context,
}) => {
  const phone = "491761234567";
  const { error } = await client(anonKey, server.apiUrl).auth.signInWithOtp({ phone });
  expect(error).toBeNull();
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);

  await page.goto(server.inboxUrl);
  const list = page.getByRole("navigation", { name: "Mails" });
  await list.getByRole("button", { name: `+${phone}` }).click();
  await expect(page.getByRole("heading", { level: 2 })).toHaveText(/^Your code is \d{6}$/);
  await expect(page.getByText(`SMS from Twilio to +${phone}`)).toBeVisible();
  const copy = page.getByRole("button", { name: /^Copy code \d{6}$/ });
  await copy.press("Enter");

  await expect(page.getByText("Copied", { exact: true })).toBeVisible();
  const code = ((await copy.textContent()) ?? "").replace(/\D/g, "");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    expect(await findViolations(page), `${width} pixels wide`).toEqual([]);
    expect(await measureOverflow(page), `${width} pixels wide`).toBeLessThanOrEqual(0);
    await saveScreenshot(page, "inbox-text-message");
  }
});
