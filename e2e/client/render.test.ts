// Image transformation through the stock client.

import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { type Person, signUp, visitor } from "../support/clients.ts";

let person: Person;
/** A picture of the seed data, 1200 pixels wide. */
let picture: { bucket: string; path: string };

beforeAll(async () => {
  person = await signUp();
  const { data } = await visitor().from("combines").select("main_image").limit(1).single();
  const [, bucket = "", path = ""] =
    /\/object\/public\/([^/]+)\/(.+)$/.exec(data?.main_image) ?? [];
  picture = { bucket, path };
});

/** Width and height of a WebP, read from its VP8 or VP8X header. */
function sizeOf(bytes: Buffer): [number, number] {
  expect(bytes.toString("latin1", 8, 12)).toBe("WEBP");
  const [kind, extended] = [bytes.toString("latin1", 12, 16), bytes.readUIntLE(24, 3)];
  return kind === "VP8X"
    ? [extended + 1, bytes.readUIntLE(27, 3) + 1]
    : [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
}

async function bytesOf(response: Response): Promise<Buffer> {
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

test("store_093 a public picture is rendered in the requested size", async () => {
  const { data } = visitor()
    .storage.from(picture.bucket)
    .getPublicUrl(picture.path, { transform: { width: 200, height: 100, quality: 70 } });

  const response = await fetch(data.publicUrl, { headers: { accept: "image/avif,image/webp" } });

  expect(sizeOf(await bytesOf(response))).toEqual([200, 100]);
  expect(response.headers.get("content-type")).toBe("image/webp");
  expect(response.headers.get("x-transformations")).toBe(
    "height:100,width:200,resizing_type:fill,quality:70",
  );
});

test("store_093 store_094 a private picture is rendered only for those who may read it", async () => {
  const original = await fetch(
    `${apiUrl()}/storage/v1/object/public/${picture.bucket}/${picture.path}`,
  );
  const path = `training-images/${person.id}/${randomUUID()}.webp`;
  const own = person.client.storage.from("profile-avatars");
  await own.upload(path, await bytesOf(original), { contentType: "image/webp" });
  const transform = { width: 64, height: 64, resize: "contain" as const };

  const downloaded = await own.download(path, { transform });
  const foreign = await visitor().storage.from("profile-avatars").download(path, { transform });
  const signed = await own.createSignedUrl(path, 60, { transform });
  const seen = await fetch(signed.data?.signedUrl ?? "");

  const [width, height] = sizeOf(
    Buffer.from((await downloaded.data?.arrayBuffer()) ?? new ArrayBuffer()),
  );
  expect(Math.max(width, height)).toBe(64);
  expect(foreign.error).not.toBeNull();
  expect(signed.data?.signedUrl).toContain("/storage/v1/render/image/sign/profile-avatars/");
  expect(sizeOf(await bytesOf(seen))).toEqual([width, height]);
});
