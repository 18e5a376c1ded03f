// Every screen is whole and accessible, and those for running a project: overview, users, storage, mail, logs and audit.

import { Buffer } from "node:buffer";
import { findViolations } from "../site/measure.ts";
import { anonKey, serviceKey } from "../support/clients.ts";
import { expect, test } from "./console-test.ts";

/** Names that no other test of the run uses, because all share one server. */
const unique = (name: string) => `${name}-${crypto.randomUUID().slice(0, 8)}`;

const paths = [
  ...[
    "overview",
    "sql",
    "sql?list=history",
    "schema",
    "schema/roles",
    "policies",
    "api",
    "api?list",
  ],
  ...["users", "storage", "mail", "logs", "settings", "audit"],
];
for (const path of paths) {
  test(`console_181 the screen ${path} fits and has no violations in both lights`, {
    tag: "@phone",
  }, async ({ page }) => {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`/${path}`);
      await expect(page.getByRole("main")).toBeVisible();
      await expect(page.getByRole("status", { name: /^Loading/ })).toHaveCount(0);
      expect(await findViolations(page), colorScheme).toEqual([]);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBe(0);
    }
  });
}

test("console_110 console_111 console_140 a user is made, found, banned and sent a mail whose link is opened here", {
  tag: "@phone",
}, async ({ page }) => {
  const email = `${unique("ana")}@example.org`;
  await page.goto("/users");
  await page.getByRole("button", { name: "New user" }).first().click();
  await page.getByLabel("Mail address or phone number").fill(email);
  await page.getByRole("button", { name: "Create user" }).click();
  const panel = page.getByRole("region", { name: "User", exact: true });
  await expect(panel.getByText(email).first()).toBeVisible();

  await panel.getByRole("button", { name: "Ban", exact: true }).click();
  await expect(panel.getByText("banned", { exact: true })).toBeVisible();
  await panel.getByRole("button", { name: "Lift the ban" }).click();
  await expect(panel.getByText("confirmed", { exact: true })).toBeVisible();

  await panel.getByRole("button", { name: "Send" }).first().click();
  await panel.getByRole("link", { name: "Open the mail" }).click();
  await page.getByRole("link", { name: new RegExp(email) }).click();
  await expect(page.getByRole("list", { name: "Links and codes" })).toBeVisible();
  const frame = page.frameLocator("iframe");
  await expect(frame.getByRole("link").first()).toBeVisible();
  await expect(frame.locator("script")).toHaveCount(0);

  await page.goto(`/users?find=${encodeURIComponent(email.slice(0, 8))}`);
  await expect(page.getByRole("row").filter({ hasText: email })).toBeVisible();
});

test("console_003 a user is deleted only after the address was typed", { tag: "@phone" }, async ({
  page,
}) => {
  const email = `${unique("leaving")}@example.org`;
  await page.goto("/users");
  await page.getByRole("button", { name: "New user" }).first().click();
  await page.getByLabel("Mail address or phone number").fill(email);
  await page.getByRole("button", { name: "Create user" }).click();
  const panel = page.getByRole("region", { name: "User", exact: true });

  await panel.getByRole("button", { name: "Delete for good" }).click();
  const dialog = page.getByRole("alertdialog");
  await expect(dialog.getByRole("button", { name: "Delete user" })).toBeDisabled();
  await dialog.getByRole("textbox").fill(email);
  await dialog.getByRole("button", { name: "Delete user" }).click();

  // The panel is also hidden from assistive technology, and so from this test, while the window asks.
  await expect(page.getByText("The user was deleted", { exact: true })).toBeVisible();
  await expect(panel).toBeHidden();
  await page.goto(`/users?find=${encodeURIComponent(email)}`);
  await expect(page.getByText("Nobody was found.")).toBeVisible();
});

test("console_120 console_122 files are uploaded, a taken name asks, and a file is shown and deleted", async ({
  page,
  pageErrors,
}) => {
  const bucket = unique("photos");
  const text = {
    name: "note.txt",
    mimeType: "text/plain",
    buffer: Buffer.from("<script>alert(1)</script>"),
  };
  // The service answers a taken name with 409, which is what the question follows from.
  pageErrors.expectStatus(409, "/api/proxy/storage/upload/resumable");
  await page.goto("/storage");
  await page.getByRole("button", { name: "New bucket" }).first().click();
  await page.getByLabel("Name").fill(bucket);
  await page.getByRole("button", { name: "Create bucket" }).click();
  await expect(page.getByText("There are no files here.")).toBeVisible();

  await page.getByLabel("Files to upload").setInputFiles(text);
  await expect(page.getByRole("row").filter({ hasText: "note.txt" })).toHaveCount(1);
  await page.getByLabel("Files to upload").setInputFiles(text);
  await page.getByRole("button", { name: "Keep both" }).click();
  await expect(page.getByRole("row").filter({ hasText: "note (1).txt" })).toBeVisible();

  await page.getByText("note (1).txt").first().click();
  const panel = page.getByRole("region", { name: "note (1).txt", exact: true });
  await expect(panel.getByText("<script>alert(1)</script>")).toBeVisible();
  await panel.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("textbox").fill("note (1).txt");
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(panel).toBeHidden();
  await expect(page.getByRole("row").filter({ hasText: "note (1).txt" })).toHaveCount(0);
});

test("console_120 an upload that was cut off goes on where it was after a reload @once", async ({
  page,
  pageErrors,
}) => {
  const bucket = unique("films");
  const file = {
    name: "film.bin",
    mimeType: "application/octet-stream",
    buffer: Buffer.alloc(8_000_000, 7),
  };
  pageErrors.expectNetworkFailures();
  await page.goto("/storage");
  await page.getByRole("button", { name: "New bucket" }).first().click();
  await page.getByLabel("Name").fill(bucket);
  await page.getByRole("button", { name: "Create bucket" }).click();
  const offsets: number[] = [];
  let isCut = false;
  await page.route("**/upload/resumable/*", async (route) => {
    const request = route.request();
    if (request.method() !== "PATCH") return route.continue();
    const offset = Number(request.headers()["upload-offset"]);
    offsets.push(offset);
    // The first piece arrives; then the line is cut.
    if (offset > 0 && !isCut) return route.abort();
    return route.continue();
  });

  await page.getByLabel("Files to upload").setInputFiles(file);
  await expect.poll(() => offsets.some((offset) => offset > 0)).toBe(true);
  const reached = Math.max(...offsets);
  isCut = true;
  offsets.length = 0;
  await page.reload();

  await expect(page.getByRole("row").filter({ hasText: "film.bin" })).toBeVisible();
  expect(offsets[0]).toBe(reached);
});

test("console_130 console_001 a failed request is found in the log and leads to the simulator", async ({
  page,
  consoleServer,
}) => {
  const table = unique("missing").replaceAll("-", "_");
  await fetch(`${consoleServer.apiUrl}/rest/v1/${table}`);

  await page.goto("/logs");
  await page.getByRole("searchbox").fill(table);
  const row = page.getByRole("row").filter({ hasText: table });
  await expect(row).toHaveCount(1);
  await expect(page).toHaveURL(new RegExp(table));
  const list = page.getByRole("grid", { name: "Requests" });
  // The heading and the request that was searched for: the list shows the search and no longer all requests.
  await expect(list).toHaveAttribute("aria-rowcount", "2");
  await list.focus();
  await page.keyboard.press("Enter");

  const panel = page.getByRole("region", { name: "Request" });
  await expect(panel.getByText(`GET /rest/v1/${table}`)).toBeVisible();
  await expect(panel.getByRole("link", { name: "Simulate" })).toHaveAttribute(
    "href",
    /^\/policies\/simulator\?request=/,
  );
  await page.keyboard.press("Escape");
  await expect(panel).toBeHidden();
});

test("console_130 the live tail shows a request that is sent now", async ({
  page,
  consoleServer,
}) => {
  const table = unique("live").replaceAll("-", "_");
  await page.goto(`/logs?live=1&path=${table}`);
  await expect(page.getByText("Following new requests")).toBeVisible();

  await expect(async () => {
    await fetch(`${consoleServer.apiUrl}/rest/v1/${table}`);
    await expect(page.getByRole("row").filter({ hasText: table }).first()).toBeVisible({
      timeout: 1000,
    });
  }).toPass();
});

test("console_040 the plots follow requests, and a dragged span opens its log @once", async ({
  page,
  consoleServer,
}) => {
  await page.goto("/overview");
  const plot = page.getByRole("figure").filter({ hasText: "Requests" });
  await expect(plot).toBeVisible();
  await expect(async () => {
    await Promise.all(
      Array.from({ length: 20 }, () => fetch(`${consoleServer.apiUrl}/rest/v1/garments`)),
    );
    await expect(plot.getByText(/REST\s*[1-9]/)).toBeVisible({ timeout: 2000 });
  }).toPass();

  const box = await plot.locator(".u-over").boundingBox();
  if (box === null) throw new Error("The plot has no size.");
  await page.mouse.move(box.x + box.width * 0.6, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 30, { steps: 5 });
  await page.mouse.up();

  await expect(page).toHaveURL(/\/logs\?from=.+&to=.+/);
  await expect(page.getByRole("button", { name: /^Remove the filter Time/ })).toBeVisible();
});

test("console_112 console_110 a token acts as a user without a session, and a session is ended @once", async ({
  page,
  consoleServer,
}) => {
  const email = `${unique("mia")}@example.org`;
  const auth = (path: string, init: RequestInit & { token?: string } = {}) =>
    fetch(`${consoleServer.apiUrl}/auth/v1/${path}`, {
      ...init,
      headers: { apikey: anonKey, authorization: `Bearer ${init.token ?? anonKey}` },
    });
  const created = await auth("admin/users", {
    method: "POST",
    token: serviceKey,
    body: JSON.stringify({ email, password: "correct horse", email_confirm: true }),
  });
  const { id } = (await created.json()) as { id: string };
  await page.goto(`/users?open=${id}`);
  const panel = page.getByRole("region", { name: "User", exact: true });

  await panel.getByRole("button", { name: "Make a token" }).click();
  const token = (await panel.getByText(/^ey[\w-]+\./).textContent()) ?? "";
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  expect(claims).toMatchObject({ sub: id, role: "authenticated", act: { sub: "local" } });
  expect(claims.exp - Date.now() / 1000).toBeLessThanOrEqual(600);
  const rows = await fetch(`${consoleServer.apiUrl}/rest/v1/makers?limit=1`, {
    headers: { apikey: anonKey, authorization: `Bearer ${token}` },
  });
  expect(rows.status).toBe(200);
  // It stands for the user's rights on data. The account itself wants a session, which the token has not.
  expect((await auth("user", { token })).status).toBe(403);
  await panel.getByRole("button", { name: "Forget it" }).click();
  await expect(panel.getByText(token)).toHaveCount(0);

  await panel.getByRole("tab", { name: "Sign-in" }).click();
  const sessions = panel.getByRole("region", { name: "Sessions" });
  await expect(sessions.getByText("The user is signed in nowhere.")).toBeVisible();
  const signedIn = await auth("token?grant_type=password", {
    method: "POST",
    body: JSON.stringify({ email, password: "correct horse" }),
  });
  const session = (await signedIn.json()) as { access_token: string };
  await page.reload();
  await sessions.getByRole("button", { name: "End", exact: true }).click();
  await expect(sessions.getByText("The user is signed in nowhere.")).toBeVisible();
  expect((await auth("user", { token: session.access_token })).status).toBe(403);

  await page.goto("/audit?action=auth.impersonate");
  await expect(page.getByText(id).first()).toBeVisible();
});

test("console_141 settings are shown with their origin, and the doctor's checks beside them @once", async ({
  page,
  consoleServer,
}) => {
  await page.goto("/settings?find=wardrobe");
  const setting = page.getByRole("listitem").filter({ hasText: "project_id" });
  await expect(setting).toContainText("wardrobe");
  await expect(setting).toContainText(/config\.toml:\d+/);
  await page.getByRole("searchbox").fill("api.port");
  await expect(page.getByRole("listitem").filter({ hasText: "api.port" })).toContainText("--port");

  await page.getByRole("tab", { name: "Doctor" }).click();
  const check = page.getByRole("listitem").filter({ hasText: "a server of this project responds" });
  await expect(check).toContainText(new URL(consoleServer.apiUrl).port);
  await page.getByRole("tab", { name: "Accounts" }).click();
  await expect(page.getByText("There are no accounts.")).toBeVisible();
});
