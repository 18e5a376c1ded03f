// Passkeys, and WebAuthn as a second factor, with the stock client in a real Chromium and its virtual authenticator:
// the browser itself creates and checks the credentials.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Page } from "@playwright/test";
import type { SupabaseClient, SupabaseClientOptions } from "@supabase/supabase-js";
import { apiUrl } from "../support/address.ts";
import { anonKey, type Person, password } from "../support/clients.ts";
import { expect, test } from "./journey.ts";

const bundle = join(
  dirname(createRequire(import.meta.url).resolve("@supabase/supabase-js/package.json")),
  "dist/umd/supabase.js",
);

/** Globals of the bundle, and the client that the test adds. */
interface Globals {
  supabase: {
    createClient(
      url: string,
      key: string,
      options: SupabaseClientOptions<"public">,
    ): SupabaseClient;
  };
  client: SupabaseClient;
}

// The site's policy would refuse the script that the test adds.
test.use({ bypassCSP: true });

/**
 * Opens a page on `localhost` with a signed-in client and a virtual authenticator, built in or on USB. WebAuthn does
 * not work on an IP address.
 */
async function open(page: Page, person: Person, transport: "internal" | "usb"): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send("WebAuthn.enable");
  await browser.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const base = apiUrl().replace("127.0.0.1", "localhost");
  await page.goto(`${base}/auth`);
  await page.addScriptTag({ path: bundle });
  await page.evaluate(
    async ({ base, anonKey, email, password }) => {
      const page = globalThis as unknown as Globals;
      page.client = page.supabase.createClient(base, anonKey, {
        auth: { experimental: { passkey: true }, storageKey: "webauthn-journey" },
      });
      const { error } = await page.client.auth.signInWithPassword({ email, password });
      if (error) throw error;
    },
    { base, anonKey, email: person.email, password },
  );
}

test("a user registers a passkey, signs in with it alone, names it and removes it", {
  tag: "@once",
}, async ({ page, pageErrors, person }) => {
  await open(page, person, "internal");

  const result = await page.evaluate(async () => {
    const { auth } = (globalThis as unknown as Globals).client;
    const made = await auth.registerPasskey();
    if (made.error) throw made.error;
    await auth.signOut();
    const signedIn = await auth.signInWithPasskey();
    if (signedIn.error) throw signedIn.error;
    const token = signedIn.data.session?.access_token ?? "";
    const named = await auth.passkey.update({ passkeyId: made.data.id, friendlyName: "My laptop" });
    if (named.error) throw named.error;
    const list = await auth.passkey.list();
    return {
      id: made.data.id,
      user: signedIn.data.user?.id,
      claims: JSON.parse(atob(token.split(".")[1] ?? "")),
      list: list.data,
    };
  });

  expect(result.user).toBe(person.id);
  expect(result.claims).toMatchObject({
    sub: person.id,
    aal: "aal1",
    amr: [{ method: "passkey" }],
  });
  expect(result.list).toEqual([
    expect.objectContaining({
      id: result.id,
      friendly_name: "My laptop",
      last_used_at: expect.any(String),
    }),
  ]);

  pageErrors.expectStatus(400, "/auth/v1/passkeys/authentication/verify");
  const gone = await page.evaluate(async (passkeyId) => {
    const { auth } = (globalThis as unknown as Globals).client;
    const removed = await auth.passkey.delete({ passkeyId });
    if (removed.error) throw removed.error;
    const list = await auth.passkey.list();
    await auth.signOut();
    // The authenticator still offers the credential, which the server has deleted.
    const { error } = await auth.signInWithPasskey();
    return { list: list.data, code: error?.code };
  }, result.id);

  expect(gone).toEqual({ list: [], code: "webauthn_verification_failed" });
});

test("a user enrolls an authenticator as second factor, verifies it and removes it", {
  tag: "@once",
}, async ({ page, person }) => {
  // As a second factor the client requests an authenticator that is not built in.
  await open(page, person, "usb");

  const levels = await page.evaluate(
    async ({ email, password }) => {
      const { auth } = (globalThis as unknown as Globals).client;
      const level = async () =>
        (await auth.mfa.getAuthenticatorAssuranceLevel()).data?.currentLevel;
      const before = await level();
      const added = await auth.mfa.webauthn.register({ friendlyName: "My key" });
      if (added.error) throw added.error;
      const enrolled = await level();
      const factor = (await auth.mfa.listFactors()).data?.webauthn[0];
      await auth.signOut();
      await auth.signInWithPassword({ email, password });
      const again = await level();
      const verified = await auth.mfa.webauthn.authenticate({ factorId: factor?.id ?? "" });
      if (verified.error) throw verified.error;
      const afterVerification = await level();
      const removed = await auth.mfa.unenroll({ factorId: factor?.id ?? "" });
      if (removed.error) throw removed.error;
      await auth.refreshSession();
      const after = await level();
      const factorsLeft = (await auth.mfa.listFactors()).data?.all.length;
      return {
        levels: [before, enrolled, again, afterVerification, after],
        name: factor?.friendly_name,
        status: factor?.status,
        factorsLeft,
      };
    },
    { email: person.email, password },
  );

  expect(levels).toEqual({
    levels: ["aal1", "aal2", "aal1", "aal2", "aal1"],
    name: "My key",
    status: "verified",
    factorsLeft: 0,
  });
});
