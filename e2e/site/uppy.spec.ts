// Resumable uploads with the stock Uppy in a real browser, on a page of another origin, configured as in Supabase's guide.
// Uses a separate server, because one test kills it.

import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type Page, test } from "@playwright/test";
import { build } from "vite";
import { localKey, localToken } from "../support/clients.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";
import type { Application, UploadOutcome, UploadRequest } from "./uppy/page.ts";

const chunk = 6 * 1024 * 1024;
const user = randomUUID();
const session = localToken({ role: "authenticated", sub: user, aud: "authenticated" });

let folder: string;
let server: Selvedge;
let elsewhere: Server;

test.describe.configure({ mode: "serial" });

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-uppy-"));
  await writeFile(join(folder, "config.toml"), '[storage]\nfile_size_limit = "50MiB"\n');
  await mkdir(join(folder, "migrations"));
  await writeFile(
    join(folder, "migrations/20260101000000_files.sql"),
    `insert into storage.buckets (id, name, file_size_limit) values ('files', 'files', 40000000);
     create policy own on storage.objects to authenticated
       using (bucket_id = 'files' and owner_id = auth.uid()::text)
       with check (bucket_id = 'files' and (storage.foldername(name))[1] = auth.uid()::text);`,
  );
  server = await startSelvedge(folder);
  const script = await bundle();
  // The page is served from loopback too, because browsers block requests from public pages to 127.0.0.1.
  elsewhere = createServer((request, response) => {
    if (request.url === "/page.js") {
      response.setHeader("content-type", "text/javascript").end(script);
    } else {
      response
        .setHeader("content-type", "text/html")
        .end('<link rel=icon href=data:,><script src="/page.js"></script>');
    }
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
});

test.afterAll(async () => {
  elsewhere?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function bundle(): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    build: {
      write: false,
      lib: {
        entry: join(import.meta.dirname, "uppy/page.ts"),
        formats: ["iife"],
        name: "page",
        fileName: "page",
      },
    },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const output = [built].flat()[0];
  const script = output && "output" in output ? output.output[0] : undefined;
  if (!script) {
    throw new Error("Vite made no script");
  }
  return script.code;
}

/** Opens the page with Uppy and records its upload requests: method, and Upload-Offset if sent. */
async function open(page: Page): Promise<{ asked: string[] }> {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/upload/resumable") && request.method() !== "OPTIONS") {
      const offset = request.headers()["upload-offset"];
      asked.push(offset === undefined ? request.method() : `${request.method()} ${offset}`);
    }
  });
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
  return { asked };
}

/** Limits the page's upload speed, in bytes per second; -1 removes the limit. */
async function limitUpload(page: Page, uploadThroughput: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput,
  });
}

/** `reached` resolves when this many bytes have been uploaded. */
async function watchProgress(page: Page, bytes: number): Promise<{ reached: Promise<void> }> {
  let arrived = () => {};
  const reached = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  await page.exposeFunction("onProgress", (count: number) => {
    if (count >= bytes) {
      arrived();
    }
  });
  return { reached };
}

function uploadRequest(name: string, more: Partial<UploadRequest> = {}): UploadRequest {
  return {
    endpoint: `${server.apiUrl}/storage/v1/upload/resumable`,
    headers: { authorization: `Bearer ${session}`, apikey: localKey("anon") },
    objectName: `${user}/${name}`,
    size: 2 * chunk + 12_345,
    cacheControl: "3600",
    ...more,
  };
}

function upload(page: Page, asked: UploadRequest): Promise<UploadOutcome> {
  return page.evaluate((asked) => {
    const { application } = globalThis as unknown as { application: Application };
    return application.upload(asked);
  }, asked);
}

function togglePause(page: Page): Promise<void> {
  return page.evaluate(() => {
    const { application } = globalThis as unknown as { application: Application };
    application.togglePause();
  });
}

async function fetchStored(name: string): Promise<Response> {
  return fetch(`${server.apiUrl}/storage/v1/object/authenticated/files/${user}/${name}`, {
    headers: { authorization: `Bearer ${session}` },
  });
}

/** Downloads an object, compares every byte, and returns the response. */
async function expectStored(name: string, size: number): Promise<Response> {
  const response = await fetchStored(name);
  expect(response.status).toBe(200);
  const expected = Buffer.from(new Uint8Array(size).map((_, at) => (at * 31 + (at >> 12)) % 251));
  expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true);
  return response;
}

const done: UploadOutcome = { successful: 1, refusals: [] };

test("store_087 Uppy uploads in chunks of 6 MiB, the first with the creation", {
  tag: "@once",
}, async ({ page }) => {
  const { asked } = await open(page);

  const metadata = JSON.stringify({ place: "Köln" });
  expect(await upload(page, uploadRequest("chunks", { metadata }))).toEqual(done);

  expect(asked).toEqual(["POST", `PATCH ${chunk}`, `PATCH ${2 * chunk}`]);
  const response = await expectStored("chunks", 2 * chunk + 12_345);
  expect(response.headers.get("content-type")).toBe("video/mp4");
  expect(response.headers.get("cache-control")).toBe("max-age=3600");
  const info = await fetch(`${server.apiUrl}/storage/v1/object/info/files/${user}/chunks`, {
    headers: { authorization: `Bearer ${session}` },
  });
  expect(await info.json()).toMatchObject({ metadata: { place: "Köln" } });
});

test('store_087 metadata fields that Uppy sends as "undefined" are ignored', {
  tag: "@once",
}, async ({ page }) => {
  await open(page);
  const { cacheControl: _, ...bare } = uploadRequest("bare", { size: 1000 });

  expect(await upload(page, bare)).toEqual(done);

  const response = await expectStored("bare", 1000);
  expect(response.headers.get("cache-control")).toBe("no-cache");
});

test("store_089 a paused upload resumes at its offset", { tag: "@once" }, async ({ page }) => {
  const { asked } = await open(page);
  await limitUpload(page, chunk);
  const { reached } = await watchProgress(page, chunk + 1_000_000);

  const uploading = upload(page, uploadRequest("paused"));
  await reached;
  await togglePause(page);
  await limitUpload(page, -1);
  await togglePause(page);

  expect(await uploading).toEqual(done);
  await expectStored("paused", 2 * chunk + 12_345);
  expect(asked.filter((request) => request === "POST")).toHaveLength(1);
  expect(asked).toContain("HEAD");
});

test("store_089 an upload survives kill -9 of the server in the middle of a chunk", {
  tag: "@once",
}, async ({ page }) => {
  test.slow();
  const { asked } = await open(page);
  await limitUpload(page, chunk);
  const { reached } = await watchProgress(page, chunk + 2_000_000);

  const uploading = upload(page, uploadRequest("killed"));
  await reached;
  await server.kill();
  await limitUpload(page, -1);
  await server.restart();

  expect(await uploading).toEqual(done);
  await expectStored("killed", 2 * chunk + 12_345);
  // Only one upload was created, and no acknowledged byte is sent again.
  expect(asked.filter((request) => request === "POST")).toHaveLength(1);
  const resumed = asked.slice(asked.lastIndexOf("HEAD") + 1);
  expect(Number(resumed[0]?.replace("PATCH ", ""))).toBeGreaterThanOrEqual(chunk);
});

test("store_088 store_090 existing, forbidden and too large objects are refused with the reason", {
  tag: "@once",
}, async ({ page }) => {
  await open(page);
  const small = { size: 5000 };
  expect(await upload(page, uploadRequest("taken", small))).toEqual(done);

  // Uppy retries after a 409, because it may be a lock conflict that passes.
  const refusal = async (asked: UploadRequest) =>
    (await upload(page, { ...asked, retryDelays: [0] })).refusals;
  expect(await refusal(uploadRequest("taken", small))).toEqual([
    [409, "The resource already exists"],
  ]);
  expect(await refusal(uploadRequest("x", { ...small, objectName: "elsewhere/x" }))).toEqual([
    [403, "new row violates row-level security policy"],
  ]);
  expect(await refusal(uploadRequest("large", { size: 40_000_001 }))).toEqual([
    [413, "Maximum size exceeded\n"],
  ]);

  const upsert = { ...uploadRequest("taken").headers, "x-upsert": "true" };
  expect(await upload(page, uploadRequest("taken", { headers: upsert, size: chunk + 7 }))).toEqual(
    done,
  );
  await expectStored("taken", chunk + 7);
});

test("store_090 a signed upload needs no session", { tag: "@once" }, async ({ page }) => {
  await open(page);
  const signed = await fetch(
    `${server.apiUrl}/storage/v1/object/upload/sign/files/${user}/signed`,
    { method: "POST", headers: { authorization: `Bearer ${session}` } },
  );
  const { token } = (await signed.json()) as { token: string };

  const size = chunk + 99;
  const ticket = {
    endpoint: `${server.apiUrl}/storage/v1/upload/resumable/sign`,
    headers: { "x-signature": token, apikey: localKey("anon") },
    size,
  };
  expect(await upload(page, uploadRequest("signed", ticket))).toEqual(done);
  await expectStored("signed", size);

  const other = await upload(page, uploadRequest("another", { ...ticket, size: 10 }));
  expect(other.refusals).toEqual([[400, "Invalid signature"]]);
});
