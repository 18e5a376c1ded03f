// Sign-in with a provider through the stock client, against a real OpenID provider (support/provider.ts).

import { randomUUID } from "node:crypto";
import { createClient, type WebSocketLikeConstructor } from "@supabase/supabase-js";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { apiUrl } from "../support/address.ts";
import { anonKey, password, signUp, visitor } from "../support/clients.ts";
import { followRedirectsTo } from "../support/follow-redirects.ts";

const newEmail = (kind = "ana") => `${kind}-${randomUUID().slice(0, 12)}@lookbook.test`;

const target = () => `${apiUrl()}/auth`;

/** The options that the site sends. With `login_hint` the provider skips its form. */
function signInOptions(email: string) {
  return {
    redirectTo: target(),
    scopes: "openid email profile",
    queryParams: { access_type: "offline", prompt: "consent", login_hint: email },
    skipBrowserRedirect: true,
  };
}

/** Signs in at the provider. Returns the URL to which the browser is sent back. */
async function signInAtProvider(email: string): Promise<URL> {
  const { data } = await visitor().auth.signInWithOAuth({
    provider: "google",
    options: signInOptions(email),
  });
  return followRedirectsTo(data.url ?? "", target());
}

const fragment = (url: URL) => Object.fromEntries(new URLSearchParams(url.hash.slice(1)));

test("auth_038 auth_039 auth_045 a first sign-in with a provider creates the account", async () => {
  const email = newEmail();

  const url = await signInAtProvider(email);

  const tokens = fragment(url);
  expect(tokens).toMatchObject({ token_type: "bearer", sb: "", expires_in: "3600" });
  expect(tokens.provider_token).toBeTruthy();
  expect(tokens.provider_refresh_token).toBeTruthy();
  const client = visitor();
  const { data, error } = await client.auth.setSession({
    access_token: tokens.access_token ?? "",
    refresh_token: tokens.refresh_token ?? "",
  });
  expect(error).toBeNull();
  expect(data.user).toMatchObject({
    email,
    app_metadata: { provider: "google", providers: ["google"] },
    user_metadata: { email, email_verified: true, avatar_url: `${apiUrl()}/favicon.svg` },
  });
  expect((await client.auth.refreshSession()).error).toBeNull();
});

test("auth_046 a PKCE client exchanges the code", async () => {
  const stored = new Map<string, string>();
  const client = createClient(apiUrl(), anonKey, {
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
    auth: {
      flowType: "pkce",
      autoRefreshToken: false,
      storage: {
        getItem: (key) => stored.get(key) ?? null,
        setItem: (key, value) => void stored.set(key, value),
        removeItem: (key) => void stored.delete(key),
      },
    },
  });
  const email = newEmail();
  const { data } = await client.auth.signInWithOAuth({
    provider: "google",
    options: signInOptions(email),
  });
  const url = await followRedirectsTo(data.url ?? "", target());
  expect(url.hash).toBe("");

  const exchanged = await client.auth.exchangeCodeForSession(url.searchParams.get("code") ?? "");

  expect(exchanged.error).toBeNull();
  expect(exchanged.data.session).toMatchObject({ user: { email } });
  expect(exchanged.data.session?.provider_token).toBeTruthy();
});

test("auth_040 a verified address signs in to the existing account, an unverified one is refused", async () => {
  const person = await signUp();

  const known = fragment(await signInAtProvider(person.email));
  const claims = JSON.parse(atob((known.access_token ?? "").split(".")[1] ?? ""));
  expect(claims.sub).toBe(person.id);
  expect([...claims.app_metadata.providers].sort()).toEqual(["email", "google"]);
  const again = await visitor().auth.signInWithPassword({ email: person.email, password });
  expect(again.error).toBeNull();

  const refused = await signInAtProvider(newEmail("unverified"));
  expect(refused.searchParams.get("error_code")).toBe("provider_email_needs_verification");
  expect(fragment(refused).error).toBe("access_denied");
});

test("auth_043 a disabled provider gets a JSON error", async () => {
  const { data } = await visitor().auth.signInWithOAuth({
    provider: "gitlab",
    options: { redirectTo: target(), skipBrowserRedirect: true },
  });

  const response = await fetch(data.url ?? "", { redirect: "manual" });

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error_code: "validation_failed",
    msg: expect.stringMatching(/^Unsupported provider/),
  });
});
