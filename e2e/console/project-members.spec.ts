// Users of the project sign in to the console: they need a level in app_metadata and a second factor.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient, type WebSocketLikeConstructor } from "@supabase/supabase-js";
import WebSocket from "ws";
import { findViolations } from "../site/measure.ts";
import { anonKey, serviceKey } from "../support/clients.ts";
import { makeProject } from "../support/project.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { totpCode } from "../support/totp.ts";
import { test as consoleTest, expect } from "./console-test.ts";

const config = `project_id = "members"
[auth.mfa.totp]
enroll_enabled = true
verify_enabled = true
[selvedge.console]
login = true
sign_in = ["project"]
`;

const test = consoleTest.extend({
  consoleServer: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const project = await makeProject("members");
      await writeFile(join(project.path, "config.toml"), config);
      const server = await startSelvedge(project.path);
      await use(server);
      await server.stop();
      await project.remove();
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

const password = "correct horse battery";
const options = {
  auth: { persistSession: false },
  // Node 20 has no built-in WebSocket.
  realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
};

async function makeUser(server: Selvedge, app: object, user: object) {
  const email = `${crypto.randomUUID()}@example.org`;
  const admin = createClient(server.apiUrl, serviceKey, options);
  const { data, error } = await admin.auth.admin.createUser({
    email,
    password,
    email_confirm: true,
    app_metadata: app,
    user_metadata: user,
  });
  if (error !== null) throw error;
  return { email, id: data.user.id, admin };
}

/** Enrols a TOTP factor for the user, and returns its secret. */
async function enrol(server: Selvedge, email: string): Promise<string> {
  const client = createClient(server.apiUrl, anonKey, options);
  await client.auth.signInWithPassword({ email, password });
  const { data, error } = await client.auth.mfa.enroll({ factorType: "totp" });
  if (error !== null) throw error;
  const verified = await client.auth.mfa.challengeAndVerify({
    factorId: data.id,
    code: totpCode(data.totp.secret),
  });
  if (verified.error !== null) throw verified.error;
  return data.totp.secret;
}

function signIn(server: Selvedge, json: object): Promise<Response> {
  return fetch(`${server.consoleUrl}/api/session`, {
    method: "POST",
    headers: {
      "x-selvedge-console": "1",
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
    },
    body: JSON.stringify(json),
  });
}

test("console_174 a level in user_metadata, a user without a level and one without a second factor are refused @once", async ({
  consoleServer: server,
}) => {
  const codeOf = async (json: object) => {
    const response = await signIn(server, json);
    const { code } = (await response.json()) as { code?: string };
    return `${response.status} ${code}`;
  };
  const liar = await makeUser(server, {}, { console: "admin", app_metadata: { console: "admin" } });
  const secret = await enrol(server, liar.email);
  const withCode = { name: liar.email, password, code: totpCode(secret) };
  expect(await codeOf(withCode)).toBe("403 forbidden");

  const unsafe = await makeUser(server, { console: "admin" }, {});
  expect(await codeOf({ name: unsafe.email, password })).toBe("403 forbidden");
  const wrong = { name: unsafe.email, password: "a wrong password" };
  expect(await codeOf(wrong)).toBe("401 invalid_credentials");
  // An account's name is no address, and nobody signs in here with a phone number.
  for (const name of ["nobody@example.org", "ana", "+4915123456789"]) {
    expect(await codeOf({ ...wrong, name })).toBe("401 invalid_credentials");
  }

  const odd = await makeUser(server, { console: "owner" }, {});
  await enrol(server, odd.email);
  expect(await codeOf({ name: odd.email, password })).toBe("403 forbidden");

  const guessed = await makeUser(server, { console: "viewer" }, {});
  await enrol(server, guessed.email);
  expect(await codeOf({ name: guessed.email, password })).toBe("401 code_required");
  const guess = { name: guessed.email, password, code: "000000" };
  for (let tries = 0; tries < 4; tries += 1) expect(await codeOf(guess)).toBe("401 invalid_code");
  // The first wait is a second from the last guess on, in which a busy machine has not answered it; each further guess doubles it.
  await expect.poll(() => codeOf(guess)).toBe("429 too_many");
});

test("console_013 console_174 a user with a level and a second factor signs in, until the level is taken away", async ({
  page,
  consoleServer: server,
  pageErrors,
}) => {
  pageErrors.expectStatusOfAny(401, "/api/");
  const { email, id, admin } = await makeUser(server, { console: "viewer" }, {});
  const secret = await enrol(server, email);

  await page.goto("/tables");
  await page.getByLabel("Mail address").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  const code = page.getByLabel("Code of your authenticator app");
  await expect(code).toBeFocused();
  expect(await findViolations(page)).toEqual([]);
  // Each code is accepted once and the enrolment used the current one, so the code of the next 30 s is used, which Auth accepts.
  await code.fill(totpCode(secret, Date.now() / 1000 + 30));
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page.getByRole("heading", { name: "Tables" })).toBeVisible();
  await expect(page.getByRole("button", { name: "Import a file" })).toBeDisabled();

  const { error } = await admin.auth.admin.updateUserById(id, { app_metadata: { console: null } });
  expect(error).toBeNull();
  await expect(async () => {
    await page.reload();
    await expect(page.getByLabel("Mail address")).toBeVisible({ timeout: 1000 });
  }).toPass();
});

test("console_174 a session of the console ends with the user's sessions at Auth @once", async ({
  consoleServer: server,
}) => {
  const { email } = await makeUser(server, { console: "viewer" }, {});
  const secret = await enrol(server, email);
  const code = totpCode(secret, Date.now() / 1000 + 30);
  const signedIn = await signIn(server, { name: email, password, code });
  expect(signedIn.status).toBe(200);
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const { secret: header } = (await signedIn.json()) as { secret: string };
  const asks = async () => {
    const headers = { cookie, "x-selvedge-console": header, "sec-fetch-site": "same-origin" };
    return (await fetch(`${server.consoleUrl}/api/sizes`, { headers })).status;
  };
  expect(await asks()).toBe(200);

  const client = createClient(server.apiUrl, anonKey, options);
  await client.auth.signInWithPassword({ email, password });
  const { error } = await client.auth.signOut({ scope: "global" });

  expect(error).toBeNull();
  await expect.poll(asks).toBe(401);
});

test("console_174 a viewer who is refused after the password keeps no session at Auth @once", async ({
  consoleServer: server,
}) => {
  const { email, id } = await makeUser(server, { console: "viewer" }, {});
  const secret = await enrol(server, email);
  const sql = async (query: string) => {
    const headers = { apikey: serviceKey, "content-type": "application/json" };
    const body = JSON.stringify({ query });
    const response = await fetch(`${server.apiUrl}/pg/query`, { method: "POST", headers, body });
    expect(response.status).toBe(200);
    return response.json();
  };
  const sessions = `select id from auth.sessions where user_id = '${id}' order by id`;
  const before = await sql(sessions);

  await sql(`alter database postgres set "pgrst.jwt_secret" = 'readable'`);
  const code = totpCode(secret, Date.now() / 1000 + 30);
  const refused = await signIn(server, { name: email, password, code });
  await sql(`alter database postgres reset "pgrst.jwt_secret"`);

  expect(refused.status).toBe(403);
  expect(await sql(sessions)).toEqual(before);
});
