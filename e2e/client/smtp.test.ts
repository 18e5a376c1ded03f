// Sending mail through a real SMTP server: encryption, login, refused logins, and delivery after the server was killed.

import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { anonKey, password } from "../support/clients.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import {
  type Certificate,
  login,
  makeCertificate,
  TestSmtpServer,
} from "../support/smtp-server.ts";

let folder: string;
let server: Selvedge;
/** The certificate that the server is told to trust (SSL_CERT_FILE). */
let trusted: Certificate;
let port: number;
let smtp: TestSmtpServer;

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
  trusted = await makeCertificate();
  smtp = await TestSmtpServer.open(trusted);
  port = smtp.port;
  await smtp.close();
  await writeFile(join(folder, "config.toml"), config(port));
  await writeFile(join(folder, "trusted.pem"), trusted.cert);
  server = await startSelvedge(folder, [], { SSL_CERT_FILE: join(folder, "trusted.pem") });
});

afterEach(() => smtp.close());

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Signs a new person up. The 200 means that the confirmation mail is queued and must not be lost. */
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

/**
 * Waits until each of these addresses has got its mail.
 *
 * Mails of earlier tests may arrive as well. Mail is sent at least once: if a test closes its SMTP server, or kills the
 * server, before the acceptance of a mail has been recorded, that mail is sent again.
 */
const waitForMailTo = (smtp: TestSmtpServer, emails: string[], timeout = 60_000) =>
  vi.waitFor(() => expect(smtp.recipients).toEqual(expect.arrayContaining(emails)), { timeout });

const waitUntil = (check: () => void) => vi.waitFor(check, { timeout: 60_000 });

test("a mail is sent over STARTTLS with a login, configured headers and an encoded sender name", async () => {
  smtp = await TestSmtpServer.open(trusted, port);

  const email = await signUp();

  await waitForMailTo(smtp, [email]);
  const mail = smtp.mails.find((mail) => mail.to === email);
  expect(mail?.isEncrypted).toBe(true);
  expect(new Set(smtp.logins)).toEqual(new Set([`PLAIN ${login.user}`]));
  expect(mail?.text).toMatch(/^X-Feedback-Id: kind=confirmation\r$/m);
  expect(mail?.text).toMatch(/^From: =\?utf-8\?b\?.+\?= <shop@example.com>\r$/m);
  expect(mail?.text).toContain("multipart/alternative");
});

test("the login uses LOGIN if the server offers nothing else", { timeout: 90_000 }, async () => {
  smtp = await TestSmtpServer.open({ ...trusted, authMethods: ["LOGIN"] }, port);

  const email = await signUp();

  await waitForMailTo(smtp, [email]);
  expect(new Set(smtp.logins)).toEqual(new Set([`LOGIN ${login.user}`]));
});

test("mail is kept while the login is refused and sent once it is accepted", {
  timeout: 150_000,
}, async () => {
  smtp = await TestSmtpServer.open(trusted, port, false);
  const email = await signUp();
  await waitUntil(() => expect(smtp.logins.length).toBeGreaterThan(0));
  expect(smtp.mails).toEqual([]);
  await smtp.close();

  smtp = await TestSmtpServer.open(trusted, port);

  await waitForMailTo(smtp, [email]);
});

test("no login and no mail is sent to a server with an untrusted certificate or without encryption", {
  timeout: 150_000,
}, async () => {
  smtp = await TestSmtpServer.open(await makeCertificate(), port);
  const email = await signUp();
  await waitUntil(() => expect(smtp.connections).toBeGreaterThan(0));
  await waitUntil(() => expect(server.output()).toMatch(/a mail was not accepted.*certificate/));
  expect([smtp.logins, smtp.mails]).toEqual([[], []]);
  await smtp.close();

  smtp = await TestSmtpServer.open(
    { disabledCommands: ["STARTTLS"], allowInsecureAuth: true },
    port,
  );
  await waitUntil(() => expect(smtp.connections).toBeGreaterThan(0));
  await waitUntil(() => expect(server.output()).toMatch(/a mail was not accepted.*STARTTLS/i));
  expect([smtp.logins, smtp.mails]).toEqual([[], []]);
  await smtp.close();

  smtp = await TestSmtpServer.open(trusted, port);

  await waitForMailTo(smtp, [email]);
  expect(server.output()).not.toContain(login.pass);
});

test("a killed server sends every queued mail after its restart, over implicit TLS", {
  timeout: 150_000,
}, async () => {
  // No SMTP server runs yet, so all of these stay queued.
  const emails = await Promise.all(Array.from({ length: 6 }, signUp));
  await server.kill();
  smtp = await TestSmtpServer.open({ ...trusted, secure: true }, port);

  await server.restart({ SELVEDGE_AUTH_SMTP_TLS: "implicit" });

  // The killed process had claimed some of them. A claim expires after half a minute.
  await waitForMailTo(smtp, emails, 120_000);
  expect(smtp.mails.every((mail) => mail.isEncrypted)).toBe(true);
});
