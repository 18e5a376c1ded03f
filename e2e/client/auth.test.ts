// Accounts and sessions through the stock client: sign-up, sign-in, refresh, recovery, sign-out. Mail is read from
// the inbox.

import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { type Person, password, signUp, visitor } from "../support/clients.ts";
import { confirmationLink, oneTimeCode } from "../support/inbox.ts";

const newEmail = () => `person-${randomUUID().slice(0, 12)}@lookbook.test`;

/** Signs in a second time, as on another device. */
async function signInAgain(person: Person, secret = password) {
  const client = visitor();
  const { data, error } = await client.auth.signInWithPassword({
    email: person.email,
    password: secret,
  });
  return { client, session: data.session, error };
}

test("auth_001 a confirmed person signs in and gets a token with their id", async () => {
  const person = await signUp();

  const { session, error } = await signInAgain(person);

  expect(error).toBeNull();
  expect(session).toMatchObject({
    token_type: "bearer",
    expires_in: 3600,
    user: { id: person.id },
  });
  const claims = JSON.parse(atob(session?.access_token.split(".")[1] ?? ""));
  expect(claims).toMatchObject({ sub: person.id, role: "authenticated", aud: "authenticated" });
});

test("auth_002 a wrong password and an unknown address get the same error", async () => {
  const person = await signUp();

  const wrong = await signInAgain(person, "Not-the-password-1");
  const unknown = await visitor().auth.signInWithPassword({ email: newEmail(), password });

  for (const { error } of [wrong, unknown]) {
    expect(error).toMatchObject({
      status: 400,
      code: "invalid_credentials",
      message: "Invalid login credentials",
    });
  }
});

test("auth_003 auth_004 auth_025 an address is confirmed by the mailed link", async () => {
  const email = newEmail();
  const client = visitor();

  const { data } = await client.auth.signUp({
    email,
    password,
    options: { data: { username: `u${randomUUID().slice(0, 8)}`, full_name: "New Person" } },
  });
  expect(data.session).toBeNull();
  expect(data.user?.identities).toHaveLength(1);
  expect(data.user?.user_metadata.full_name).toBe("New Person");
  const early = await client.auth.signInWithPassword({ email, password });
  expect(early.error).toMatchObject({ status: 400, code: "email_not_confirmed" });

  const opened = await fetch(await confirmationLink(email), { redirect: "manual" });
  expect(opened.status).toBe(303);
  expect(opened.headers.get("location")).toMatch(/#access_token=.*&type=signup$/);
  const again = await fetch(await confirmationLink(email), { redirect: "manual" });
  expect(again.headers.get("location")).toContain("error_code=otp_expired");

  const late = await client.auth.signInWithPassword({ email, password });
  expect(late.error).toBeNull();
  expect(late.data.user?.email_confirmed_at).toMatch(/Z$/);
});

test("auth_067 the mailed code confirms the address, and works once", async () => {
  const email = newEmail();
  const client = visitor();
  await client.auth.signUp({ email, password });
  const token = await oneTimeCode(email);

  const first = await client.auth.verifyOtp({ email, token, type: "email" });
  const second = await visitor().auth.verifyOtp({ email, token, type: "email" });

  expect(first.error).toBeNull();
  expect(first.data.session?.user.email).toBe(email);
  expect(second.error).toMatchObject({ status: 403, code: "otp_expired" });
});

test("auth_030 signing up with a taken address does not reveal the account", async () => {
  const person = await signUp();

  const { data, error } = await visitor().auth.signUp({
    email: person.email,
    password: "Other-pass-1",
  });

  expect(error).toBeNull();
  expect(data.user?.identities).toEqual([]);
  expect(data.user?.id).not.toBe(person.id);
  expect((await signInAgain(person)).error).toBeNull();
});

test("auth_008 getUser returns the user with identities", async () => {
  const person = await signUp();

  const { data } = await person.client.auth.getUser();

  expect(data.user).toMatchObject({ id: person.id, app_metadata: { provider: "email" } });
  expect(data.user?.identities).toHaveLength(1);
  expect(data.user?.created_at).toMatch(/Z$/);
});

test("auth_050 getClaims verifies the token with the published key", async () => {
  const person = await signUp();

  const { data, error } = await person.client.auth.getClaims();

  expect(error).toBeNull();
  expect(data?.claims.sub).toBe(person.id);
  expect(data?.header.alg).toBe("ES256");
});

test("auth_009 auth_010 refreshing rotates the token and two concurrent refreshes succeed", async () => {
  const { client, session } = await signInAgain(await signUp());
  const token = { refresh_token: session?.refresh_token ?? "" };

  const [one, two] = await Promise.all([
    client.auth.refreshSession(token),
    visitor().auth.refreshSession(token),
  ]);

  expect(one.error).toBeNull();
  expect(two.error).toBeNull();
  expect(one.data.session?.refresh_token).not.toBe(session?.refresh_token);
  const next = await client.auth.refreshSession();
  expect(next.error).toBeNull();
});

test("auth_013 an unknown refresh token gets refresh_token_not_found", async () => {
  const { error } = await visitor().auth.refreshSession({ refresh_token: "abcdefghijkl" });

  expect(error).toMatchObject({ status: 400, code: "refresh_token_not_found" });
});

test("auth_054 user metadata is merged and null removes a key", async () => {
  const person = await signUp();

  await person.client.auth.updateUser({ data: { shoe: 41, hat: "L" } });
  const { data } = await person.client.auth.updateUser({ data: { hat: null } });

  expect(data.user?.user_metadata).toMatchObject({ shoe: 41, full_name: "A Person" });
  expect(data.user?.user_metadata).not.toHaveProperty("hat");
});

test("auth_014 auth_015 auth_016 signing out ends the sessions of its scope", async () => {
  const person = await signUp();
  const [phone, laptop] = [await signInAgain(person), await signInAgain(person)];

  await laptop.client.auth.signOut({ scope: "others" });
  // The client turns the server's `session_not_found` into AuthSessionMissingError.
  expect((await phone.client.auth.getUser()).error?.name).toBe("AuthSessionMissingError");
  expect((await laptop.client.auth.getUser()).error).toBeNull();

  const token = laptop.session?.access_token ?? "";
  await laptop.client.auth.signOut();
  const after = await fetch(`${apiUrl()}/auth/v1/user`, {
    headers: { Authorization: `Bearer ${token}`, "X-Supabase-Api-Version": "2024-01-01" },
  });
  expect([after.status, (await after.json()).code]).toEqual([403, "session_not_found"]);
});

test("auth_020 auth_021 auth_022 a forgotten password is replaced through the mailed link", async () => {
  const person = await signUp();
  const site = apiUrl();

  const requested = await visitor().auth.resetPasswordForEmail(person.email, {
    redirectTo: `${site}/auth?reset=true`,
  });
  expect(requested.error).toBeNull();
  const opened = await fetch(await confirmationLink(person.email), { redirect: "manual" });
  const target = new URL(opened.headers.get("location") ?? "");
  const fragment = new URLSearchParams(target.hash.slice(1));
  expect(fragment.get("type")).toBe("recovery");

  const client = visitor();
  await client.auth.setSession({
    access_token: fragment.get("access_token") ?? "",
    refresh_token: fragment.get("refresh_token") ?? "",
  });
  const changed = await client.auth.updateUser({ password: "Brand-New-2026" });
  expect(changed.error).toBeNull();
  expect((await signInAgain(person)).error).toMatchObject({ code: "invalid_credentials" });
  expect((await signInAgain(person, "Brand-New-2026")).error).toBeNull();
});

test("auth_022 a forgotten password is replaced with the mailed code", async () => {
  const person = await signUp();
  await visitor().auth.resetPasswordForEmail(person.email);

  const client = visitor();
  const { error } = await client.auth.verifyOtp({
    email: person.email,
    token: await oneTimeCode(person.email),
    type: "recovery",
  });

  expect(error).toBeNull();
  expect((await client.auth.updateUser({ password: "Brand-New-2027" })).error).toBeNull();
});

test("auth_023 recovery of an unknown address succeeds like any other", async () => {
  const { error } = await visitor().auth.resetPasswordForEmail(newEmail());

  expect(error).toBeNull();
});

test("auth_034 a weak password is refused with its reasons", async () => {
  const { error } = await visitor().auth.signUp({ email: newEmail(), password: "abc" });

  expect(error).toMatchObject({ status: 422, code: "weak_password", reasons: ["length"] });
});

test("auth_017 auth_018 the error shape follows the client's API version", async () => {
  const signIn = async (headers: Record<string, string>) =>
    (
      await fetch(`${apiUrl()}/auth/v1/token?grant_type=password`, {
        method: "POST",
        headers: { "Content-Type": "application/json", ...headers },
        body: JSON.stringify({ email: newEmail(), password }),
      })
    ).json();

  expect(await signIn({ "X-Supabase-Api-Version": "2024-01-01" })).toEqual({
    code: "invalid_credentials",
    message: "Invalid login credentials",
  });
  expect(await signIn({})).toMatchObject({
    code: 400,
    error_code: "invalid_credentials",
    msg: "Invalid login credentials",
  });
});
