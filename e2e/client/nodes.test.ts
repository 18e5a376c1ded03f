// Two nodes with one database and one object store: changes through one are visible at the other within a second, and a
// restart behind a load balancer fails no request.

import { randomBytes, randomUUID } from "node:crypto";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startBalancer } from "../support/balancer.ts";
import { client, localS3Keys, password, serviceKey } from "../support/clients.ts";
import { type Cluster, type Killable, startCluster } from "../support/cluster.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import {
  readSamlForm,
  type SamlProvider,
  samlSettings,
  startSamlProvider,
} from "../support/saml-provider.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import { TestSmtpServer } from "../support/smtp-server.ts";

/** Changes through one node must be visible at the other within this time. */
const knownWithin = { timeout: 1_000, interval: 20 };
/** How long a stopping node still accepts requests. The balancer notices the stop within a tenth of a second. */
const drainDelay = "1s";
/** How often one of the nodes is restarted under load. */
const restarts = Number(process.env.SELVEDGE_RESTARTS ?? 2);
/** Clients that send requests meanwhile. */
const writers = 8;

const migration = `
  create table public.notes (id uuid primary key);
  grant select, insert on public.notes to anon, authenticated;
  create function public.add_table(name text) returns void language plpgsql security definer as $$
  begin
    execute format('create table public.%I (id int)', name);
    execute format('grant select on public.%I to anon', name);
  end $$;
  create function public.count_notes() returns bigint language sql security definer
    as $$ select count(*) from public.notes $$;
`;

let storeProject: ProjectFolder;
let store: Selvedge;
let smtp: TestSmtpServer;
let cluster: Cluster;
let first: Killable;
let second: Killable;

beforeAll(async () => {
  // The S3 server of both nodes is a third instance, whose storage speaks S3.
  storeProject = await makeProject("store", "select 1");
  store = await startSelvedge(storeProject.path);
  const { error } = await client(serviceKey, store.apiUrl).storage.createBucket("objects");
  expect(error).toBeNull();
  smtp = await TestSmtpServer.open({ disabledCommands: ["STARTTLS", "AUTH"] });
  cluster = await startCluster(migration, {
    SELVEDGE_S3_BUCKET: "objects",
    SELVEDGE_S3_ENDPOINT: `${store.apiUrl}/storage/v1/s3`,
    SELVEDGE_S3_REGION: "local",
    SELVEDGE_S3_ACCESS_KEY_ID: localS3Keys.accessKeyId,
    SELVEDGE_S3_SECRET_ACCESS_KEY: localS3Keys.secretAccessKey,
    SUPABASE_AUTH_EMAIL_SMTP_PORT: `${smtp.port}`,
    SUPABASE_AUTH_RATE_LIMIT_EMAIL_SENT: "1000",
    SUPABASE_AUTH_RATE_LIMIT_SIGN_IN_SIGN_UPS: "10000",
    SUPABASE_AUTH_RATE_LIMIT_TOKEN_VERIFICATIONS: "10000",
    SELVEDGE_DRAIN_DELAY: drainDelay,
    ...samlSettings(),
    // Responses are addressed to the name that both nodes share, and not to the port of one of them.
    GOTRUE_SAML_EXTERNAL_URL: "https://api.nodes.test/auth/v1",
  });
  [first, second] = cluster.nodes;
  await cluster.untilHealthy();
});

afterAll(async () => {
  await cluster?.stop();
  await smtp?.close();
  await store?.stop();
  await storeProject?.remove();
});

const visitorOf = (node: Killable) => client(cluster.publishableKey, node.url);
const ownerOf = (node: Killable) => client(cluster.secretKey, node.url);
const newEmail = () => `person-${randomUUID().slice(0, 12)}@nodes.test`;

/** Makes a user by one node, and signs them in there. */
async function signIn(
  node: Killable,
): Promise<{ client: SupabaseClient; id: string; token: string }> {
  const email = newEmail();
  const made = await ownerOf(node).auth.admin.createUser({ email, password, email_confirm: true });
  expect(made.error).toBeNull();
  const person = visitorOf(node);
  const { data, error } = await person.auth.signInWithPassword({ email, password });
  expect(error).toBeNull();
  return { client: person, id: data.user?.id ?? "", token: data.session?.access_token ?? "" };
}

test("a session of one node is known to the other, and its end, too", async () => {
  const person = await signIn(first);
  const elsewhere = visitorOf(second);
  expect((await elsewhere.auth.getUser(person.token)).data.user?.id).toBe(person.id);

  expect((await person.client.auth.signOut()).error).toBeNull();

  await vi.waitFor(async () => {
    const { error } = await elsewhere.auth.getUser(person.token);
    // The stock client's error for the code `session_not_found`.
    expect(error?.name).toBe("AuthSessionMissingError");
  }, knownWithin);
});

test("a user whom one node deletes is refused by the other", async () => {
  const person = await signIn(first);
  const elsewhere = visitorOf(second);
  expect((await elsewhere.auth.getUser(person.token)).error).toBeNull();

  expect((await ownerOf(first).auth.admin.deleteUser(person.id)).error).toBeNull();

  await vi.waitFor(async () => {
    expect((await elsewhere.auth.getUser(person.token)).error?.status).toBe(403);
  }, knownWithin);
});

test("a one-time token that both nodes get at once works at one of them", async () => {
  for (let round = 0; round < 5; round += 1) {
    const email = newEmail();
    const { admin } = ownerOf(first).auth;
    expect((await admin.createUser({ email, email_confirm: true })).error).toBeNull();
    const link = await admin.generateLink({ type: "magiclink", email });
    const token_hash = link.data.properties?.hashed_token ?? "";

    const answers = await Promise.all(
      [first, second].map((node) =>
        visitorOf(node).auth.verifyOtp({ type: "magiclink", token_hash }),
      ),
    );

    expect(answers.filter(({ data }) => data.session !== null)).toHaveLength(1);
  }
});

test("a refresh token that both nodes get at once gives one and the same successor", async () => {
  const person = await signIn(first);
  const session = (await person.client.auth.getSession()).data.session;
  const refresh_token = session?.refresh_token ?? "";

  const answers = await Promise.all(
    [first, second].map((node) => visitorOf(node).auth.refreshSession({ refresh_token })),
  );

  const successors = answers.map(({ data }) => data.session?.refresh_token);
  expect(successors[0]).toBeDefined();
  expect(new Set(successors).size).toBe(1);
});

test("an assertion that both nodes get at once signs in at one of them", async () => {
  const domain = `${randomUUID()}.test`;
  const provider = await addSamlProvider(domain);
  try {
    for (let round = 0; round < 3; round += 1) {
      // Asked for at one node, which stores the relay state for both.
      const sso = await visitorOf(first).auth.signInWithSSO({ domain });
      expect(sso.error).toBeNull();
      const asked = await readSamlForm(sso.data?.url ?? "");
      // An unsolicited response, so that only the record of used assertions prevents the second use.
      const unasked = await readSamlForm(provider.startUrl);
      for (const form of [asked, unasked]) {
        const locations = await Promise.all(
          [first, second].map((node) => postSamlForm(node, form)),
        );

        expect(locations.filter((location) => location.includes("access_token="))).toHaveLength(1);
        expect(locations.filter((location) => location.includes("error_code="))).toHaveLength(1);
        // A later use is refused as well, also by the node that did not sign the user in.
        for (const node of [first, second]) {
          expect(await postSamlForm(node, form)).toContain("error_code=");
        }
      }
    }
  } finally {
    await provider.stop();
  }
});

/** Starts an identity provider and makes it that of a domain. */
async function addSamlProvider(domain: string): Promise<SamlProvider> {
  const provider = await startSamlProvider(first.url, `ada@${domain}`);
  const added = await fetch(`${first.url}/auth/v1/admin/sso/providers`, {
    method: "POST",
    headers: {
      apikey: cluster.secretKey,
      authorization: `Bearer ${cluster.secretKey}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ type: "saml", metadata_xml: provider.metadata, domains: [domain] }),
  });
  expect(added.status, await added.clone().text()).toBe(201);
  return provider;
}

/** Posts a response to a node as the browser does, and returns the URL to which the node redirects. */
async function postSamlForm(node: Killable, form: URLSearchParams): Promise<string> {
  const url = `${node.url}/auth/v1/sso/saml/acs`;
  const answer = await fetch(url, { method: "POST", body: form, redirect: "manual" });
  return answer.headers.get("location") ?? `status ${answer.status}`;
}

test("both nodes send each mail of the queue they share once", async () => {
  const emails = Array.from({ length: 20 }, newEmail);

  const sent = await Promise.all(
    emails.map((email, index) => {
      const node = index % 2 === 0 ? first : second;
      return visitorOf(node).auth.signInWithOtp({ email });
    }),
  );

  expect(sent.filter(({ error }) => error !== null)).toEqual([]);
  await vi.waitFor(() => expect(smtp.recipients).toEqual(expect.arrayContaining(emails)), 30_000);
  const ours = smtp.mails.filter((mail) => emails.includes(mail.to));
  expect(ours).toHaveLength(emails.length);
});

test("an upload begun on one node is continued on the other", async () => {
  const bytes = randomBytes(300_000);
  const bucket = await makeBucket();
  const encode = (text: string) => Buffer.from(text).toString("base64");
  const headers = { authorization: `Bearer ${cluster.secretKey}`, "tus-resumable": "1.0.0" };
  const begun = await fetch(`${first.url}/storage/v1/upload/resumable`, {
    method: "POST",
    headers: {
      ...headers,
      apikey: cluster.secretKey,
      "upload-length": `${bytes.length}`,
      "upload-metadata": `bucketName ${encode(bucket)},objectName ${encode("a.bin")}`,
    },
  });
  expect(begun.status).toBe(201);
  const path = new URL(begun.headers.get("location") ?? "", first.url).pathname;

  let offset = 0;
  for (const node of [second, first, second]) {
    const chunk = bytes.subarray(offset, offset + 100_000);
    const patched = await fetch(`${node.url}${path}`, {
      method: "PATCH",
      headers: {
        ...headers,
        apikey: cluster.secretKey,
        "content-type": "application/offset+octet-stream",
        "upload-offset": `${offset}`,
      },
      body: new Uint8Array(chunk),
    });
    expect(patched.status).toBe(204);
    offset += chunk.length;
  }

  const { data } = await ownerOf(first).storage.from(bucket).download("a.bin");
  expect(Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer()).equals(bytes)).toBe(true);
});

test("a URL that one node has signed opens at the other, until one of them deletes the object", async () => {
  const bucket = await makeBucket();
  await ownerOf(first).storage.from(bucket).upload("a.txt", "hello");
  const signed = await ownerOf(first).storage.from(bucket).createSignedUrl("a.txt", 60);
  const url = (signed.data?.signedUrl ?? "").replace(first.url, second.url);
  expect(await (await fetch(url)).text()).toBe("hello");

  await ownerOf(first).storage.from(bucket).remove(["a.txt"]);

  expect((await fetch(url)).status).toBe(400);
});

test("a table that is made through one node is found by the other", async () => {
  const name = `made_${Date.now()}`;
  expect((await visitorOf(second).from(name).select()).error?.code).toBe("PGRST205");

  expect((await ownerOf(first).rpc("add_table", { name })).error).toBeNull();

  await vi.waitFor(async () => {
    expect((await visitorOf(second).from(name).select()).error).toBeNull();
  }, knownWithin);
});

test("a node that is restarted under load costs no request", {
  timeout: restarts * 60_000,
}, async () => {
  const balancer = await startBalancer([first.url, second.url]);
  const failures: string[] = [];
  let written = 0;
  let isGoing = true;
  const write = async () => {
    while (isGoing) {
      const { error, status } = await client(cluster.publishableKey, balancer.url)
        .from("notes")
        .insert({ id: randomUUID() });
      if (error === null) {
        written += 1;
      } else {
        failures.push(`${status} ${error.message}`);
      }
    }
  };
  const load = Array.from({ length: writers }, write);

  for (let restart = 0; restart < restarts; restart += 1) {
    const node = restart % 2 === 0 ? first : second;
    await node.stop();
    await node.start();
    await cluster.untilHealthy();
    // The balancer has to notice, or no node would be left when the other one stops.
    await balancer.untilAllReady();
  }
  isGoing = false;
  await Promise.all(load);
  await balancer.stop();

  expect(failures).toEqual([]);
  expect(written).toBeGreaterThan(100);
  expect((await visitorOf(first).rpc("count_notes")).data).toBe(written);
});

async function makeBucket(): Promise<string> {
  const name = `bucket-${randomUUID()}`;
  const { error } = await ownerOf(first).storage.createBucket(name);
  expect(error).toBeNull();
  return name;
}
