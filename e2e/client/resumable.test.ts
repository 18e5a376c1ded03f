// Resumable uploads with tus-js-client, configured as in Supabase's guide and as Uppy configures it.

import { randomBytes, randomUUID } from "node:crypto";
import { DetailedError, Upload, type UploadOptions } from "tus-js-client";
import { beforeAll, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { type Person, signUp, visitor } from "../support/clients.ts";

/** The chunk size that the hosted platform requires. */
const chunkSize = 6 * 1024 * 1024;

let person: Person;
let token: string;

beforeAll(async () => {
  person = await signUp();
  token = (await person.client.auth.getSession()).data.session?.access_token ?? "";
});

function options(path: string, more: Partial<UploadOptions> = {}): UploadOptions {
  return {
    endpoint: `${apiUrl()}/storage/v1/upload/resumable`,
    retryDelays: [0, 200, 500],
    headers: { authorization: `Bearer ${token}`, "x-upsert": "false" },
    uploadDataDuringCreation: true,
    removeFingerprintOnSuccess: true,
    metadata: {
      bucketName: "avatars",
      objectName: path,
      contentType: "image/webp",
      cacheControl: "3600",
      metadata: JSON.stringify({ taken: "at noon" }),
    },
    chunkSize,
    ...more,
  };
}

/** Uploads all bytes. */
function upload(bytes: Buffer, settings: UploadOptions): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      ...settings,
      onSuccess: () => resolve(upload),
      onError: reject,
    });
    upload.start();
  });
}

async function download(path: string): Promise<Buffer> {
  const { data, error } = await person.client.storage.from("avatars").download(path);
  expect(error).toBeNull();
  return Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer());
}

const newPath = () => `${person.id}/${randomUUID()}.webp`;

test("store_087 store_092 a file uploaded in chunks keeps its content, type and metadata", async () => {
  const [path, bytes] = [newPath(), randomBytes(4_500_000)];

  const finished = await upload(bytes, options(path, { chunkSize: 1_000_000 }));

  expect(finished.url).toMatch(`${apiUrl()}/storage/v1/upload/resumable/`);
  expect((await download(path)).equals(bytes)).toBe(true);
  const { data } = await person.client.storage.from("avatars").info(path);
  expect(data).toMatchObject({
    size: bytes.length,
    contentType: "image/webp",
    cacheControl: "max-age=3600",
    metadata: { taken: "at noon" },
  });
});

test("store_087 a file of one chunk and an empty file", async () => {
  for (const bytes of [randomBytes(70_000), Buffer.alloc(0)]) {
    const path = newPath();
    await upload(bytes, options(path));
    expect((await download(path)).equals(bytes)).toBe(true);
  }
});

test("store_089 an interrupted upload resumes at its offset", async () => {
  const [path, bytes] = [newPath(), randomBytes(4_000_000)];
  const address = await new Promise<string>((resolve, reject) => {
    const upload = new Upload(bytes, {
      ...options(path, { chunkSize: 1_000_000, uploadDataDuringCreation: false }),
      onError: reject,
      onChunkComplete: (_size, accepted) => {
        if (accepted >= 2_000_000) {
          void upload.abort().then(() => resolve(upload.url ?? ""));
        }
      },
    });
    upload.start();
  });

  const offsets: number[] = [];
  await upload(
    bytes,
    options(path, {
      uploadUrl: address,
      chunkSize: 1_000_000,
      onChunkComplete: (size, accepted) => offsets.push(accepted - size),
    }),
  );

  expect(offsets[0]).toBeGreaterThanOrEqual(2_000_000);
  expect((await download(path)).equals(bytes)).toBe(true);
});

test("store_090 a signed upload needs no session", async () => {
  const [path, bytes] = [newPath(), randomBytes(300_000)];
  const { data } = await person.client.storage.from("avatars").createSignedUploadUrl(path);

  await upload(bytes, {
    ...options(path),
    endpoint: `${apiUrl()}/storage/v1/upload/resumable/sign`,
    headers: { "x-signature": data?.token ?? "" },
  });

  expect((await download(path)).equals(bytes)).toBe(true);
});

test("store_088 store_090 errors have plain text bodies", async () => {
  const refusal = async (path: string, bytes: Buffer, more: Partial<UploadOptions> = {}) => {
    const settings = options(path, { retryDelays: null, ...more });
    const error = await upload(bytes, settings).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const response = error instanceof DetailedError ? error.originalResponse : null;
    return [response?.getStatus(), response?.getBody()];
  };
  const taken = newPath();
  await upload(randomBytes(10), options(taken));

  expect(await refusal(`${randomUUID()}/x.webp`, randomBytes(10))).toEqual([
    403,
    "new row violates row-level security policy",
  ]);
  expect(await refusal(newPath(), randomBytes(6_000_000))).toEqual([
    413,
    "Maximum size exceeded\n",
  ]);
  expect(await refusal(taken, randomBytes(10))).toEqual([409, "The resource already exists"]);
  const html = { bucketName: "avatars", objectName: newPath(), contentType: "text/html" };
  expect(await refusal(newPath(), randomBytes(10), { metadata: html })).toEqual([
    415,
    "mime type text/html is not supported",
  ]);
});

test("store_091 a terminated upload leaves no object", async () => {
  const path = newPath();
  const upload = await new Promise<Upload>((resolve, reject) => {
    const started = new Upload(randomBytes(3_000_000), {
      ...options(path, { chunkSize: 500_000 }),
      onError: reject,
      onChunkComplete: () => {
        void started.abort(true).then(() => resolve(started));
      },
    });
    started.start();
  });

  const after = await fetch(upload.url ?? "", {
    method: "HEAD",
    headers: { authorization: `Bearer ${token}`, "tus-resumable": "1.0.0" },
  });
  expect([404, 410]).toContain(after.status);
  expect((await visitor().storage.from("avatars").exists(path)).data).toBe(false);
});
