// Text messages through the stock client, caught by the inbox of `selvedge start`: no service has credentials, and nothing leaves
// this machine.

import { randomInt, randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anonKey, client, password } from "../support/clients.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const services = ["twilio", "twilio_verify", "messagebird", "textlocal", "vonage"] as const;
const testNumber = "15550000009";

const config = `
project_id = "texts"
[auth.sms]
enabled = true
enable_confirmations = true
max_frequency = "0s"
template = "{{ .Code }} is your code at the loom."
[auth.sms.test_otp]
${testNumber} = "424242"
[auth.mfa.phone]
enroll_enabled = true
verify_enabled = true
max_frequency = "0s"
`;

let folder: string;
let server: Selvedge;

/** Variables that enable this service, without an account. */
function enableService(service: (typeof services)[number]): Record<string, string> {
  return Object.fromEntries(
    services.map((one) => [
      `SUPABASE_AUTH_SMS_${one.toUpperCase()}_ENABLED`,
      String(one === service),
    ]),
  );
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-texts-"));
  await writeFile(join(folder, "config.toml"), config);
  server = await startSelvedge(folder, [], enableService("twilio"));
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

interface CaughtMessage {
  From: { Address: string };
  Subject: string;
  Tags: string[];
  Code: string | null;
  Text: string;
}

async function read<T>(path: string): Promise<T> {
  const response = await fetch(server.inboxUrl + path);
  expect(response.status, path).toBe(200);
  return (await response.json()) as T;
}

/** The messages to a number, the newest first. */
async function listMessages(phone: string): Promise<{ ID: string }[]> {
  const query = encodeURIComponent(`to:"+${phone}"`);
  const list = await read<{ messages: { ID: string }[] }>(`/api/v1/search?query=${query}`);
  return list.messages;
}

async function newestMessage(phone: string): Promise<CaughtMessage> {
  const [newest] = await listMessages(phone);
  return read(`/api/v1/message/${newest?.ID}`);
}

async function readCode(phone: string): Promise<string> {
  const { Code } = await newestMessage(phone);
  expect(Code).toMatch(/^\d{6}$/);
  return Code ?? "";
}

/** A code of six digits that is not this one. */
const wrongCode = (code: string) => (code === "000000" ? "111111" : "000000");

/** A number of Germany's range for films and books. */
const newNumber = () => `49176${randomInt(10_000_000, 100_000_000)}`;

const application = () => client(anonKey, server.apiUrl);

async function signUpByPhone(): Promise<{ app: SupabaseClient; phone: string }> {
  const app = application();
  const phone = newNumber();
  const signUp = await app.auth.signUp({ phone, password });
  expect(signUp.error).toBeNull();
  expect(signUp.data.session).toBeNull();
  const token = await readCode(phone);
  const verified = await app.auth.verifyOtp({ phone, token, type: "sms" });
  expect(verified.error).toBeNull();
  expect(verified.data.user?.phone).toBe(phone);
  return { app, phone };
}

test("somebody signs up by phone with the code from the inbox, then signs in with the password", async () => {
  const { phone } = await signUpByPhone();

  const message = await newestMessage(phone);
  expect(message).toMatchObject({
    From: { Address: "Twilio" },
    Subject: `${message.Code} is your code at the loom.`,
    Text: `${message.Code} is your code at the loom.`,
    Tags: ["SMS"],
  });
  const { data } = await application().auth.signInWithPassword({ phone, password });
  expect(data.user?.phone).toBe(phone);
  expect(server.output()).toContain("auth.sms.twilio sends nothing");
});

test("a code for WhatsApp is caught, too, and a wrong code signs nobody in", async () => {
  const app = application();
  const phone = newNumber();
  const sent = await app.auth.signInWithOtp({ phone, options: { channel: "whatsapp" } });
  expect(sent.error).toBeNull();
  expect(sent.data.messageId).toMatch(/^SM[0-9a-f]{32}$/);
  expect((await newestMessage(phone)).Tags).toEqual(["WhatsApp"]);
  const token = await readCode(phone);

  const wrong = await app.auth.verifyOtp({ phone, token: wrongCode(token), type: "sms" });
  expect(wrong.error?.code).toBe("otp_expired");
  const right = await app.auth.verifyOtp({ phone, token, type: "sms" });
  expect(right.data.user?.phone).toBe(phone);
});

test("a phone number is changed with the code that the new number gets", async () => {
  const { app } = await signUpByPhone();
  const changed = newNumber();

  expect((await app.auth.updateUser({ phone: changed })).error).toBeNull();
  const token = await readCode(changed);
  const { data } = await app.auth.verifyOtp({ phone: changed, token, type: "phone_change" });

  expect(data.user?.phone).toBe(changed);
});

test("a phone is a second factor", async () => {
  const { app } = await signUpByPhone();
  const phone = newNumber();
  const enrolled = await app.auth.mfa.enroll({ factorType: "phone", phone, friendlyName: "mine" });
  expect(enrolled.error).toBeNull();
  const factorId = enrolled.data?.id ?? "";
  const challenge = await app.auth.mfa.challenge({ factorId, channel: "sms" });
  expect(challenge.error).toBeNull();

  const code = await readCode(phone);
  const verified = await app.auth.mfa.verify({
    factorId,
    challengeId: challenge.data?.id ?? "",
    code,
  });

  expect(verified.error).toBeNull();
  const level = await app.auth.mfa.getAuthenticatorAssuranceLevel();
  expect(level.data?.currentLevel).toBe("aal2");
});

test("test numbers get no message, and Twilio's invalid number fails as with Twilio", async () => {
  const app = application();
  const known = await app.auth.signInWithOtp({ phone: testNumber });
  expect(known.error).toBeNull();
  expect(await listMessages(testNumber)).toEqual([]);
  const right = await app.auth.verifyOtp({ phone: testNumber, token: "424242", type: "sms" });
  expect(right.data.user?.phone).toBe(testNumber);

  const { error } = await application().auth.signInWithOtp({ phone: "15005550001" });
  expect(error).toMatchObject({ status: 422, code: "sms_send_failed" });
  expect(error?.message).toContain("The 'To' number +15005550001 is not a valid phone number.");
});

test("a page of another site puts no messages into the inbox", async () => {
  const phone = newNumber();
  const response = await fetch(`${server.inboxUrl}/messages/messagebird/messages`, {
    method: "POST",
    headers: { origin: "https://evil.example" },
    body: new URLSearchParams({ originator: "Bank", body: randomUUID(), recipients: phone }),
  });

  expect(response.status).toBe(404);
  expect(await listMessages(phone)).toEqual([]);
});

// Last, because each starts the server again with another service.
test.each(services.filter((service) => service !== "twilio"))(
  "codes of %s are caught",
  async (service) => {
    await server.kill();
    await server.restart(enableService(service));
    const app = application();
    const phone = newNumber();

    expect((await app.auth.signInWithOtp({ phone })).error).toBeNull();
    const token = await readCode(phone);
    const wrong = await app.auth.verifyOtp({ phone, token: wrongCode(token), type: "sms" });
    expect(wrong.error?.code).toBe("otp_expired");
    const right = await app.auth.verifyOtp({ phone, token, type: "sms" });

    expect(right.data.user?.phone).toBe(phone);
  },
);
