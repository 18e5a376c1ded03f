// Options of Storage and Realtime that came with newer versions of supabase-js do what docs/compatibility.md says.

import { randomUUID } from "node:crypto";
import { createClient, type RealtimeChannel, type SupabaseClient } from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { apiUrl } from "../support/address.ts";
import { serviceKey } from "../support/clients.ts";
import { runSql } from "../support/database.ts";

const missing = "00000000-0000-4000-8000-000000000000";

let client: SupabaseClient;
const bucket = `newest-${randomUUID()}`;

beforeAll(async () => {
  client = createClient(apiUrl(), serviceKey, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    realtime: { transport: WebSocket as never },
  });
  const made = await client.storage.createBucket(bucket, { public: true });
  expect(made.error).toBeNull();
});

afterAll(async () => {
  await client.storage.emptyBucket(bucket);
  await client.storage.deleteBucket(bucket);
  await client.removeAllChannels();
  client.realtime.disconnect();
});

const files = () => client.storage.from(bucket);

async function upload(key: string, text = "text"): Promise<string> {
  expect((await files().upload(key, text, { upsert: true })).error).toBeNull();
  const { data } = await files().info(key);
  return data?.version as string;
}

test("store_203 store_208 store_230 versions, markers and rules by the client", async () => {
  const versioned = `${bucket}-v`;
  const created = await client.storage.createBucket(versioned, {
    public: false,
    versioningStatus: "ENABLED",
  });
  expect(created.error).toBeNull();
  const kept = client.storage.from(versioned);
  for (const text of ["one", "two"]) {
    expect((await kept.upload("a", text, { upsert: true })).error).toBeNull();
  }
  const rows = async (options: object) =>
    (await kept.listV2({ prefix: "a", exactMatch: true, ...options })).data?.objects as unknown as {
      version: string;
      is_delete_marker: boolean;
    }[];
  const [, first] = await rows({ noncurrentVersions: "include" });
  const versionId = first?.version as string;
  const old = await kept.download("a", { versionId });
  expect(await old.data?.text()).toBe("one");

  const removed = await kept.remove(["a"]);
  expect(removed.data).toMatchObject([{ name: "a", is_delete_marker: true }]);
  const [marker] = await rows({ deleteMarkers: "only" });
  expect((await kept.download("a")).error).not.toBeNull();
  await kept.remove([{ path: "a", versionId: marker?.version as string }]);
  expect(await (await kept.download("a")).data?.text()).toBe("two");

  const rules = {
    rules: [{ status: "Enabled", filter: {}, noncurrentVersionExpiration: { noncurrentDays: 30 } }],
  };
  expect((await client.storage.updateBucketLifecycle(versioned, rules as never)).error).toBeNull();
  expect((await client.storage.getBucketLifecycle(versioned)).data).toMatchObject(rules);
  expect((await client.storage.deleteBucketLifecycle(versioned)).error).toBeNull();

  for (const { version } of await rows({ noncurrentVersions: "include" })) {
    await kept.remove([{ path: "a", versionId: version }]);
  }
  expect((await client.storage.deleteBucket(versioned)).error).toBeNull();
});

test("store_205 store_212 store_219 a version that an object does not have is never its newest bytes", async () => {
  const version = await upload("v.txt", "one");

  for (const [versionId, found] of [
    [version, true],
    [missing, false],
  ] as const) {
    const outcomes = [
      (await files().info("v.txt", { versionId })).error,
      (await files().download("v.txt", { versionId, cacheNonce: "1" })).error,
      (await files().createSignedUrl("v.txt", 60, { versionId })).error,
      (await files().copy("v.txt", `copy-${versionId}`, { sourceVersionId: versionId })).error,
    ];
    expect(outcomes.map((error) => error === null)).toEqual([found, found, found, found]);
    const { data } = files().getPublicUrl("v.txt", { versionId });
    expect((await fetch(data.publicUrl)).ok).toBe(found);
  }
  expect((await files().move("v.txt", "w.txt", { sourceVersionId: missing })).error).not.toBeNull();
  const kept = await files().remove([{ path: "v.txt", versionId: missing }]);
  expect([kept.error, kept.data]).toEqual([null, []]);
  const gone = await files().remove([{ path: "v.txt", versionId: version }]);
  expect(gone.data?.map((file) => file.name)).toEqual(["v.txt"]);
});

test("store_214 store_216 lists of earlier versions are empty, and exact matches exact", async () => {
  await upload("list/a");
  await upload("list/ab");
  const names = async (options: object) => {
    const { data, error } = await files().listV2({ prefix: "list/a", ...options });
    expect(error).toBeNull();
    return data?.objects.map((object) => object.name);
  };

  expect(await names({ noncurrentVersions: "include", deleteMarkers: "include" })).toHaveLength(2);
  expect(await names({ noncurrentVersions: "only" })).toEqual([]);
  expect(await names({ deleteMarkers: "only" })).toEqual([]);
  expect(await names({ exactMatch: true })).toEqual(["list/a"]);
  const first = await files().list("list/a", { exactMatch: true });
  expect(first.data?.map((file) => file.name)).toEqual(["a"]);
  const none = await files().list("list", { deleteMarkers: "only" });
  expect(none.data).toEqual([]);
});

test("store_240 store_241 store_243 encodings of bytes and of forms come back, and a missing key does not exist", async () => {
  const encoded = { contentEncoding: "br", contentType: "text/plain" };
  expect((await files().upload("bytes", Buffer.from("x"), encoded)).error).toBeNull();
  expect((await files().upload("form", new Blob(["x"]), encoded)).error).toBeNull();

  for (const key of ["bytes", "form"]) {
    const { data } = await files().info(key);
    expect(data?.contentEncoding).toBe("br");
    const head = await fetch(files().getPublicUrl(key).data.publicUrl, { method: "HEAD" });
    expect(head.headers.get("content-encoding")).toBe("br");
  }
  const plain = { copyMetadata: false, metadata: { contentEncoding: "" } } as const;
  expect((await files().copy("bytes", "plain", plain)).error).toBeNull();
  expect((await files().info("plain")).data?.contentEncoding).toBeNull();
  expect([(await files().exists("bytes")).data, (await files().exists("none")).data]).toEqual([
    true,
    false,
  ]);
});

/** Joins a channel; resolves with the status that ends the wait. */
function joinChannel(channel: RealtimeChannel): Promise<string> {
  return new Promise((done) => {
    channel.subscribe((status, error) => {
      if (status !== "CLOSED") {
        done(error ? `${status}: ${error.message}` : status);
      }
    });
  });
}

test("realtime_200 realtime_201 a channel that waits is subscribed when it is joined, or refused", async () => {
  const table = `waited_${randomUUID().slice(0, 8)}`;
  await runSql(
    `create table public.${table} (id int); alter publication supabase_realtime add table public.${table}`,
  );
  const options = { config: { postgres_changes_options: { wait: true, timeout: 15_000 } } };
  const live = client
    .channel(`wait-${randomUUID()}`, options)
    .on("postgres_changes", { event: "*", schema: "public", table } as never, () => {});
  const dead = client
    .channel(`wait-${randomUUID()}`, options)
    .on("postgres_changes", { event: "*", schema: "public", table: "no_table" } as never, () => {});

  expect(await joinChannel(live)).toBe("SUBSCRIBED");
  expect(await joinChannel(dead)).toMatch(/CHANNEL_ERROR: .*Unable to subscribe/);
  await runSql(`drop table public.${table}`);
});

test("realtime_210 realtime_211 a broadcast that is to be stored is refused on both ways", async () => {
  const options = { config: { private: true, broadcast: { ack: true } } };
  const channel = client.channel(`persist-${randomUUID()}`, options);
  expect(await joinChannel(channel)).toBe("SUBSCRIBED");

  const sent = await channel.send({ type: "broadcast", event: "e", payload: {}, persist: true });
  expect(sent).toBe("Storing broadcasts is not supported");
  const http = channel.httpSend("e", {}, { persist: { ttl: 60 } });
  await expect(http).rejects.toThrow("Storing broadcasts is not supported");
});
