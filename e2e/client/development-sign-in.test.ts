// Sign-in with every provider through the stock client, answered by the development identity provider of
// `selvedge start`: no provider has credentials, and nothing leaves this machine.

import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createClient,
  type Provider,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { anonKey, client, password, serviceKey } from "../support/clients.ts";
import { generateKeys, startNode } from "../support/cluster.ts";
import { choose, openPage, savePerson, signInAs } from "../support/development-sign-in.ts";
import { freePorts } from "../support/ports.ts";
import { type Selvedge, startSelvedge, stop } from "../support/selvedge.ts";

const base = ["email", "email_verified", "iss", "phone_verified", "provider_id", "sub"];
const name = ["full_name", "name"];
const picture = ["avatar_url", "picture"];

/**
 * The members of `user_metadata` after a first sign-in, by provider. Source: the profiles that supabase/auth reads
 * (internal/api/provider/*.go) from what each provider documents; the documentation is named in
 * crates/dev-services/src/identity/providers/.
 */
const providers: Record<string, { keys: string[]; custom?: string[]; scopes?: string }> = {
  apple: { keys: [...base, ...name], custom: ["auth_time"] },
  azure: {
    keys: [...base, "full_name", "preferred_username"],
    custom: ["email", "oid", "tid", "xms_edov"],
    scopes: "email profile",
  },
  bitbucket: { keys: [...base, ...name] },
  discord: { keys: [...base, ...name, ...picture], custom: ["global_name"] },
  facebook: { keys: [...base, ...name, ...picture, "nickname", "slug"] },
  figma: { keys: [...base, ...name, "avatar_url"] },
  fly: {
    keys: [...base, "full_name"],
    custom: ["application", "created_at", "organizations", "resource_owner_id", "scope"],
  },
  github: { keys: [...base, ...name, "avatar_url", "preferred_username", "user_name"] },
  gitlab: { keys: [...base, ...name, ...picture] },
  google: { keys: [...base, ...name, ...picture] },
  kakao: { keys: [...base, ...name, "avatar_url", "preferred_username", "user_name"] },
  keycloak: {
    keys: [...base, ...name],
    custom: ["family_name", "given_name", "preferred_username"],
  },
  linkedin: { keys: [...base, ...name, ...picture] },
  linkedin_oidc: { keys: [...base, "name", "family_name", "given_name", "locale", "picture"] },
  notion: { keys: [...base, ...name, ...picture] },
  slack: { keys: [...base, ...name, ...picture], custom: ["https://slack.com/team_id"] },
  slack_oidc: { keys: [...base, ...name, ...picture], custom: ["https://slack.com/team_id"] },
  snapchat: { keys: [...base, ...name, ...picture, "slug"] },
  spotify: { keys: [...base, ...name, ...picture] },
  twitch: {
    keys: [...base, ...name, ...picture, "nickname", "slug"],
    custom: ["broadcaster_type", "description", "offline_image_url", "type", "view_count"],
  },
  twitter: { keys: [...base, ...name, ...picture, "preferred_username", "user_name"] },
  vercel_marketplace: { keys: [...base, "name", "picture"] },
  workos: { keys: [...base, ...name], custom: ["connection_id", "organization_id"] },
  x: {
    keys: [...base, ...name, ...picture, "preferred_username", "profile", "user_name"],
    custom: ["created_at"],
  },
  zoom: { keys: [...base, ...name, ...picture] },
};

/** Providers that return an address without saying that it is verified; the account must confirm it. */
const withoutVerification = ["figma", "fly", "linkedin", "notion", "snapchat", "spotify", "workos"];

let folder: string;
let server: Selvedge;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-development-sign-in-"));
  const sections = Object.keys(providers).map(
    (provider) => `[auth.external.${provider}]\nenabled = true\nclient_id = ""\nsecret = ""\n`,
  );
  await writeFile(
    join(folder, "config.toml"),
    `project_id = "looms"\n[auth]\nsite_url = "http://127.0.0.1:3000"\nenable_manual_linking = true\n[auth.email]\nenable_confirmations = true\n${sections.join("")}`,
  );
  server = await startSelvedge(folder);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

const target = "http://127.0.0.1:3000";

/** A client that keeps its session and its PKCE verifier in memory. */
function application(flowType: "implicit" | "pkce" = "implicit"): SupabaseClient {
  const stored = new Map<string, string>();
  return createClient(server.apiUrl, anonKey, {
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
    auth: {
      flowType,
      autoRefreshToken: false,
      storage: {
        getItem: (key) => stored.get(key) ?? null,
        setItem: (key, value) => void stored.set(key, value),
        removeItem: (key) => void stored.delete(key),
      },
    },
  });
}

/** The URL to which the button of an application leads. */
async function startUrl(
  app: SupabaseClient,
  provider: string,
  options: { scopes?: string; queryParams?: Record<string, string> } = {},
): Promise<string> {
  const { data, error } = await app.auth.signInWithOAuth({
    provider: provider as Provider,
    options: { ...options, redirectTo: target, skipBrowserRedirect: true },
  });
  expect(error).toBeNull();
  return data.url ?? "";
}

const fragment = (url: URL) => Object.fromEntries(new URLSearchParams(url.hash.slice(1)));

/** The session that an implicit sign-in has put into the URL. */
async function readSession(app: SupabaseClient, url: URL) {
  const tokens = fragment(url);
  expect(tokens, url.href).toHaveProperty("access_token");
  const { data, error } = await app.auth.setSession({
    access_token: tokens.access_token ?? "",
    refresh_token: tokens.refresh_token ?? "",
  });
  expect(error).toBeNull();
  return { user: data.user, tokens };
}

/** Confirms the address of an account by the link that was mailed there. */
async function confirmAddress(email: string): Promise<void> {
  const read = async <T>(path: string) => (await (await fetch(server.inboxUrl + path)).json()) as T;
  const query = encodeURIComponent(`to:"${email}"`);
  const find = () => read<{ messages: { ID: string }[] }>(`/api/v1/search?query=${query}`);
  // It is sent after the answer.
  await expect.poll(async () => (await find()).messages.length).toBeGreaterThan(0);
  const [newest] = (await find()).messages;
  const { Text } = await read<{ Text: string }>(`/api/v1/message/${newest?.ID}`);
  const link = Text.match(/http\S+\/verify\?\S+/)?.[0] ?? "";
  const opened = await fetch(link, { redirect: "manual" });
  expect(opened.headers.get("location")).toContain("access_token");
}

const newPerson = (fields: Record<string, unknown> = {}) =>
  savePerson(server.inboxUrl, {
    name: "Ana Lind",
    email: `ana-${randomUUID().slice(0, 12)}@example.com`,
    ...fields,
  });

describe("every provider", () => {
  test.each(Object.entries(providers))(
    "%s signs in from the button to the session",
    async (provider, known) => {
      const person = await newPerson();
      const app = application();

      const url = () => startUrl(app, provider, known.scopes ? { scopes: known.scopes } : {});

      let back = await signInAs(await url(), person.id);

      if (withoutVerification.includes(provider)) {
        expect(back.searchParams.get("error_code")).toBe("provider_email_needs_verification");
        await confirmAddress(person.email ?? "");
        back = await signInAs(await url(), person.id);
      }
      const { user, tokens } = await readSession(app, back);
      expect(user?.email).toBe(person.email);
      expect(user?.app_metadata).toMatchObject({ provider, providers: [provider] });
      expect(tokens.provider_token).toBeTruthy();
      const metadata = { ...user?.user_metadata };
      const { custom_claims: custom = {}, ...members } = metadata;
      expect(Object.keys(members).sort()).toEqual([...known.keys].sort());
      expect(Object.keys(custom).sort()).toEqual(known.custom ?? []);
      expect(String(metadata.iss)).not.toContain("127.0.0.1");
    },
  );
});

test("a PKCE client exchanges the code and gets the provider's tokens", async () => {
  const person = await newPerson();
  const app = application("pkce");
  const url = await startUrl(app, "google", {
    scopes: "openid email profile",
    queryParams: { access_type: "offline", prompt: "consent" },
  });

  const back = await signInAs(url, person.id);
  const { data, error } = await app.auth.exchangeCodeForSession(
    back.searchParams.get("code") ?? "",
  );

  expect(error).toBeNull();
  expect(data.session).toMatchObject({ user: { email: person.email } });
  expect(data.session?.provider_refresh_token).toBeTruthy();
  // The provider's token is refreshed where the application would refresh it with Google.
  const refreshed = await fetch(`${server.inboxUrl}/sign-in/google/oauth2.googleapis.com/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "refresh_token",
      client_id: "dev",
      client_secret: "",
      refresh_token: data.session?.provider_refresh_token ?? "",
    }),
  });
  const token = ((await refreshed.json()) as { access_token: string }).access_token;
  const userinfo = await fetch(
    `${server.inboxUrl}/sign-in/google/openidconnect.googleapis.com/v1/userinfo`,
    {
      headers: { authorization: `Bearer ${token}` },
    },
  );
  expect(await userinfo.json()).toMatchObject({ email: person.email, email_verified: true });
});

test("dev_person chooses a person without the page, and login_hint and prompt reach the provider", async () => {
  const person = await newPerson();
  const app = application();
  const url = await startUrl(app, "github", { queryParams: { dev_person: person.email ?? "" } });

  const page = await fetch(url, { redirect: "manual" });
  const chosen = await fetch(page.headers.get("location") ?? "", { redirect: "manual" });
  const callback = await fetch(chosen.headers.get("location") ?? "", { redirect: "manual" });

  const back = new URL(callback.headers.get("location") ?? "");
  expect((await readSession(app, back)).user?.email).toBe(person.email);
  const silent = await startUrl(application(), "google", { queryParams: { prompt: "none" } });
  const refused = await fetch(
    (await fetch(silent, { redirect: "manual" })).headers.get("location") ?? "",
    {
      redirect: "manual",
    },
  );
  expect(refused.headers.get("location")).toContain("error=login_required");
});

test("someone new is added by the page, and is known afterwards", async () => {
  const email = `new-${randomUUID().slice(0, 12)}@example.com`;
  const fields = {
    person: "new",
    name: "Nora <b>New</b>",
    email,
    email_verified: "on",
    provider_id: "4242",
  };
  const first = application();

  const { user } = await readSession(
    first,
    await choose(await openPage(await startUrl(first, "gitlab")), fields),
  );
  const page = await openPage(await startUrl(application(), "gitlab"));

  expect(user?.user_metadata).toMatchObject({ name: "Nora <b>New</b>", provider_id: "4242" });
  // Markup in a name is text on the page.
  expect(page.html).toContain("Nora &lt;b&gt;New&lt;/b&gt;");
  expect(page.html).not.toContain("<b>New");
});

test.each([
  ["cancelled", "access_denied", null],
  ["provider_error", "server_error", null],
  ["code_used_twice", "server_error", "unexpected_failure"],
  ["expired", "server_error", "unexpected_failure"],
  ["no_email", "server_error", "unexpected_failure"],
  ["unverified_email", "access_denied", "provider_email_needs_verification"],
])("a sign-in with the outcome %s fails as with a real provider", async (outcome, error, code) => {
  const person = await newPerson();

  const back = await signInAs(await startUrl(application(), "google"), person.id, outcome);

  expect(back.searchParams.get("error")).toBe(error);
  expect(back.searchParams.get("error_code")).toBe(code);
  expect(fragment(back).error).toBe(error);
});

test("a slow provider delays the sign-in by four seconds, and the person is signed in", async () => {
  const person = await newPerson();
  const app = application();
  const url = await startUrl(app, "google");
  const begun = performance.now();

  const back = await signInAs(url, person.id, "slow");

  // The clock of this process may differ by a few milliseconds from the one that measures the pause.
  expect(performance.now() - begun).toBeGreaterThanOrEqual(3_900);
  expect((await readSession(app, back)).user?.email).toBe(person.email);
});

test("identities of two providers are linked and unlinked", async () => {
  const [ana, other] = [await newPerson(), await newPerson({ name: "Ana at work" })];
  const app = application();
  await readSession(app, await signInAs(await startUrl(app, "google"), ana.id));

  const { data, error } = await app.auth.linkIdentity({
    provider: "github",
    options: { redirectTo: target, skipBrowserRedirect: true },
  });
  expect(error).toBeNull();
  await readSession(app, await signInAs(data.url ?? "", other.id));
  const linked = (await app.auth.getUserIdentities()).data?.identities ?? [];
  expect(linked.map(({ provider }) => provider).sort()).toEqual(["github", "google"]);

  const github = linked.find(({ provider }) => provider === "github");
  expect(github && (await app.auth.unlinkIdentity(github)).error).toBeNull();
  const left = (await app.auth.getUserIdentities()).data?.identities ?? [];
  expect(left.map(({ provider }) => provider)).toEqual(["google"]);
});

test.each([
  "google",
  "apple",
  "azure",
  "facebook",
  "kakao",
  "keycloak",
  "snapchat",
  "vercel_marketplace",
])("an ID token of %s signs in, and one with another nonce does not", async (provider) => {
  const person = await newPerson();
  const issue = async (nonce: string) => {
    const response = await fetch(`${server.inboxUrl}/sign-in/api/id-token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ provider, person: person.email, nonce }),
    });
    return ((await response.json()) as { id_token: string }).id_token;
  };
  const signIn = (token: string, nonce: string) =>
    client(anonKey, server.apiUrl).auth.signInWithIdToken({ provider, token, nonce });

  let right = await signIn(await issue("a nonce"), "a nonce");

  // These tokens do not say whether the address is verified.
  if (["kakao", "snapchat"].includes(provider)) {
    expect(right.error?.code).toBe("provider_email_needs_verification");
    await confirmAddress(person.email ?? "");
    right = await signIn(await issue("a nonce"), "a nonce");
  }
  expect(right.error).toBeNull();
  expect(right.data.user?.email).toBe(person.email);
  // Facebook's tokens have no nonce that could be compared.
  if (provider !== "facebook") {
    const wrong = await signIn(await issue("a nonce"), "another");
    expect(wrong.error?.message).toContain("Nonces mismatch");
  }
});

describe("attacks", () => {
  test("the page sends nobody to a callback that is not registered", async () => {
    const start = await fetch(await startUrl(application(), "google"), { redirect: "manual" });
    const page = new URL(start.headers.get("location") ?? "");
    for (const [parameter, value] of [
      ["redirect_uri", "https://evil.example/steal"],
      ["redirect_uri", `${server.apiUrl}/auth/v1/callback.evil.example`],
      ["client_id", "somebody-else"],
    ] as const) {
      const changed = new URL(page);
      changed.searchParams.set(parameter, value);
      const refused = await fetch(changed, { redirect: "manual" });
      expect(refused.status, value).toBe(400);
      expect(refused.headers.get("location")).toBeNull();
    }
  });

  test("a state that was swapped or used before signs nobody in", async () => {
    const person = await newPerson();
    const start = await fetch(await startUrl(application(), "google"), { redirect: "manual" });
    const page = new URL(start.headers.get("location") ?? "");
    const swapped = new URL(page);
    swapped.searchParams.set("state", randomUUID());

    const back = await signInAs(swapped.href, person.id);

    expect(back.searchParams.get("error_code")).toBe("bad_oauth_state");
    expect(fragment(back)).not.toHaveProperty("access_token");
  });

  test("the page is not answered under another Host", async () => {
    const { port } = new URL(server.inboxUrl);
    const status = await new Promise((resolve, reject) => {
      request(
        { host: "127.0.0.1", port, path: "/sign-in/google", headers: { host: "evil.example" } },
        (response) => resolve(response.resume().statusCode),
      )
        .on("error", reject)
        .end();
    });

    expect(status).toBe(403);
  });

  test("another site cannot use the API for people, nor choose on a page", async () => {
    const people = await fetch(`${server.inboxUrl}/sign-in/api/people`, {
      method: "POST",
      headers: { "content-type": "text/plain", origin: "https://evil.example" },
      body: JSON.stringify({ name: "Eve", email: "eve@evil.example" }),
    });
    const chosen = await fetch(`${server.inboxUrl}/sign-in/google/choose`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({
        request: "guessed",
        person: "new",
        name: "Eve",
        email: "eve@evil.example",
      }),
    });

    expect(people.status).toBeGreaterThanOrEqual(400);
    expect(people.headers.get("access-control-allow-origin")).toBeNull();
    expect(chosen.status).toBe(400);
  });
});

test("serve sends people to the real providers, whatever the settings say", async () => {
  const names = Object.keys(providers);
  const credentials = names.flatMap((provider) => {
    const variable = `SUPABASE_AUTH_EXTERNAL_${provider.toUpperCase()}`;
    return [
      [`${variable}_CLIENT_ID`, "production"],
      [`${variable}_SECRET`, "dev"],
    ];
  });
  const [port = 0] = await freePorts(1);
  const node = await startNode(folder, port, {
    ...generateKeys(folder),
    ...Object.fromEntries(credentials),
    DATABASE_URL: server.databaseUrl,
    SELVEDGE_DEV_SIGN_IN_ENABLED: "true",
    SELVEDGE_DEV_SIGN_IN_PROVIDERS: names.join(","),
    SUPABASE_LOCAL_SMTP_ENABLED: "true",
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    // Google, Apple and Keycloak are asked for their endpoints first, and Twitter for a token.
    for (const provider of names.filter(
      (one) => !["google", "apple", "keycloak", "twitter"].includes(one),
    )) {
      const response = await fetch(`${url}/auth/v1/authorize?provider=${provider}`, {
        redirect: "manual",
      });
      const { protocol, hostname } = new URL(response.headers.get("location") ?? "");
      expect(protocol, provider).toBe("https:");
      expect(hostname, provider).toContain(".");
      expect(hostname, provider).not.toBe("127.0.0.1");
    }
    expect((await fetch(`${url}/sign-in/google`)).status).toBe(404);
  } finally {
    await stop(node, "SIGTERM");
  }
});

test("a provider identity is linked to the password account of its address, and the start lists the local providers", async () => {
  const email = `taken-${randomUUID().slice(0, 12)}@example.com`;
  const { admin } = client(serviceKey, server.apiUrl).auth;
  const { data } = await admin.createUser({ email, password, email_confirm: true });
  const person = await newPerson({ email });

  const { user } = await readSession(
    application(),
    await signInAs(await startUrl(application(), "google"), person.id),
  );

  expect(user?.id).toBe(data.user?.id);
  expect([...(user?.app_metadata.providers ?? [])].sort()).toEqual(["email", "google"]);
  expect(server.output()).toContain("auth.external.google is answered on this machine");
});
