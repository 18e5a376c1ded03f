// Resumable uploads through tus-js-client, as Supabase's guide sets it up, and with the options that Uppy passes to it.

import { randomBytes, randomUUID } from "node:crypto";
import { DetailedError, Upload, type UploadOptions } from "tus-js-client";
import { beforeAll, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { type Person, signUp, visitor } from "../support/clients.ts";

/** The chunk that clients of the hosted platform must use. */
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

/** Runs an upload to its end. */
function run(bytes: Buffer, settings: UploadOptions): Promise<Upload> {
  return new Promise((resolve, reject) => {
    const upload = new Upload(bytes, {
      ...settings,
      onSuccess: () => resolve(upload),
      onError: reject,
    });
    upload.start();
  });
}

async function stored(path: string): Promise<Buffer> {
  const { data, error } = await person.client.storage.from("avatars").download(path);
  expect(error).toBeNull();
  return Buffer.from((await data?.arrayBuffer()) ?? new ArrayBuffer());
}

const own = () => `${person.id}/${randomUUID()}.webp`;

test("store_087 store_092 a file arrives in chunks, with what was said of it", async () => {
  const [path, bytes] = [own(), randomBytes(4_500_000)];

  const upload = await run(bytes, options(path, { chunkSize: 1_000_000 }));

  expect(upload.url).toMatch(`${apiUrl()}/storage/v1/upload/resumable/`);
  expect((await stored(path)).equals(bytes)).toBe(true);
  const { data } = await person.client.storage.from("avatars").info(path);
  expect(data).toMatchObject({
    size: bytes.length,
    contentType: "image/webp",
    cacheControl: "max-age=3600",
    metadata: { taken: "at noon" },
  });
});

test("store_087 one chunk, and none at all", async () => {
  for (const bytes of [randomBytes(70_000), Buffer.alloc(0)]) {
    const path = own();
    await run(bytes, options(path));
    expect((await stored(path)).equals(bytes)).toBe(true);
  }
});

test("store_089 an upload that was interrupted goes on where it was", async () => {
  const [path, bytes] = [own(), randomBytes(4_000_000)];
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
  await run(
    bytes,
    options(path, {
      uploadUrl: address,
      chunkSize: 1_000_000,
      onChunkComplete: (size, accepted) => offsets.push(accepted - size),
    }),
  );

  expect(offsets[0]).toBeGreaterThanOrEqual(2_000_000);
  expect((await stored(path)).equals(bytes)).toBe(true);
});

test("store_090 a signed upload needs no session", async () => {
  const [path, bytes] = [own(), randomBytes(300_000)];
  const { data } = await person.client.storage.from("avatars").createSignedUploadUrl(path);

  await run(bytes, {
    ...options(path),
    endpoint: `${apiUrl()}/storage/v1/upload/resumable/sign`,
    headers: { "x-signature": data?.token ?? "" },
  });

  expect((await stored(path)).equals(bytes)).toBe(true);
});

test("store_088 store_090 refusals reach the client as plain text", async () => {
  const refusal = async (path: string, bytes: Buffer, more: Partial<UploadOptions> = {}) => {
    const settings = options(path, { retryDelays: null, ...more });
    const error = await run(bytes, settings).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    const response = error instanceof DetailedError ? error.originalResponse : null;
    return [response?.getStatus(), response?.getBody()];
  };
  const taken = own();
  await run(randomBytes(10), options(taken));

  expect(await refusal(`${randomUUID()}/x.webp`, randomBytes(10))).toEqual([
    403,
    "new row violates row-level security policy",
  ]);
  expect(await refusal(own(), randomBytes(6_000_000))).toEqual([413, "Maximum size exceeded\n"]);
  expect(await refusal(taken, randomBytes(10))).toEqual([409, "The resource already exists"]);
  const html = { bucketName: "avatars", objectName: own(), contentType: "text/html" };
  expect(await refusal(own(), randomBytes(10), { metadata: html })).toEqual([
    415,
    "mime type text/html is not supported",
  ]);
});

test("store_091 an upload that is given up leaves nothing", async () => {
  const path = own();
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
