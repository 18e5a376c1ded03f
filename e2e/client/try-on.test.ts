// The endpoint of docs/examples/try-on, as it is: a function of the project that dresses a person with a service that is rented or run. Both
// services are servers of this test that answer as their documentation records it (docs.fashn.ai, Cog's http.md).

import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, join, resolve } from "node:path";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { client, serviceKey } from "../support/clients.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const patience = { timeout: 60_000, interval: 50 };
const modules = resolve(import.meta.dirname, "../node_modules");
const secrets = `v1,whsec_${Buffer.from("a secret of this generator").toString("base64")}`;
const predictionId = "123a87r9-4129-4bb3-be18-9c9fb5bd7fc1-u1";

let services: Server;
let address: string;
let project: ProjectFolder;
let server: Selvedge;
let service: SupabaseClient;
let photo: Buffer;
let made: Buffer;
/** Which of the two services the function is told to use. */
let chosen = "fashn";
/** What FASHN has been asked for, and how often it has been asked whether it is ready. */
const runs: { model_name: string; inputs: Record<string, string> }[] = [];
let polls = 0;
/** How a picture ends at FASHN in place of being completed. */
let ending: string | undefined;
const predictions: Record<string, string>[] = [];

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Whether a link leads to a picture that the service could download. */
async function isPicture(url: string | undefined): Promise<boolean> {
  const found = await fetch(url ?? "");
  return found.ok && (found.headers.get("content-type") ?? "").startsWith("image/");
}

async function serveFashn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.headers.authorization !== "Bearer fa-key") {
    const message = "Unauthorized: Invalid token";
    return answer(response, 401, { error: "UnauthorizedAccess", message });
  }
  if (request.url === "/v1/run") {
    const run = JSON.parse((await readBody(request)).toString());
    runs.push(run);
    polls = 0;
    return answer(response, 200, { id: predictionId, error: null });
  }
  polls += 1;
  const inputs = runs.at(-1)?.inputs;
  if (polls === 1)
    return answer(response, 200, { id: predictionId, status: "processing", error: null });
  if (ending !== undefined)
    return answer(response, 200, { id: predictionId, status: ending, error: null });
  if (!(await isPicture(inputs?.model_image)) || !(await isPicture(inputs?.garment_image))) {
    const error = {
      name: "ImageLoadError",
      message: "Error loading model image: Invalid URL format",
    };
    return answer(response, 200, { id: predictionId, status: "failed", error });
  }
  const output = [`${address}/cdn/output_0.webp`];
  answer(response, 200, { id: predictionId, status: "completed", output, error: null });
}

async function serveCog(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { input } = JSON.parse((await readBody(request)).toString());
  predictions.push(input);
  const output = `data:image/webp;base64,${made.toString("base64")}`;
  answer(response, 200, { input, output, status: "succeeded", error: null });
}

/** The generator's address is one of this test, because the server's port is not known before it starts. */
async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const names = ["webhook-id", "webhook-timestamp", "webhook-signature", "content-type"];
  const headers = Object.fromEntries(names.map((name) => [name, String(request.headers[name])]));
  const body = new Uint8Array(await readBody(request));
  const url = `${server.apiUrl}/functions/v1/try-on?with=${chosen}`;
  const { status } = await fetch(url, { method: "POST", headers, body });
  response.writeHead(status).end();
}

beforeAll(async () => {
  const seed = new URL("../../sql/app/seed/", import.meta.url);
  photo = await readFile(new URL("avatars/mira.webp", seed));
  made = await readFile(new URL("avatars/aiko.webp", seed));
  services = createServer((request, response) => {
    const url = request.url ?? "";
    if (url.startsWith("/v1/")) void serveFashn(request, response);
    else if (url === "/predictions") void serveCog(request, response);
    else if (url === "/generate") void passOn(request, response);
    else response.writeHead(200, { "content-type": "image/webp" }).end(made);
  });
  await new Promise<void>((ready) => services.listen(0, "127.0.0.1", ready));
  address = `http://127.0.0.1:${(services.address() as AddressInfo).port}`;

  const table = new URL("../../crates/generator/tests/generator/table.sql", import.meta.url);
  project = await makeProject("try-on", await readFile(table, "utf8"));
  const functions = join(project.path, "functions");
  await mkdir(functions);
  await cp(resolve(import.meta.dirname, "../../docs/examples/try-on"), join(functions, "try-on"), {
    recursive: true,
  });
  const variables = { FASHN_URL: address, FASHN_API_KEY: "fa-key", COG_URL: address };
  const lines = Object.entries({ GENERATOR_SECRETS: secrets, ...variables });
  await writeFile(
    join(functions, ".env"),
    lines.map(([name, value]) => `${name}="${value}"\n`).join(""),
  );
  const config = `project_id = "try-on"\n\n[functions.try-on]\nverify_jwt = false\n`;
  await writeFile(join(project.path, "config.toml"), config);
  server = await startSelvedge(project.path, [], {
    PATH: [join(modules, ".bin"), process.env.PATH].join(delimiter),
    SELVEDGE_FUNCTIONS_CACHE_DIR: join(modules, ".cache/deno"),
    SELVEDGE_GENERATOR_TABLE: "public.pictures",
    SELVEDGE_GENERATOR_URL: `${address}/generate`,
    SELVEDGE_GENERATOR_SECRETS: secrets,
    SELVEDGE_GENERATOR_RETRY_PAUSE: "100ms",
  });
  service = client(serviceKey, server.apiUrl);
  await service.storage.createBucket("pictures", { public: false });
  for (const name of ["ana.webp", "shirt.webp", "jeans.webp", "boots.webp"]) {
    const { error } = await service.storage
      .from("pictures")
      .upload(name, photo, { contentType: "image/webp" });
    expect(error).toBeNull();
  }
});

afterAll(async () => {
  await server?.stop();
  await project?.remove();
  services?.close();
});

/** Asks for a picture of these items, and waits until the job has ended. */
async function askFor(items: Record<string, string>) {
  const source = (role: string, name: string, label: string | null) => ({
    role,
    bucket: "pictures",
    name,
    label,
  });
  const sources = [
    source("person", "ana.webp", null),
    ...Object.entries(items).map(([name, label]) => source("item", name, label)),
  ];
  const row = { input: { sources }, result_bucket: "pictures", result_folder: "ana" };
  const { data, error } = await service.from("pictures").insert(row).select("id").single();
  expect(error).toBeNull();
  return vi.waitFor(async () => {
    const job = (await service.from("pictures").select().eq("id", data?.id).single()).data;
    expect(["succeeded", "failed"]).toContain(job?.status);
    return job;
  }, patience);
}

async function expectMade(name: string): Promise<void> {
  const stored = await service.storage.from("pictures").download(name);
  expect(Buffer.from((await stored.data?.arrayBuffer()) ?? new ArrayBuffer(0))).toEqual(made);
}

test("FASHN dresses the person in one garment after the other, and shoes are left out", async () => {
  chosen = "fashn";
  const job = await askFor({
    "shirt.webp": "Linen shirt",
    "boots.webp": "Chelsea boots",
    "jeans.webp": "Straight jeans",
  });

  expect(job).toMatchObject({ status: "succeeded", result_is_preview: false, error: null });
  await expectMade(job?.result_name);
  expect(runs.map(({ model_name }) => model_name)).toEqual(["tryon-v1.6", "tryon-v1.6"]);
  expect(runs[0]?.inputs.model_image).toContain("/pictures/ana.webp");
  expect(runs[0]?.inputs.garment_image).toContain("/pictures/shirt.webp");
  // The second garment is put on the picture with the first.
  expect(runs[1]?.inputs.model_image).toBe(`${address}/cdn/output_0.webp`);
  expect(runs[1]?.inputs.garment_image).toContain("/pictures/jeans.webp");
});

test("a picture that ends in a state that FASHN does not document has failed", async () => {
  chosen = "fashn";
  ending = "canceled";
  const job = await askFor({ "shirt.webp": "Linen shirt" });
  ending = undefined;

  expect(job).toMatchObject({
    status: "failed",
    error: "The picture could not be drawn with Linen shirt.",
  });
});

test("a model in a container is called with the part of the body, and returns the picture itself", async () => {
  chosen = "cog";
  const job = await askFor({ "jeans.webp": "Straight jeans" });

  expect(job).toMatchObject({ status: "succeeded", result_is_preview: false });
  await expectMade(job?.result_name);
  expect(predictions).toMatchObject([{ garment_des: "Straight jeans", category: "lower_body" }]);
});

test("an outfit of which nothing is worn says so, and a request that nobody has signed is refused", async () => {
  const job = await askFor({ "boots.webp": "Chelsea boots" });
  expect(job).toMatchObject({
    status: "failed",
    error: "The outfit has nothing that can be tried on.",
    attempts: 1,
  });

  const url = `${server.apiUrl}/functions/v1/try-on?with=fashn`;
  const headers = {
    "webhook-id": "1",
    "webhook-timestamp": String(Math.floor(Date.now() / 1000)),
    "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")}`,
  };
  const forged = await fetch(url, { method: "POST", headers, body: "{}" });
  expect(forged.status).toBe(401);
});
