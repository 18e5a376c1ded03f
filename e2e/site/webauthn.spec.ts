// Passkeys, and WebAuthn as a second factor, through the stock client in a real Chromium with an authenticator that the browser
// simulates: the browser makes and checks the ceremonies, nothing here does.

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

/** What the bundle, and then the test, put on the page. */
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

// Only the test's own script is on the page, and it may be there.
test.use({ bypassCSP: true });

/**
 * A page at the name of this machine with a client on it, and an authenticator: one of the machine, or a key in its USB port.
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

test("somebody makes a passkey, comes in by it alone, names it and removes it", {
  tag: "@once",
}, async ({ page, pages, person }) => {
  await open(page, person, "internal");

  const came = await page.evaluate(async () => {
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

  expect(came.user).toBe(person.id);
  expect(came.claims).toMatchObject({ sub: person.id, aal: "aal1", amr: [{ method: "passkey" }] });
  expect(came.list).toEqual([
    expect.objectContaining({
      id: came.id,
      friendly_name: "My laptop",
      last_used_at: expect.any(String),
    }),
  ]);

  pages.expectRefusal(400, "/auth/v1/passkeys/authentication/verify");
  const gone = await page.evaluate(async (passkeyId) => {
    const { auth } = (globalThis as unknown as Globals).client;
    const removed = await auth.passkey.delete({ passkeyId });
    if (removed.error) throw removed.error;
    const list = await auth.passkey.list();
    await auth.signOut();
    // The authenticator still has it; the server does not know it any more.
    const { error } = await auth.signInWithPasskey();
    return { list: list.data, code: error?.code };
  }, came.id);

  expect(gone).toEqual({ list: [], code: "webauthn_verification_failed" });
});

test("somebody adds an authenticator as a second factor, shows it, and takes it away", {
  tag: "@once",
}, async ({ page, person }) => {
  // The client asks for a second factor that is not part of the machine.
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
      const shown = await auth.mfa.webauthn.authenticate({ factorId: factor?.id ?? "" });
      if (shown.error) throw shown.error;
      const proven = await level();
      const removed = await auth.mfa.unenroll({ factorId: factor?.id ?? "" });
      if (removed.error) throw removed.error;
      await auth.refreshSession();
      const after = await level();
      const left = (await auth.mfa.listFactors()).data?.all.length;
      return {
        levels: [before, enrolled, again, proven, after],
        name: factor?.friendly_name,
        status: factor?.status,
        left,
      };
    },
    { email: person.email, password },
  );

  expect(levels).toEqual({
    levels: ["aal1", "aal2", "aal1", "aal2", "aal1"],
    name: "My key",
    status: "verified",
    left: 0,
  });
});
