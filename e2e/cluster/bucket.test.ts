// The bytes of objects: uploads that two nodes finish at once while the store is slow, and databases that use one bucket.

import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "./conditions.ts";
import { hashOf, readHash, uploadCutOff } from "./cutoff.ts";
import type { Finished, Machine } from "./network.ts";
import { readMetric } from "./nodes.ts";
import { type Pair, startPair } from "./pair.ts";
import { Administrator } from "./parts.ts";
import { schema } from "./person.ts";
import type { PlainServer } from "./plain.ts";

const uploadCount = 8;
const smallestFile = 50_000;
const largestFile = 250_000;
/** Few enough that a sweep does not keep them because they are many. */
const objectCount = 12;
const testMs = 5 * 60_000;
/** What an operator may ask of a sweep at most. */
const harshSweep = ["sweep", "--older-than", "0s", "--remove-many", "--empty-trash"];

let pair: Pair;
let production: PlainServer;
let first: Machine;
let second: Machine;
let key: string;
let administrator: Administrator;

beforeAll(async () => {
  pair = await startPair(process.env.SELVEDGE_CLUSTER_FOLDER ?? "", schema);
  production = pair.servers[0];
  key = pair.deployment.keys.SUPABASE_AUTH_SECRET_KEY ?? "";
  administrator = new Administrator(key);
  first = await pair.addNode("node-1", 21, [production.host]);
  second = await pair.addNode("node-2", 22, [production.host]);
}, 300_000);

afterAll(async () => {
  await pair?.stop();
});

/** Uploads an object by a node, in the place of an older one if there is one. Returns the hash of its bytes. */
async function store(node: Machine, name: string): Promise<string> {
  const bytes = randomBytes(1 + Math.floor(Math.random() * largestFile));
  const path = `/storage/v1/object/files/${name}`;
  const body = new Uint8Array(bytes);
  const answer = await administrator.send(node, "POST", path, body, { "x-upsert": "true" });
  expect(answer?.status).toBe(200);
  return hashOf(bytes);
}

/** Uploads objects by a node. Returns their names and hashes. */
async function storeMany(node: Machine): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (let number = 0; number < objectCount; number += 1) {
    const name = randomUUID();
    hashes.set(name, await store(node, name));
  }
  return hashes;
}

/** Reads all objects by a node: each must have its bytes. */
async function expectAllThere(node: Machine, hashes: Map<string, string>): Promise<void> {
  const found = new Map<string, string>();
  for (const name of hashes.keys()) {
    found.set(name, await readHash(node, key, name));
  }
  expect(found).toEqual(hashes);
}

/** Runs a command with a server's database, as the nodes' login. */
function run(server: PlainServer, arguments_: string[]): Promise<Finished> {
  return pair.run([server.host], arguments_, "authenticator");
}

async function runWell(server: PlainServer, arguments_: string[]): Promise<string> {
  const { code, output } = await run(server, arguments_);
  expect({ code, output }).toEqual({ code: 0, output });
  return output;
}

test("what two nodes acknowledge of cut off uploads while the store is slow is stored", {
  timeout: testMs,
}, async () => {
  const uploads = await Promise.all(
    Array.from({ length: uploadCount }, async (_, index) => {
      const name = randomUUID();
      const former = await store(first, name);
      const size = smallestFile + Math.floor(Math.random() * (largestFile - smallestFile));
      const cutAfterMs = 100 + Math.floor(Math.random() * 3_000);
      return { key, name, former, bytes: randomBytes(size), cutAfterMs, isEnded: index % 4 === 3 };
    }),
  );
  const beganMs = performance.now();
  pair.store.slowDown();
  const outcomes = await Promise.allSettled(
    uploads.map((upload, index) =>
      uploadCutOff(index % 2 === 0 ? [first, second] : [second, first], upload),
    ),
  );
  pair.store.speedUp();

  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
  const acknowledged = outcomes.filter((one) => one.status === "fulfilled" && one.value).length;
  console.log(`${acknowledged} of ${uploadCount} uploads were acknowledged within ${seconds} s\n`);
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  // Uploads that the second client does not end must be acknowledged.
  expect(acknowledged).toBeGreaterThanOrEqual(uploads.filter(({ isEnded }) => !isEnded).length);
  for (const [index, { name, former, bytes }] of uploads.entries()) {
    const found = await readHash(index % 2 === 0 ? first : second, key, name);
    const outcome = outcomes[index];
    const isStored = outcome?.status === "fulfilled" && outcome.value;
    expect(isStored ? [hashOf(bytes)] : [hashOf(bytes), former]).toContain(found);
  }
  expect(await runWell(production, ["sweep", "--dry-run"])).not.toContain("lost their bytes");
});

test("staging with production's bucket removes none of its objects, and neither does production until somebody has decided", {
  timeout: testMs,
}, async () => {
  const hashes = await storeMany(first);
  const staging = pair.addServer("db-3", 13);
  await staging.create();
  const made = await pair.run([staging.host], ["migrate", "up"]);
  expect({ code: made.code, output: made.output }).toEqual({ code: 0, output: made.output });
  const node = await pair.addNode("node-3", 23, [staging.host]);
  await until(
    async () => ((await readMetric(node, "selvedge_storage_other_databases")) ?? 0) > 0,
    "the node of staging knows of production",
  );

  for (const server of [staging, production]) {
    const { code, output } = await run(server, harshSweep);
    expect(code).not.toBe(0);
    expect(output).toContain("used by another database");
    expect((await run(server, ["doctor"])).output).toMatch(/renewed \d+ minutes ago/);
  }
  // What production deletes and replaces meanwhile keeps its bytes in the store.
  const [deleted = "", replaced = ""] = hashes.keys();
  const path = `/storage/v1/object/files/${deleted}`;
  expect((await administrator.send(first, "DELETE", path))?.status).toBe(200);
  hashes.delete(deleted);
  hashes.set(replaced, await store(second, replaced));
  await expectAllThere(second, hashes);

  await node.losePower();
  await runWell(production, ["storage", "adopt", `--yes=${production.machine.name}`]);
  await runWell(production, harshSweep);
  await expectAllThere(first, hashes);
});

test("a clone of production's database that deletes, replaces and sweeps costs no bytes", {
  timeout: testMs,
}, async () => {
  const hashes = await storeMany(first);
  const clone = pair.addServer("db-4", 14);
  await clone.copyFrom(production);
  await clone.promote();
  await until(
    async () => (await clone.value("select pg_is_in_recovery()")) === "f",
    "the clone is a primary",
  );
  const node = await pair.addNode("node-4", 24, [clone.host]);
  await expectAllThere(node, hashes);

  const names = [...hashes.keys()];
  for (const name of names.slice(0, 6)) {
    const path = `/storage/v1/object/files/${name}`;
    expect((await administrator.send(node, "DELETE", path))?.status).toBe(200);
  }
  for (const name of names.slice(6, 9)) {
    await store(node, name);
  }
  const sweep = await run(clone, ["sweep", "--older-than", "0s", "--remove-many"]);
  console.log(`the clone's sweep: ${sweep.output.trim()}\n`);

  // Production asks, finds a token that it has not issued, and both stop.
  for (const server of [production, clone]) {
    const { code, output } = await run(server, harshSweep);
    expect(code).not.toBe(0);
    expect(output).toMatch(/used by another database.*-copy-/s);
  }
  await node.losePower();
  await runWell(production, ["storage", "adopt", `--yes=${production.machine.name}`]);
  const swept = await runWell(production, ["sweep"]);
  console.log(`production's sweep: ${swept.trim()}\n`);
  await expectAllThere(first, hashes);
  await expectAllThere(second, hashes);
});
