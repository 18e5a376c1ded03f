// A project as the stock CLI makes it, with the sections that its current version writes.

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { anonKey, client, password } from "../support/clients.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const cli = resolve(import.meta.dirname, "../node_modules/.bin/supabase");
let folder: string;
let server: Selvedge;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-cli-project-"));
  await promisify(execFile)(cli, ["init", "--workdir", folder, "--yes"]);
  server = await startSelvedge(folder);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test("gw_030 what `supabase init` writes starts without a warning", async () => {
  // The API answers somewhat earlier than the last of the start's output is printed.
  await vi.waitFor(() => expect(server.output()).toContain("is ready after"), { timeout: 60_000 });
  expect(server.output()).not.toMatch(/warning|error/i);
});

test("gw_028 a switched-off e-mail provider closes sign-up and sign-in", async () => {
  const email = "closed@example.com";
  const open = client(anonKey, server.apiUrl);
  const signUp = await open.auth.signUp({ email, password });
  expect(signUp.error).toBeNull();

  await server.kill();
  await server.restart({ SUPABASE_AUTH_EMAIL_ENABLED: "false" });
  const closed = client(anonKey, server.apiUrl);
  const refused = [
    await closed.auth.signUp({ email: "another@example.com", password }),
    await closed.auth.signInWithPassword({ email, password }),
  ];

  expect(refused.map(({ error }) => error?.code)).toEqual(Array(2).fill("email_provider_disabled"));
});
