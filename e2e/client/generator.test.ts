// Generated pictures with an HTTP generator of the project: what it gets, what it delivers, and that a crash of the server in
// between loses nothing. The rules of the site's own table are in rls/generated-pictures.test.ts.

import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { client, serviceKey } from "../support/clients.ts";
import { picture, png } from "../support/files.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const patience = { timeout: 60_000, interval: 50 };
const secret = Buffer.from("a secret of this generator").toString("base64");

interface PictureRequest {
  id: string;
  pictures: { role: string; label: string | null; url: string }[];
  callback: { token: string; picture_url: string; progress_url: string; failure_url: string };
}

interface Call {
  headers: Record<string, string | string[] | undefined>;
  text: string;
  request: PictureRequest;
}

const calls: Call[] = [];
let generator: Server;
let project: ProjectFolder;
let server: Selvedge;
let service: SupabaseClient;

/** A picture as a generator makes it. */
const made = readFileSync(new URL("../../sql/app/seed/avatars/aiko.webp", import.meta.url));

/** The table of docs/generator.md. */
const migration = `
create table public.pictures (
  id uuid primary key default gen_random_uuid(),
  status text not null default 'queued',
  attempts int not null default 0,
  max_attempts int not null default 3,
  progress smallint not null default 0,
  error text,
  input jsonb not null,
  run_after timestamptz not null default now(),
  lease_until timestamptz,
  callback_token_hash bytea,
  result_bucket text not null,
  result_folder text not null,
  result_name text,
  result_is_preview boolean,
  started_at timestamptz,
  finished_at timestamptz
);
alter table public.pictures enable row level security;
grant all on public.pictures to service_role;
`;

beforeAll(async () => {
  generator = createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    request.on("end", () => {
      calls.push({ headers: request.headers, text, request: JSON.parse(text) });
      response.writeHead(202).end();
    });
  });
  await new Promise<void>((ready) => generator.listen(0, "127.0.0.1", ready));
  const { port } = generator.address() as AddressInfo;
  project = await makeProject("generator", migration);
  server = await startSelvedge(project.path, [], {
    SELVEDGE_GENERATOR_TABLE: "public.pictures",
    SELVEDGE_GENERATOR_URL: `http://127.0.0.1:${port}/generate`,
    SELVEDGE_GENERATOR_SECRETS: `v1,whsec_${secret}`,
  });
  service = client(serviceKey, server.apiUrl);
  for (const name of ["photos", "results"]) {
    await service.storage.createBucket(name, { public: false });
  }
  const uploaded = await service.storage.from("photos").upload("ana/1.png", picture(), png);
  expect(uploaded.error).toBeNull();
});

afterAll(async () => {
  await server?.stop();
  await project?.remove();
  generator?.close();
});

/** Queues a job and waits until the generator has been called for it. */
async function queueJob(): Promise<{ id: string; call: Call }> {
  const { data, error } = await service
    .from("pictures")
    .insert({
      input: {
        details: { title: "Harbour walk" },
        sources: [{ role: "person", bucket: "photos", name: "ana/1.png", label: "Ana" }],
      },
      result_bucket: "results",
      result_folder: "ana",
    })
    .select("id")
    .single();
  expect(error).toBeNull();
  const id: string = data?.id;
  const call = await vi.waitFor(() => {
    const found = calls.find(({ request }) => request.id === id);
    if (found === undefined) throw new Error("the generator was not called");
    return found;
  }, patience);
  return { id, call };
}

const readJob = async (id: string) =>
  (await service.from("pictures").select().eq("id", id).single()).data;

function deliver(url: string, token: string, body: Buffer): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "image/webp" },
    body: new Uint8Array(body),
  });
}

test("a generator gets a signed request with links that work, and delivers one picture", async () => {
  const { id, call } = await queueJob();
  const { headers, text, request } = call;

  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`;
  const key = Buffer.from(secret, "base64");
  const signature = createHmac("sha256", key).update(signed).digest("base64");
  expect(headers["webhook-signature"]).toBe(`v1,${signature}`);
  const photo = await fetch(request.pictures[0]?.url ?? "");
  expect(Buffer.from(await photo.arrayBuffer())).toEqual(picture());

  const { token, picture_url, progress_url } = request.callback;
  const reported = await fetch(progress_url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ progress: 35 }),
  });
  expect(reported.status).toBe(200);
  expect(await readJob(id)).toMatchObject({ status: "running", progress: 35 });
  const first = await deliver(picture_url, token, made);
  expect([first.status, await first.json()]).toEqual([200, { status: "succeeded" }]);
  const replayed = await deliver(picture_url, token, made);
  expect(replayed.status).toBe(401);

  const job = await readJob(id);
  expect(job).toMatchObject({ status: "succeeded", result_is_preview: false, progress: 100 });
  const stored = await service.storage.from("results").download(job?.result_name);
  expect(Buffer.from((await stored.data?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(made);
  expect(stored.data?.type).toBe("image/webp");
});

test("what a generator delivers must be a picture", async () => {
  const { id, call } = await queueJob();
  const { token, picture_url, failure_url } = call.request.callback;

  const script = Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>");
  expect((await deliver(picture_url, token, script)).status).toBe(422);
  expect((await deliver(picture_url, token, picture())).status).toBe(422);
  const failed = await fetch(failure_url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ message: "Nobody is visible in the photo." }),
  });

  expect(await failed.json()).toEqual({ status: "failed" });
  expect(await readJob(id)).toMatchObject({
    status: "failed",
    error: "Nobody is visible in the photo.",
  });
});

test("a picture that arrives after the server was killed and started again is accepted", async () => {
  const { id, call } = await queueJob();
  const { token, picture_url } = call.request.callback;
  await vi.waitFor(async () => {
    // The answer to the request has been recorded when the lease is longer than an attempt.
    const lease = Date.parse((await readJob(id))?.lease_until);
    expect(lease - Date.now()).toBeGreaterThan(600_000);
  }, patience);

  await server.kill();
  await server.restart();
  const delivered = await deliver(picture_url, token, made);

  expect(delivered.status).toBe(200);
  expect(await readJob(id)).toMatchObject({ status: "succeeded", attempts: 1 });
});

test("metrics count attempts and calls", async () => {
  const { call } = await queueJob();
  await deliver(call.request.callback.picture_url, "0".repeat(64), made);
  await deliver(call.request.callback.picture_url, call.request.callback.token, made);

  await vi.waitFor(async () => {
    const metrics = await (await fetch(`${server.apiUrl}/metrics`)).text();
    expect(metrics).toContain('selvedge_generator_attempts_total{outcome="sent"} 1');
    expect(metrics).toContain('selvedge_generator_callbacks_total{outcome="accepted"}');
    expect(metrics).toContain('selvedge_generator_callbacks_total{outcome="refused"} 1');
  }, patience);
});
