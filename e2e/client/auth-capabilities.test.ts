// Every capability that supabase/sdk lists under `auth.*`, through the stock client, on a server with every feature
// switched on. Capabilities that need a browser's authenticator are tested in site/webauthn.spec.ts.

import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { anonKey, localKey, password } from "../support/clients.ts";
import { followRedirectsTo } from "../support/follow-redirects.ts";
import {
  clientId,
  clientSecret,
  googleSettings,
  type IdentityProvider,
  startProvider,
} from "../support/provider.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { totpCode } from "../support/totp.ts";

// Web3 sign-in needs a host name: a wallet's message is refused for an IP address.
const site = "http://localhost:3000";

const config = `
project_id = "capabilities"
[auth]
site_url = "${site}"
additional_redirect_urls = ["${site}/**"]
enable_anonymous_sign_ins = true
enable_manual_linking = true
[auth.email]
enable_confirmations = true
max_frequency = "0s"
[auth.mfa.totp]
enroll_enabled = true
verify_enabled = true
[auth.web3.solana]
enabled = true
[auth.oauth_server]
enabled = true
`;

let folder: string;
let server: Selvedge;
let provider: IdentityProvider;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-capabilities-"));
  await writeFile(join(folder, "config.toml"), config);
  provider = await startProvider();
  server = await startSelvedge(folder, [], googleSettings(provider));
  provider.registerClient(server.apiUrl);
});

afterAll(async () => {
  await server?.stop();
  await provider?.stop();
  await rm(folder, { recursive: true, force: true });
});

function client(key = anonKey, flowType: "implicit" | "pkce" = "implicit"): SupabaseClient {
  const stored = new Map<string, string>();
  return createClient(server.apiUrl, key, {
    auth: {
      flowType,
      autoRefreshToken: false,
      detectSessionInUrl: false,
      experimental: { passkey: true },
      storage: {
        getItem: (name) => stored.get(name) ?? null,
        setItem: (name, value) => void stored.set(name, value),
        removeItem: (name) => void stored.delete(name),
      },
    },
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
}

const owner = () => client(localKey("service_role"));
const newEmail = () => `person-${randomUUID().slice(0, 12)}@capability.test`;

/** The data of a call; throws its error. */
async function dataOf<Result extends { data: unknown; error: unknown }>(call: Promise<Result>) {
  const { data, error } = await call;
  if (error) {
    throw error;
  }
  return data as Extract<Result, { error: null }>["data"];
}

/** Creates a user with the service key and signs in. */
async function createPerson() {
  const email = newEmail();
  const made = await dataOf(
    owner().auth.admin.createUser({ email, password, email_confirm: true }),
  );
  const their = client();
  const { session } = await dataOf(their.auth.signInWithPassword({ email, password }));
  return { email, id: made.user?.id ?? "", auth: their.auth, session };
}

/** Code and link of the newest mail to this address in the development inbox. */
async function newestMail(email: string): Promise<{ code: string; link: string }> {
  const read = async (path: string) => (await fetch(server.inboxUrl + path)).json();
  const found = await read(`/api/v1/search?query=${encodeURIComponent(`to:"${email}"`)}`);
  const { Text } = await read(`/api/v1/message/${found.messages[0].ID}`);
  return {
    code: /\b\d{6}\b/.exec(Text)?.[0] ?? "",
    link: /http\S+\/verify\?\S+/.exec(Text)?.[0] ?? "",
  };
}

test("auth_100 sign_in: sign_up, verify_otp, resend_confirmation, sign_in_with_password, sign_in_with_otp", async () => {
  const email = newEmail();
  const { auth } = client();
  const signedUp = await dataOf(auth.signUp({ email, password }));
  expect(signedUp.session).toBeNull();
  const first = await newestMail(email);
  await dataOf(auth.resend({ type: "signup", email }));
  const second = await newestMail(email);
  expect(second.code).not.toBe("");
  const oldCode = await client().auth.verifyOtp({ email, token: first.code, type: "email" });
  expect(first.code === second.code || oldCode.error?.code === "otp_expired").toBe(true);
  await dataOf(auth.verifyOtp({ email, token: second.code, type: "email" }));
  await dataOf(client().auth.signInWithPassword({ email, password }));
  await dataOf(client().auth.signInWithOtp({ email }));
  const byCode = await dataOf(
    client().auth.verifyOtp({ email, token: (await newestMail(email)).code, type: "email" }),
  );
  expect(byCode.user?.email).toBe(email);
});

test("auth_100 sign_in: send_password_reset_email, exchange_code_for_session, reauthenticate", async () => {
  const { email } = await createPerson();
  const { auth } = client(anonKey, "pkce");
  await dataOf(auth.resetPasswordForEmail(email, { redirectTo: `${site}/reset` }));
  const opened = await fetch((await newestMail(email)).link, { redirect: "manual" });
  const target = new URL(opened.headers.get("location") ?? "");
  const { session } = await dataOf(
    auth.exchangeCodeForSession(target.searchParams.get("code") ?? ""),
  );
  expect(session?.user.email).toBe(email);
  await dataOf(auth.reauthenticate());
  const { code } = await newestMail(email);
  await dataOf(auth.updateUser({ password: "Another-2027", nonce: code }));
  await dataOf(client().auth.signInWithPassword({ email, password: "Another-2027" }));
});

test("auth_100 sign_in: sign_in_anonymously, sign_in_with_oauth, sign_in_with_id_token", async () => {
  const anonymous = await dataOf(client().auth.signInAnonymously());
  expect(anonymous.user?.is_anonymous).toBe(true);

  const email = newEmail();
  const { auth } = client(anonKey, "pkce");
  const { url } = await dataOf(
    auth.signInWithOAuth({ provider: "google", options: providerOptions(email) }),
  );
  const back = await followRedirectsTo(url ?? "", `${site}/in`);
  const { user } = await dataOf(auth.exchangeCodeForSession(back.searchParams.get("code") ?? ""));
  expect(user?.email).toBe(email);

  const token = await fetchIdToken(email);
  const again = await dataOf(client().auth.signInWithIdToken({ provider: "google", token }));
  expect(again.user?.id).toBe(user?.id);
});

/** Options for a sign-in at the provider, which skips its form for a `login_hint`. */
const providerOptions = (email: string) => ({
  redirectTo: `${site}/in`,
  scopes: "openid email profile",
  queryParams: { login_hint: email },
  skipBrowserRedirect: true,
});

/** An ID token for the server's client, fetched from the provider as its library in a mobile app would. */
async function fetchIdToken(email: string): Promise<string> {
  const callback = `${server.apiUrl}/auth/v1/callback`;
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri: callback,
    response_type: "code",
    scope: "openid email profile",
    login_hint: email,
  });
  const back = await followRedirectsTo(`${provider.issuer}/auth?${query}`, callback);
  const response = await fetch(`${provider.issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code: back.searchParams.get("code") ?? "",
      redirect_uri: callback,
    }),
  });
  return (await response.json()).id_token;
}

test("auth_100 sign_in: sign_in_with_web3, sign_in_with_sso", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const lines = [
    `${new URL(site).host} wants you to sign in with your Solana account:`,
    base58(raw),
    "",
    "I accept the terms",
    "",
    `URI: ${site}/`,
    "Version: 1",
    `Issued At: ${new Date().toISOString()}`,
  ];
  const message = lines.join("\n");
  const signature = new Uint8Array(sign(null, Buffer.from(message), privateKey));
  const wallet = await dataOf(
    client().auth.signInWithWeb3({ chain: "solana", message, signature }),
  );
  expect(wallet.user?.app_metadata.provider).toBe("web3");

  // SAML is off in this project; site/saml.spec.ts signs in by it. Clients recognise this code.
  const sso = await client().auth.signInWithSSO({ domain: "company.example" });
  expect(sso.error).toMatchObject({ status: 404, code: "saml_provider_disabled" });
});

function base58(bytes: Uint8Array): string {
  const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
  let value = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (; value > 0n; value /= 58n) {
    text = alphabet[Number(value % 58n)] + text;
  }
  return "1".repeat(bytes.findIndex((byte) => byte !== 0)) + text;
}

test("auth_100 session: get, set, refresh, get_user, get_claims, update_user, events, auto_refresh, sign_out", async () => {
  const { auth, session, id } = await createPerson();
  const events: string[] = [];
  const { data } = auth.onAuthStateChange((event) => void events.push(event));
  expect((await dataOf(auth.getSession())).session?.user.id).toBe(id);
  expect((await dataOf(auth.getUser())).user.id).toBe(id);
  expect((await dataOf(auth.getClaims()))?.claims.sub).toBe(id);
  const updated = await dataOf(auth.updateUser({ data: { shoe: 41 } }));
  expect(updated.user.user_metadata.shoe).toBe(41);
  const refreshed = await dataOf(auth.refreshSession());
  expect(refreshed.session?.refresh_token).not.toBe(session.refresh_token);
  await auth.startAutoRefresh();
  await auth.stopAutoRefresh();
  const other = client().auth;
  const tokens = refreshed.session ?? session;
  await dataOf(other.setSession(tokens));
  expect((await auth.signOut()).error).toBeNull();
  expect((await other.getUser()).error?.name).toBe("AuthSessionMissingError");
  data.subscription.unsubscribe();
  expect(events).toEqual(expect.arrayContaining(["USER_UPDATED", "TOKEN_REFRESHED", "SIGNED_OUT"]));
});

test("auth_100 identities: list_identities, link_identity, unlink_identity", async () => {
  const { auth, email } = await createPerson();
  const link = await dataOf(
    auth.linkIdentity({ provider: "google", options: providerOptions(email) }),
  );
  await followRedirectsTo(link.url ?? "", `${site}/in`);
  const { identities } = await dataOf(auth.getUserIdentities());
  expect(identities.map((identity) => identity.provider).sort()).toEqual(["email", "google"]);
  const google = identities.find((identity) => identity.provider === "google");
  if (google) {
    await dataOf(auth.unlinkIdentity(google));
  }
  expect((await dataOf(auth.getUserIdentities())).identities).toHaveLength(1);
});

test("auth_100 mfa: enroll, challenge, verify, challenge_and_verify, list_factors, assurance level, unenroll", async () => {
  const { auth, id } = await createPerson();
  const factor = await dataOf(auth.mfa.enroll({ factorType: "totp", friendlyName: "App" }));
  const { secret, qr_code } = factor.totp;
  expect(qr_code).toMatch(/^data:image\/svg\+xml;utf-8,/);
  const challenge = await dataOf(auth.mfa.challenge({ factorId: factor.id }));
  const code = totpCode(secret);
  await dataOf(auth.mfa.verify({ factorId: factor.id, challengeId: challenge.id, code }));
  // Each code is accepted once, so the second one is that of the next 30 s.
  const next = totpCode(secret, Date.now() / 1000 + 30);
  await dataOf(auth.mfa.challengeAndVerify({ factorId: factor.id, code: next }));
  expect((await dataOf(auth.mfa.listFactors())).totp).toHaveLength(1);
  const level = await dataOf(auth.mfa.getAuthenticatorAssuranceLevel());
  expect([level.currentLevel, level.nextLevel]).toEqual(["aal2", "aal2"]);
  await dataOf(auth.mfa.unenroll({ factorId: factor.id }));

  const second = await dataOf(auth.mfa.enroll({ factorType: "totp", friendlyName: "Second" }));
  const { mfa } = owner().auth.admin;
  expect((await dataOf(mfa.listFactors({ userId: id }))).factors).toHaveLength(1);
  await dataOf(mfa.deleteFactor({ userId: id, id: second.id }));
});

test("auth_100 admin: users, links, invitations, sign_out; passkey_admin", async () => {
  const { admin } = owner().auth;
  const email = newEmail();
  const made = await dataOf(admin.createUser({ email, password, email_confirm: true }));
  const id = made.user?.id ?? "";
  await dataOf(admin.updateUserById(id, { app_metadata: { role: "editor" } }));
  expect((await dataOf(admin.getUserById(id))).user?.app_metadata.role).toBe("editor");
  const listed = await dataOf(admin.listUsers({ page: 1, perPage: 1000 }));
  expect(listed.users.map((user) => user.email)).toContain(email);
  const link = await dataOf(admin.generateLink({ type: "magiclink", email }));
  const tokenHash = link.properties?.hashed_token ?? "";
  const signedIn = await dataOf(
    client().auth.verifyOtp({ token_hash: tokenHash, type: "magiclink" }),
  );
  expect((await admin.signOut(signedIn.session?.access_token ?? "")).error).toBeNull();
  const invited = await dataOf(admin.inviteUserByEmail(newEmail()));
  expect(invited.user?.invited_at).toBeTruthy();
  await dataOf(admin.deleteUser(id));
  expect((await admin.getUserById(id)).error).toMatchObject({ code: "user_not_found" });
});

test("auth_100 admin: create_provider, get_provider, list_providers, update_provider, delete_provider", async () => {
  const { customProviders } = owner().auth.admin;
  const identifier = `custom:c${randomUUID().slice(0, 8)}`;
  await dataOf(
    customProviders.createProvider({
      provider_type: "oauth2",
      identifier,
      name: "Company",
      client_id: "us",
      client_secret: "secret",
      authorization_url: "https://id.company.example/authorize",
      token_url: "https://id.company.example/token",
      userinfo_url: "https://id.company.example/me",
    }),
  );
  await dataOf(customProviders.updateProvider(identifier, { name: "The company" }));
  expect((await dataOf(customProviders.getProvider(identifier))).name).toBe("The company");
  expect((await dataOf(customProviders.listProviders())).providers).toHaveLength(1);
  expect((await customProviders.deleteProvider(identifier)).error).toBeNull();
});

test("auth_100 oauth_admin and oauth_server: clients, authorizations, grants", async () => {
  const { oauth } = owner().auth.admin;
  const redirect = "https://notes.example/cb";
  const made = await dataOf(
    oauth.createClient({ client_name: "Notes", redirect_uris: [redirect] }),
  );
  const id = made.client_id;
  expect((await dataOf(oauth.getClient(id))).client_name).toBe("Notes");
  expect((await dataOf(oauth.listClients())).clients).toHaveLength(1);
  await dataOf(oauth.updateClient(id, { client_name: "Loom Notes" }));
  const renewed = await dataOf(oauth.regenerateClientSecret(id));
  expect(renewed.client_secret).not.toBe(made.client_secret);

  const { auth } = await createPerson();
  const startAuthorization = async () => {
    const challenge = createHash("sha256").update("v".repeat(64)).digest("base64url");
    const query = new URLSearchParams({
      client_id: id,
      redirect_uri: redirect,
      response_type: "code",
      code_challenge: challenge,
      code_challenge_method: "S256",
    });
    const response = await fetch(`${server.apiUrl}/auth/v1/oauth/authorize?${query}`, {
      redirect: "manual",
    });
    const target = new URL(response.headers.get("location") ?? "");
    return target.searchParams.get("authorization_id") ?? "";
  };
  const skipBrowserRedirect = true;
  const refused = await startAuthorization();
  await dataOf(auth.oauth.getAuthorizationDetails(refused));
  const denied = await dataOf(auth.oauth.denyAuthorization(refused, { skipBrowserRedirect }));
  expect(denied.redirect_url).toContain("error=access_denied");
  const granted = await startAuthorization();
  const details = await dataOf(auth.oauth.getAuthorizationDetails(granted));
  expect("client" in details && details.client.name).toBe("Loom Notes");
  const approved = await dataOf(auth.oauth.approveAuthorization(granted, { skipBrowserRedirect }));
  expect(approved.redirect_url).toContain("code=");
  const grants = await dataOf(auth.oauth.listGrants());
  expect(grants.map((grant) => grant.client.id)).toEqual([id]);
  expect((await auth.oauth.revokeGrant({ clientId: id })).error).toBeNull();
  expect(await dataOf(auth.oauth.listGrants())).toEqual([]);
  expect((await oauth.deleteClient(id)).error).toBeNull();
});
