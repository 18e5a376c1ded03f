// The screen about Auth's configuration: values with their origin, faults, and test calls of providers, hooks and mails.

import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { findViolations } from "../site/measure.ts";
import { makeProject } from "../support/project.ts";
import { startSelvedge } from "../support/selvedge.ts";
import { test as consoleTest, expect } from "./console-test.ts";

const secret = Buffer.from("a secret of the hook").toString("base64");

const config = (port: number) => `project_id = "configured"
[auth]
site_url = "http://127.0.0.1:3000"
additional_redirect_urls = ["https://*.example.com/**"]
[auth.external.github]
enabled = true
client_id = "id-of-github"
secret = "env(GITHUB_SECRET)"
redirect_uri = "https://elsewhere.example/callback"
[auth.external.gitlab]
enabled = true
client_id = "id-of-gitlab"
secret = "secret-of-gitlab"
url = "http://127.0.0.1:${port}"
[auth.email.template.confirmation]
subject = "Welcome, {{ .Email }}"
content_path = "./supabase/confirm.html"
[auth.email.template.invite]
content_path = "./supabase/invite.html"
[auth.hook.custom_access_token]
enabled = true
uri = "pg-functions://postgres/public/missing_hook"
[auth.hook.send_sms]
enabled = true
uri = "http://127.0.0.1:${port}/hook"
secrets = "v1,whsec_${secret}"
`;

const test = consoleTest.extend({
  consoleServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const peer = createServer((request, response) => {
        if (request.url === "/hook") {
          const isSigned = request.headers["webhook-signature"] !== undefined;
          response.setHeader("content-type", "application/json");
          response.end(JSON.stringify({ signed: isSigned }));
        } else {
          response.statusCode = request.url?.startsWith("/oauth/authorize") ? 302 : 404;
          response.end();
        }
      });
      await new Promise<void>((resolve) => peer.listen(0, "127.0.0.1", resolve));
      const { port } = peer.address() as AddressInfo;
      const project = await makeProject("configured");
      const supabase = join(project.path, "supabase");
      await mkdir(supabase);
      await writeFile(join(supabase, "config.toml"), config(port));
      await writeFile(
        join(supabase, "confirm.html"),
        '<h1>Hello</h1><script>alert(1)</script><a href="{{ .ConfirmationURL }}">Confirm</a>',
      );
      await writeFile(join(supabase, "invite.html"), "<p>Welcome</p>");
      const server = await startSelvedge(project.path, [], {
        GITHUB_SECRET: "secret-of-github",
      });
      await use(server);
      await server.stop();
      peer.close();
      await project.remove();
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

test("console_113 what is configured is shown with its origin and faults, and secrets are not", async ({
  page,
}) => {
  const bodies: string[] = [];
  page.on("response", async (response) => {
    if (!response.url().includes("/api/")) return;
    bodies.push(await response.text().catch(() => ""));
  });
  await page.goto("/users?tab=configuration");
  const github = page.getByRole("region", { name: "github", exact: true });
  await expect(github.getByText("id-of-github")).toBeVisible();
  await expect(github.getByText(/config\.toml:8, \$GITHUB_SECRET$/)).toBeVisible();
  await expect(github.getByText("••••••••")).toBeVisible();
  const faults = page.getByRole("list", { name: "Faults" });
  for (const text of [
    "auth.external.github.redirect_uri",
    "There is no function public.missing_hook",
    "neither a link nor a code",
  ]) {
    await expect(faults.getByText(text)).toBeVisible();
  }
  await expect(faults.getByText("gitlab")).toHaveCount(0);
  expect(await findViolations(page)).toEqual([]);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBe(0);
  expect(bodies.length).toBeGreaterThan(1);
  for (const value of ["secret-of-github", "secret-of-gitlab", secret]) {
    expect(bodies.join()).not.toContain(value);
  }
});

test("console_113 a provider answers, a hook is called, a mail is rendered without scripts, and a redirect is looked up", async ({
  page,
}) => {
  await page.goto("/users?tab=configuration");
  const gitlab = page.getByRole("region", { name: "gitlab", exact: true });
  await gitlab.getByRole("button", { name: "Request its sign-in page" }).click();
  await expect(gitlab.getByText("It answers with 302.")).toBeVisible();

  const hook = page.getByRole("region", { name: "send_sms", exact: true });
  await hook.getByRole("button", { name: "Call with a sample" }).click();
  const dialog = page.getByRole("dialog", { name: "Call send_sms" });
  await dialog.getByRole("button", { name: "Call it" }).click();
  await expect(dialog.getByText('"signed": true')).toBeVisible();
  await expect(dialog.getByText('"sms"')).toBeVisible();
  expect(await findViolations(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Close" }).last().click();

  const missing = page.getByRole("region", { name: "custom_access_token", exact: true });
  await missing.getByRole("button", { name: "Call with a sample" }).click();
  await page.getByRole("button", { name: "Call it" }).click();
  await expect(page.getByText(/It refused, or could not be called/)).toBeVisible();
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();

  const preview = page.getByRole("button", { name: "Preview" });
  const mail = page.getByRole("listitem").filter({ has: preview, hasText: "confirmation" });
  await mail.getByRole("button", { name: "Preview" }).click();
  await expect(page.getByText("Welcome, sample@example.com")).toBeVisible();
  const frame = page.frameLocator("iframe");
  await expect(frame.getByRole("heading", { name: "Hello" })).toBeVisible();
  await expect(frame.locator("script")).toHaveCount(0);
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();

  const address = page.getByLabel("Would a sign-in be sent to this address?");
  await address.fill("https://app.example.com/welcome");
  await page.getByRole("button", { name: "Look" }).click();
  await expect(page.getByText("Yes, the settings allow it.")).toBeVisible();
  await address.fill("https://app.example.org/");
  await page.getByRole("button", { name: "Look" }).click();
  await expect(page.getByText(/No: the browser would be sent to site_url/)).toBeVisible();
});
