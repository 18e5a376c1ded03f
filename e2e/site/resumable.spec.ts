// A resumable upload in a real browser with the stock bundle of tus-js-client, from a page of another origin.

import { createHash, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { apiUrl } from "../support/address.ts";
import { expect, test } from "./journey.ts";

const bundle = join(
  dirname(createRequire(import.meta.url).resolve("tus-js-client/package.json")),
  "dist/tus.min.js",
);

/** Globals of the bundle. */
interface Bundle {
  tus: {
    Upload: new (
      blob: Blob,
      options: Record<string, unknown>,
    ) => { start(): void; abort(): Promise<void> };
  };
}

test("store_087 store_089 an upload from a page of another origin resumes after an interruption", {
  tag: "@once",
}, async ({ page, person }) => {
  const { data } = await person.client.auth.getSession();
  const path = `${person.id}/${randomUUID()}.webp`;
  // The page is served from loopback too, because browsers block requests from public pages to 127.0.0.1.
  const otherOrigin = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<link rel=icon href=data:,>");
  });
  await new Promise<void>((resolve) => otherOrigin.listen(0, "127.0.0.1", resolve));
  await page.goto(`http://127.0.0.1:${(otherOrigin.address() as AddressInfo).port}/`);
  await page.addScriptTag({ path: bundle });

  const interruptions = await page.evaluate(
    async ({ endpoint, token, path }) => {
      const { tus } = globalThis as unknown as Bundle;
      const bytes = new Uint8Array(4_000_000).map((_, at) => (at * 31) % 251);
      const blob = new Blob([bytes], { type: "image/webp" });
      let interruptions = 0;
      await new Promise<void>((resolve, reject) => {
        const upload = new tus.Upload(blob, {
          endpoint,
          retryDelays: [0, 100, 500],
          headers: { authorization: `Bearer ${token}`, "x-upsert": "false" },
          uploadDataDuringCreation: false,
          removeFingerprintOnSuccess: true,
          chunkSize: 1_500_000,
          metadata: {
            bucketName: "avatars",
            objectName: path,
            contentType: "image/webp",
            cacheControl: "3600",
          },
          // Aborts once, in the middle of the second chunk.
          onProgress: (sent: number) => {
            if (interruptions === 0 && sent > 1_500_000) {
              interruptions += 1;
              void upload.abort().then(() => upload.start());
            }
          },
          onSuccess: () => resolve(),
          onError: reject,
        });
        upload.start();
      });
      return interruptions;
    },
    {
      endpoint: `${apiUrl()}/storage/v1/upload/resumable`,
      token: data.session?.access_token ?? "",
      path,
    },
  );

  otherOrigin.close();

  const stored = await person.client.storage.from("avatars").download(path);
  const expected = Buffer.from(new Uint8Array(4_000_000).map((_, at) => (at * 31) % 251));
  const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
  expect(interruptions).toBe(1);
  expect(stored.error).toBeNull();
  expect(digest(Buffer.from((await stored.data?.arrayBuffer()) ?? new ArrayBuffer()))).toBe(
    digest(expected),
  );
});
