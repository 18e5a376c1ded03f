// Resumable uploads in a real browser, from a page of another origin, as Uppy does them: tus-js-client's own bundle,
// a Blob, chunks of 6 MiB, the metadata that Uppy's plug-in allows.

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

/** What the bundle puts on the page. */
interface Bundle {
  tus: {
    Upload: new (
      blob: Blob,
      options: Record<string, unknown>,
    ) => { start(): void; abort(): Promise<void> };
  };
}

test("store_087 store_089 a browser of another origin uploads, and goes on after an interruption", {
  tag: "@once",
}, async ({ page, person }) => {
  const { data } = await person.client.auth.getSession();
  const path = `${person.id}/${randomUUID()}.webp`;
  // A page of this machine: browsers let none from elsewhere ask for 127.0.0.1.
  const elsewhere = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<link rel=icon href=data:,>");
  });
  await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`);
  await page.addScriptTag({ path: bundle });

  const attempts = await page.evaluate(
    async ({ endpoint, token, path }) => {
      const { tus } = globalThis as unknown as Bundle;
      const bytes = new Uint8Array(4_000_000).map((_, at) => (at * 31) % 251);
      const blob = new Blob([bytes], { type: "image/webp" });
      let broken = 0;
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
          // The connection breaks once, in the middle of the second chunk.
          onProgress: (sent: number) => {
            if (broken === 0 && sent > 1_500_000) {
              broken += 1;
              void upload.abort().then(() => upload.start());
            }
          },
          onSuccess: () => resolve(),
          onError: reject,
        });
        upload.start();
      });
      return broken;
    },
    {
      endpoint: `${apiUrl()}/storage/v1/upload/resumable`,
      token: data.session?.access_token ?? "",
      path,
    },
  );

  elsewhere.close();

  const stored = await person.client.storage.from("avatars").download(path);
  const expected = Buffer.from(new Uint8Array(4_000_000).map((_, at) => (at * 31) % 251));
  const digest = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
  expect(attempts).toBe(1);
  expect(stored.error).toBeNull();
  expect(digest(Buffer.from((await stored.data?.arrayBuffer()) ?? new ArrayBuffer()))).toBe(
    digest(expected),
  );
});
