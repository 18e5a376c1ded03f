// A file in a bucket never runs a script in the origin of the API, whatever type it was stored with, on every way in and every way out.
//
// Browsers decide by more than a type's name, so this asks a browser. `make test` walks the best known types by two ways, `make test-all`
// (EVERY_SCREEN) all of them by all ways.

import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { test as base, expect } from "@playwright/test";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import WebSocket from "ws";
import { activeTypes, commonActiveTypes } from "../support/active-types.ts";
import { localS3Keys, serviceKey } from "../support/clients.ts";
import { makeProject } from "../support/project.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const migration = "insert into storage.buckets (id, name, public) values ('open', 'open', true);";
const everything = process.env.EVERY_SCREEN !== undefined;

const test = base.extend<object, { server: Selvedge }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of fixtures from the pattern.
    async ({}, use) => {
      const project = await makeProject("stored-scripts", migration);
      const server = await startSelvedge(project.path);
      await use(server);
      await server.stop();
      await project.remove();
    },
    { scope: "worker", timeout: 120_000 },
  ],
});

const script = "document.documentElement.setAttribute('ran', self.origin)";
const bodies = {
  html: `<!doctype html><html><body><script>${script}</script></body></html>`,
  svg: `<svg xmlns="http://www.w3.org/2000/svg"><script>${script}</script></svg>`,
  xhtml: `<html xmlns="http://www.w3.org/1999/xhtml"><body><script>${script}</script></body></html>`,
};

type WayIn = (key: string, type: string, body: string) => Promise<boolean>;

/** The ways by which a client gives a file its type; each says whether the server took it. */
function waysIn(server: Selvedge, client: SupabaseClient, s3: S3Client): Record<string, WayIn> {
  const storage = `${server.apiUrl}/storage/v1`;
  const authorization = `Bearer ${serviceKey}`;
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  return {
    async body(key, type, body) {
      const headers = { authorization, "content-type": type, "x-upsert": "true" };
      return (await fetch(`${storage}/object/open/${key}`, { method: "POST", headers, body })).ok;
    },
    async "old row"(key, type, body) {
      const stored = await client.storage
        .from("open")
        .upload(key, body, { contentType: "text/plain", upsert: true });
      if (stored.error !== null) throw stored.error;
      const literal = `'${JSON.stringify(type).replaceAll("'", "''")}'::jsonb`;
      const query = `update storage.objects set metadata = jsonb_set(metadata, '{mimetype}', ${literal}) where name = '${key}'`;
      const answer = await fetch(`${server.apiUrl}/pg/query`, {
        method: "POST",
        headers: { apikey: serviceKey, authorization, "content-type": "application/json" },
        body: JSON.stringify({ query }),
      });
      expect(answer.status, await answer.text()).toBeLessThan(300);
      return true;
    },
    async form(key, type, body) {
      // Written by hand, because FormData mends the types of its parts.
      const part = `--x\r\nContent-Disposition: form-data; name=""; filename="f"\r\nContent-Type: ${type}\r\n\r\n${body}\r\n--x--\r\n`;
      const headers = {
        authorization,
        "content-type": "multipart/form-data; boundary=x",
        "x-upsert": "true",
      };
      return (await fetch(`${storage}/object/open/${key}`, { method: "POST", headers, body: part }))
        .ok;
    },
    async resumable(key, type, body) {
      const names = { bucketName: "open", objectName: key, contentType: type };
      const metadata = Object.entries(names).map(([name, value]) => `${name} ${base64(value)}`);
      const headers = {
        authorization,
        "tus-resumable": "1.0.0",
        "upload-length": String(body.length),
        "upload-metadata": metadata.join(","),
        "content-type": "application/offset+octet-stream",
        "x-upsert": "true",
      };
      return (await fetch(`${storage}/upload/resumable`, { method: "POST", headers, body })).ok;
    },
    async s3(key, type, body) {
      const put = new PutObjectCommand({ Bucket: "open", Key: key, Body: body, ContentType: type });
      return s3.send(put).then(
        () => true,
        () => false,
      );
    },
    async copy(key, type, body) {
      const source = `source-${key}`;
      await client.storage
        .from("open")
        .upload(source, body, { contentType: "text/plain", upsert: true });
      const copy = {
        bucketId: "open",
        sourceKey: source,
        destinationKey: key,
        copyMetadata: false,
        metadata: { mimetype: type },
      };
      const headers = { authorization, "content-type": "application/json", "x-upsert": "true" };
      return (
        await fetch(`${storage}/object/copy`, {
          method: "POST",
          headers,
          body: JSON.stringify(copy),
        })
      ).ok;
    },
  };
}

test("store_037 no type of a stored file runs a script in a browser @once", async ({
  page,
  server,
}) => {
  test.setTimeout(everything ? 600_000 : 120_000);
  const client = createClient(server.apiUrl, serviceKey, {
    auth: { persistSession: false },
    // Node 20 has no built-in WebSocket.
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
  const s3 = new S3Client({
    endpoint: `${server.apiUrl}/storage/v1/s3`,
    region: "local",
    forcePathStyle: true,
    credentials: localS3Keys,
  });
  const ways = Object.entries(waysIn(server, client, s3)).slice(0, everything ? undefined : 2);
  const types = everything ? activeTypes : commonActiveTypes;
  const accepted: string[] = [];
  let at = 0;
  for (const type of types) {
    for (const [way, put] of ways) {
      at += 1;
      const kind = /svg/i.test(type) ? "svg" : /html$|html[^+]/i.test(type) ? "html" : "xhtml";
      const key = `file-${at}`;
      if (!(await put(key, type, bodies[kind]))) continue;
      accepted.push(`${type} by ${way}`);
      const signed = await client.storage.from("open").createSignedUrl(key, 600);
      const presigned = await getSignedUrl(s3, new GetObjectCommand({ Bucket: "open", Key: key }));
      const urls = [
        `${server.apiUrl}/storage/v1/object/public/open/${key}`,
        signed.data?.signedUrl ?? "",
        presigned,
      ];
      for (const url of everything ? urls : urls.slice(0, 1)) {
        // What is downloaded, and what the browser does not show, runs nothing.
        await page.goto(url).catch(() => undefined);
        const ran = await page.evaluate(
          () => document.documentElement?.getAttribute("ran") ?? null,
        );
        expect(ran, `${type} by ${way}, ${url}`).toBeNull();
        await page.goto("about:blank");
      }
    }
  }
  // The walk means nothing if nothing was stored.
  expect(accepted.length).toBeGreaterThan(types.length);

  // A document of the browser's own does run it, so that the walk would see a script.
  await page.setContent(bodies.html);
  expect(await page.evaluate(() => document.documentElement.getAttribute("ran"))).not.toBeNull();
});
