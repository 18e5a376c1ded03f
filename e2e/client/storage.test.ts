// Files through the stock client: public and private buckets, signed URLs, listing, moving.

import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { type Person, signUp, visitor } from "../support/clients.ts";

const pixel = Buffer.from("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vuUAAA=", "base64");
let person: Person;

beforeAll(async () => {
  person = await signUp();
});

async function uploadAvatar(): Promise<string> {
  const path = `${person.id}/${randomUUID()}.webp`;
  const { error } = await person.client.storage
    .from("avatars")
    .upload(path, pixel, { contentType: "image/webp", cacheControl: "3600" });
  expect(error).toBeNull();
  return path;
}

test("store_001 store_002 store_008 an upload is served with its content type and cache-control", async () => {
  const path = await uploadAvatar();
  const { data } = visitor().storage.from("avatars").getPublicUrl(path);

  const response = await fetch(data.publicUrl);

  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("image/webp");
  expect(response.headers.get("cache-control")).toBe("max-age=3600");
  expect(Buffer.from(await response.arrayBuffer())).toEqual(pixel);
});

test("store_038 store_039 ranges get 206 and a current ETag gets 304", async () => {
  const path = await uploadAvatar();
  const url = visitor().storage.from("avatars").getPublicUrl(path).data.publicUrl;
  const etag = (await fetch(url)).headers.get("etag") ?? "";

  const part = await fetch(url, { headers: { Range: "bytes=0-9" } });
  const same = await fetch(url, { headers: { "If-None-Match": etag } });

  expect([part.status, part.headers.get("content-range")]).toEqual([
    206,
    `bytes 0-9/${pixel.length}`,
  ]);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(pixel.subarray(0, 10));
  expect([same.status, await same.text()]).toEqual([304, ""]);
});

test("store_004 an existing object is not overwritten without upsert", async () => {
  const path = await uploadAvatar();

  const { error } = await person.client.storage
    .from("avatars")
    .upload(path, pixel, { contentType: "image/webp" });

  expect(error).toMatchObject({ message: "The resource already exists", statusCode: "409" });
});

test("store_012 store_033 uploads against a policy or of a forbidden type are refused", async () => {
  const foreign = await person.client.storage
    .from("avatars")
    .upload(`${randomUUID()}/me.webp`, pixel, { contentType: "image/webp" });
  const script = await person.client.storage
    .from("avatars")
    .upload(`${person.id}/x.html`, "<script>", { contentType: "text/html" });

  expect(foreign.error).toMatchObject({ statusCode: "403" });
  expect(script.error).toMatchObject({ statusCode: "415" });
});

test("store_015 store_016 a private object is readable by signed URL only", async () => {
  const bucket = person.client.storage.from("profile-avatars");
  const path = `training-images/${person.id}/${randomUUID()}.webp`;
  expect((await bucket.upload(path, pixel, { contentType: "image/webp" })).error).toBeNull();

  const { data } = await bucket.createSignedUrl(path, 60);
  const seen = await fetch(data?.signedUrl ?? "");
  const tampered = await fetch(`${data?.signedUrl}x`);
  const unsigned = await fetch(bucket.getPublicUrl(path).data.publicUrl);

  expect(seen.status).toBe(200);
  expect([tampered.status, unsigned.status]).toEqual([400, 400]);
  expect((await visitor().storage.from("profile-avatars").download(path)).error).not.toBeNull();
});

test("store_046 a signed upload URL accepts a file without a session", async () => {
  const bucket = person.client.storage.from("avatars");
  const path = `${person.id}/${randomUUID()}.webp`;
  const { data } = await bucket.createSignedUploadUrl(path);

  const { error } = await visitor()
    .storage.from("avatars")
    .uploadToSignedUrl(path, data?.token ?? "", pixel, { contentType: "image/webp" });

  expect(error).toBeNull();
  expect((await bucket.download(path)).data?.size).toBe(pixel.length);
});

test("store_019 store_021 store_041 objects are listed, moved and removed", async () => {
  const bucket = person.client.storage.from("avatars");
  const name = (await uploadAvatar()).split("/")[1] ?? "";

  expect((await bucket.list(person.id)).data?.map((file) => file.name)).toContain(name);
  expect(
    (await bucket.move(`${person.id}/${name}`, `${person.id}/moved-${name}`)).error,
  ).toBeNull();
  const removed = await bucket.remove([`${person.id}/moved-${name}`]);
  expect(removed.data?.map((file) => file.name)).toEqual([`${person.id}/moved-${name}`]);
  expect((await bucket.exists(`${person.id}/moved-${name}`)).data).toBe(false);
});

test("gw_027 the project's seed pictures are served from their buckets", async () => {
  const { data } = await visitor().from("combines").select("main_image").limit(3);

  expect(data).toHaveLength(3);
  for (const { main_image } of data ?? []) {
    const picture = await fetch(new URL(main_image, apiUrl()));
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/webp"]);
  }
});
