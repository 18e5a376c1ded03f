// Uppy itself in a real browser, on a page of another origin, as Supabase's guide to resumable uploads sets it up, against
// a server of its own: one of these journeys kills it.

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
import type { Application, Outcome, Wish } from "./uppy/page.ts";

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
  // A page of this machine: browsers let none from elsewhere ask for 127.0.0.1.
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

/** A page with Uppy on it, and what it asks of the server. */
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

/** Lets no more than this many bytes a second out of the page. */
async function slow(page: Page, uploadThroughput: number): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput,
  });
}

/** Resolves once when this many bytes have left the page. */
async function sent(page: Page, bytes: number): Promise<{ reached: Promise<void> }> {
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

function wish(name: string, more: Partial<Wish> = {}): Wish {
  return {
    endpoint: `${server.apiUrl}/storage/v1/upload/resumable`,
    headers: { authorization: `Bearer ${session}`, apikey: localKey("anon") },
    objectName: `${user}/${name}`,
    size: 2 * chunk + 12_345,
    cacheControl: "3600",
    ...more,
  };
}

function upload(page: Page, asked: Wish): Promise<Outcome> {
  return page.evaluate((asked) => {
    const { application } = globalThis as unknown as { application: Application };
    return application.upload(asked);
  }, asked);
}

function pauseOrResume(page: Page): Promise<void> {
  return page.evaluate(() => {
    const { application } = globalThis as unknown as { application: Application };
    application.pauseOrResume();
  });
}

async function stored(name: string): Promise<Response> {
  return fetch(`${server.apiUrl}/storage/v1/object/authenticated/files/${user}/${name}`, {
    headers: { authorization: `Bearer ${session}` },
  });
}

/** Reads an object back and compares each byte. */
async function expectStored(name: string, size: number): Promise<Response> {
  const answer = await stored(name);
  expect(answer.status).toBe(200);
  const expected = Buffer.from(new Uint8Array(size).map((_, at) => (at * 31 + (at >> 12)) % 251));
  expect(Buffer.from(await answer.arrayBuffer()).equals(expected)).toBe(true);
  return answer;
}

const done: Outcome = { successful: 1, refusals: [] };

test("store_087 Uppy uploads in chunks of 6 MiB, the first with the creation", {
  tag: "@once",
}, async ({ page }) => {
  const { asked } = await open(page);

  const metadata = JSON.stringify({ place: "Köln" });
  expect(await upload(page, wish("chunks", { metadata }))).toEqual(done);

  expect(asked).toEqual(["POST", `PATCH ${chunk}`, `PATCH ${2 * chunk}`]);
  const answer = await expectStored("chunks", 2 * chunk + 12_345);
  expect(answer.headers.get("content-type")).toBe("video/mp4");
  expect(answer.headers.get("cache-control")).toBe("max-age=3600");
  const info = await fetch(`${server.apiUrl}/storage/v1/object/info/files/${user}/chunks`, {
    headers: { authorization: `Bearer ${session}` },
  });
  expect(await info.json()).toMatchObject({ metadata: { place: "Köln" } });
});

test('store_087 fields that Uppy knows nothing of arrive as "undefined" and mean nothing', {
  tag: "@once",
}, async ({ page }) => {
  await open(page);
  const { cacheControl: _, ...bare } = wish("bare", { size: 1000 });

  expect(await upload(page, bare)).toEqual(done);

  const answer = await expectStored("bare", 1000);
  expect(answer.headers.get("cache-control")).toBe("no-cache");
});

test("store_089 a paused upload goes on where it was", { tag: "@once" }, async ({ page }) => {
  const { asked } = await open(page);
  await slow(page, chunk);
  const { reached } = await sent(page, chunk + 1_000_000);

  const uploading = upload(page, wish("paused"));
  await reached;
  await pauseOrResume(page);
  await slow(page, -1);
  await pauseOrResume(page);

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
  await slow(page, chunk);
  const { reached } = await sent(page, chunk + 2_000_000);

  const uploading = upload(page, wish("killed"));
  await reached;
  await server.kill();
  await slow(page, -1);
  await server.revive();

  expect(await uploading).toEqual(done);
  await expectStored("killed", 2 * chunk + 12_345);
  // One upload, and nothing that was acknowledged is sent again.
  expect(asked.filter((request) => request === "POST")).toHaveLength(1);
  const resumed = asked.slice(asked.lastIndexOf("HEAD") + 1);
  expect(Number(resumed[0]?.replace("PATCH ", ""))).toBeGreaterThanOrEqual(chunk);
});

test("store_088 store_090 what is taken, forbidden or too large is refused with its reason", {
  tag: "@once",
}, async ({ page }) => {
  await open(page);
  const small = { size: 5000 };
  expect(await upload(page, wish("taken", small))).toEqual(done);

  // Uppy tries again after 409, which may also mean a conflict that passes.
  const refusal = async (asked: Wish) =>
    (await upload(page, { ...asked, retryDelays: [0] })).refusals;
  expect(await refusal(wish("taken", small))).toEqual([[409, "The resource already exists"]]);
  expect(await refusal(wish("x", { ...small, objectName: "elsewhere/x" }))).toEqual([
    [403, "new row violates row-level security policy"],
  ]);
  expect(await refusal(wish("large", { size: 40_000_001 }))).toEqual([
    [413, "Maximum size exceeded\n"],
  ]);

  const upsert = { ...wish("taken").headers, "x-upsert": "true" };
  expect(await upload(page, wish("taken", { headers: upsert, size: chunk + 7 }))).toEqual(done);
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
  expect(await upload(page, wish("signed", ticket))).toEqual(done);
  await expectStored("signed", size);

  const other = await upload(page, wish("another", { ...ticket, size: 10 }));
  expect(other.refusals).toEqual([[400, "Invalid signature"]]);
});
