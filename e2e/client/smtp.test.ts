// Mail by a real SMTP server: encryption, logins, what happens while it refuses, and what a killed server still owes.

import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { anonKey, password } from "../support/clients.ts";
import { type Certificate, login, PostOffice, selfSigned } from "../support/post-office.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

let folder: string;
let server: Selvedge;
/** The one that the server was told to trust, as a company's own authority. */
let trusted: Certificate;
let port: number;
let office: PostOffice;

const config = (port: number) => `
project_id = "mail"
[auth.rate_limit]
email_sent = 1000
[auth.email]
enable_confirmations = true
[auth.email.smtp]
enabled = true
host = "localhost"
port = ${port}
user = "${login.user}"
pass = "${login.pass}"
admin_email = "shop@example.com"
sender_name = "Möbel & Co"
[selvedge.auth]
smtp_tls = "starttls"
smtp_headers = ["X-Feedback-Id: kind=$messageType"]
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-mail-"));
  trusted = await selfSigned();
  office = await PostOffice.open(trusted);
  port = office.port;
  await office.close();
  await writeFile(join(folder, "config.toml"), config(port));
  await writeFile(join(folder, "trusted.pem"), trusted.cert);
  server = await startSelvedge(folder, [], { SSL_CERT_FILE: join(folder, "trusted.pem") });
});

afterEach(() => office.close());

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Signs somebody up; the answer is the promise that a mail will come. */
async function signUp(): Promise<string> {
  const email = `person-${randomUUID().slice(0, 12)}@mail.test`;
  const response = await fetch(`${server.apiUrl}/auth/v1/signup`, {
    method: "POST",
    headers: { apikey: anonKey, "content-type": "application/json" },
    body: JSON.stringify({ email, password }),
  });
  expect(response.status).toBe(200);
  return email;
}

const arrived = (office: PostOffice, emails: string[]) =>
  vi.waitFor(() => expect(office.recipients).toEqual([...emails].sort()), { timeout: 60_000 });

const seen = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

test("a mail goes out by STARTTLS with a login, headers of the project and a name in UTF-8", async () => {
  office = await PostOffice.open(trusted, port);

  const email = await signUp();

  await arrived(office, [email]);
  const [letter] = office.letters;
  expect(letter?.isEncrypted).toBe(true);
  expect(office.logins).toEqual([`PLAIN ${login.user}`]);
  expect(letter?.text).toMatch(/^X-Feedback-Id: kind=confirmation\r$/m);
  expect(letter?.text).toMatch(/^From: =\?utf-8\?b\?.+\?= <shop@example.com>\r$/m);
  expect(letter?.text).toContain("multipart/alternative");
});

test("a server that knows only LOGIN is logged in to by LOGIN", { timeout: 90_000 }, async () => {
  office = await PostOffice.open({ ...trusted, authMethods: ["LOGIN"] }, port);

  const email = await signUp();

  await arrived(office, [email]);
  expect(office.logins).toEqual([`LOGIN ${login.user}`]);
});

test("a refused login loses no mail: it goes out once the login works", {
  timeout: 150_000,
}, async () => {
  office = await PostOffice.open(trusted, port, false);
  const email = await signUp();
  await seen(() => expect(office.logins.length).toBeGreaterThan(0));
  expect(office.letters).toEqual([]);
  await office.close();

  office = await PostOffice.open(trusted, port);

  await arrived(office, [email]);
});

test("neither a login nor a mail goes to a server that nobody vouches for, nor without encryption", {
  timeout: 150_000,
}, async () => {
  office = await PostOffice.open(await selfSigned(), port);
  const email = await signUp();
  await seen(() => expect(office.visits).toBeGreaterThan(0));
  await seen(() => expect(server.output()).toMatch(/a mail was not taken.*certificate/));
  expect([office.logins, office.letters]).toEqual([[], []]);
  await office.close();

  office = await PostOffice.open({ disabledCommands: ["STARTTLS"], allowInsecureAuth: true }, port);
  await seen(() => expect(office.visits).toBeGreaterThan(0));
  await seen(() => expect(server.output()).toMatch(/a mail was not taken.*STARTTLS/i));
  expect([office.logins, office.letters]).toEqual([[], []]);
  await office.close();

  office = await PostOffice.open(trusted, port);

  await arrived(office, [email]);
  expect(server.output()).not.toContain(login.pass);
});

test("a killed server sends every mail that it has promised; TLS from the first byte", {
  timeout: 150_000,
}, async () => {
  // Nobody listens: all of these wait.
  const emails = await Promise.all(Array.from({ length: 6 }, signUp));
  await server.kill();
  office = await PostOffice.open({ ...trusted, secure: true }, port);

  await server.revive({ SELVEDGE_AUTH_SMTP_TLS: "implicit" });

  // They were taken by the process that died, some of them: what it held is free again after half a minute.
  await vi.waitFor(() => expect(office.recipients).toEqual([...emails].sort()), {
    timeout: 120_000,
  });
  expect(office.letters.every((letter) => letter.isEncrypted)).toBe(true);
});
