// Two servers of which each accepts logins, or writes, although only one is the primary: what nodes and commands do then. The servers are
// replicated asynchronously, so what is written to the wrong one is lost.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { pause, until } from "./conditions.ts";
import { jobsSchema } from "./jobs.ts";
import { type Machine, moveName } from "./network.ts";
import { readMetric, untilReady } from "./nodes.ts";
import { type Pair, startPair } from "./pair.ts";
import { Administrator, findAll, parts } from "./parts.ts";
import { schema } from "./person.ts";
import type { PlainServer } from "./plain.ts";

/** Nodes look for a newer primary every two seconds, and ask one name each second. The rest is for a busy computer. */
const moveSeconds = 20;
/** A command or a start beside a frozen server takes at most this long. */
const frozenSeconds = 60;
/** How often each part writes after a move. */
const rounds = 3;
/** How long nodes are watched where nothing may happen. In milliseconds. */
const watchMs = 8_000;
/** A virtual address, which moves between the servers. */
const virtualAddress = "10.77.0.100";
const testMs = 5 * 60_000;

let pair: Pair;
let db1: PlainServer;
let db2: PlainServer;
let nodes: Machine[];
let administrator: Administrator;
/** Notes that only the former primary has: acknowledged before the failover, and lost by it. */
let ghosts: string[] = [];

beforeAll(async () => {
  pair = await startPair(process.env.SELVEDGE_CLUSTER_FOLDER ?? "", schema + jobsSchema);
  [db1, db2] = pair.servers;
  administrator = new Administrator(pair.deployment.keys.SUPABASE_AUTH_SECRET_KEY ?? "");
  const hosts = [db1.host, db2.host];
  nodes = [await pair.addNode("node-1", 21, hosts), await pair.addNode("node-2", 22, hosts)];
}, 300_000);

afterAll(async () => {
  await pair?.stop();
});

/**
 * Every part of each node writes, and all of it must be on this server and on none of the others. `others` leaves out a server that
 * follows this one, and one that is frozen.
 */
async function expectWritesAt(
  server: PlainServer,
  of: Machine[],
  others: PlainServer[],
): Promise<void> {
  for (const node of of) {
    for (const part of parts) {
      const found = await administrator.writeAndFind(node, part, [server, ...others]);
      const expected = { part, node: node.name, found: [server.machine.name] };
      expect({ part, node: node.name, found }).toEqual(expected);
    }
  }
}

/** Waits until a row that a node has acknowledged is on this server. Returns how many seconds that took. */
async function measureMove(node: Machine, server: PlainServer): Promise<number> {
  const beganMs = performance.now();
  await until(async () => {
    const id = randomUUID();
    const isWritten = await administrator.write(node, "rest", id);
    const count = `select count(*) from public.notes where id = '${id}'`;
    return isWritten && (await server.value(count)) === "1";
  }, `${node.name} writes to ${server.machine.name}`);
  return (performance.now() - beganMs) / 1_000;
}

/** Moves of all nodes, which are printed. Nothing but REST has to notice it for all parts to do. */
async function expectMove(
  from: PlainServer,
  to: PlainServer,
  of: Machine[],
  what: string,
): Promise<void> {
  const moves = await Promise.all(
    of.map(async (node) => {
      const seconds = await measureMove(node, to);
      for (let round = 0; round < rounds; round += 1) {
        await expectWritesAt(to, [node], [from]);
      }
      return seconds;
    }),
  );
  console.log(`${what}: nodes moved after ${moves.map((s) => s.toFixed(1)).join(" and ")} s\n`);
  expect(Math.max(...moves)).toBeLessThan(moveSeconds);
}

/** Reads by these nodes for some seconds: nobody may see what is lost, and everybody sees their own writes. */
async function expectHonestReads(of: Machine[]): Promise<void> {
  const endMs = performance.now() + watchMs;
  let reads = 0;
  while (performance.now() < endMs) {
    for (const node of of) {
      const id = randomUUID();
      if (!(await administrator.write(node, "rest", id))) {
        continue;
      }
      const own = await administrator.countNotes(node, [id]);
      // By then a standby that has replayed enough may answer.
      await pause(300);
      const lost = await administrator.countNotes(node, ghosts);
      expect({ node: node.name, own, lost }).toEqual({ node: node.name, own: 1, lost: 0 });
      reads += 2;
    }
  }
  expect(reads).toBeGreaterThan(0);
  console.log(`${reads} reads beside ${ghosts.length} rows of the former primary\n`);
}

/** Whoever has written to this server through one node reads that through another one, although that one may not know the server yet. */
async function expectWritesSeenByOthers(server: PlainServer, of: Machine[]): Promise<void> {
  const [first, second] = of as [Machine, Machine];
  const endMs = performance.now() + watchMs;
  let seen = 0;
  for (let round = 0; performance.now() < endMs; round += 1) {
    const [writer, reader] = round % 2 === 0 ? [first, second] : [second, first];
    const id = randomUUID();
    const isSeen = await administrator.writeAndRead(writer, reader, id);
    const count = await server.value(`select count(*) from public.notes where id = '${id}'`);
    // What the former primary has acknowledged is lost.
    if (isSeen !== undefined && count === "1") {
      expect({ writer: writer.name, reader: reader.name, isSeen }).toMatchObject({ isSeen: true });
      seen += 1;
    }
  }
  console.log(`${seen} notes were read through another node than they were written through\n`);
  expect(seen).toBeGreaterThan(0);
}

/** Applies a migration with these hosts, which must reach this server alone. Returns how many seconds it took. */
async function migrateTo(server: PlainServer, version: string): Promise<number> {
  const table = `made_${version}`;
  await pair.addMigration(version, `create table public.${table} (id int)`);
  const { code, output, seconds } = await pair.run([db1.host, db2.host], ["migrate", "up"]);
  expect({ code, output }).toEqual({ code: 0, output });
  expect(await server.value(`select to_regclass('public.${table}')`)).toBe(table);
  return seconds;
}

test("in a split of servers with asynchronous replication every part of a node goes to the promoted one", {
  timeout: testMs,
}, async () => {
  await expectWritesAt(db1, nodes, []);
  await db2.stopReceiving();
  ghosts = await writeGhosts();

  await db2.promote();
  const outcomes = await Promise.allSettled([
    expectWritesSeenByOthers(db2, nodes),
    expectMove(db1, db2, nodes, "a standby is promoted beside its primary"),
  ]);
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  await expectHonestReads(nodes);

  // The former primary is the first host of the URL, accepts logins and writes, and has written more.
  await migrateTo(db2, "20260201000000");
  expect(await db1.value("select to_regclass('public.made_20260201000000')")).toBeNull();
  const late = await pair.addNode("node-3", 23, [db1.host, db2.host]);
  await expectWritesAt(db2, [late], [db1]);
  await expectJobsAt(db2, db1);
  nodes.push(late);
});

/** Notes on the first server alone, and so much WAL that its position stays above that of the promoted server. */
async function writeGhosts(): Promise<string[]> {
  const ids = Array.from({ length: 20 }, () => randomUUID());
  for (const id of ids) {
    expect(await administrator.write(nodes[0] as Machine, "rest", id)).toBe(true);
  }
  for (let segment = 0; segment < 4; segment += 1) {
    await db1.sql("select pg_switch_wal()");
    await db1.sql("create table public.filler (id int); drop table public.filler");
  }
  expect(await db2.value("select count(*) from public.notes where author = id")).not.toBe(
    await db1.value("select count(*) from public.notes where author = id"),
  );
  return ids;
}

/** Jobs run on one server and no longer on the other. */
async function expectJobsAt(server: PlainServer, former: PlainServer): Promise<void> {
  const ticks = (of: PlainServer) => of.value("select count(*) from public.ticks");
  const before = await ticks(server);
  await until(async () => (await ticks(server)) !== before, `jobs run on ${server.machine.name}`);
  const left = await ticks(former);
  await pause(3_000);
  expect(await ticks(former)).toBe(left);
}

test("beside a former primary that is frozen, nodes start and commands end", {
  timeout: testMs,
}, async () => {
  const [, , late] = nodes as [Machine, Machine, Machine];
  await late.losePower();
  db1.machine.freeze();
  const beganMs = performance.now();
  await late.start();
  await untilReady(late);
  const startSeconds = (performance.now() - beganMs) / 1_000;
  await expectWritesAt(db2, nodes, []);
  const migrateSeconds = await migrateTo(db2, "20260202000000");
  const doctor = await pair.run([db1.host, db2.host], ["doctor"], "authenticator");
  console.log(
    `the first host is frozen: serve is ready after ${startSeconds.toFixed(1)} s, migrate up ends after ${migrateSeconds.toFixed(1)} s, ` +
      `doctor after ${doctor.seconds.toFixed(1)} s\n`,
  );
  expect(Math.max(startSeconds, migrateSeconds, doctor.seconds)).toBeLessThan(frozenSeconds);

  db1.machine.thaw();
  await pause(watchMs);
  await expectWritesAt(db2, nodes, [db1]);
  await expectHonestReads(nodes);
});

test("a former primary that was not rewound gets no reads as a standby, and does once it was copied anew", {
  timeout: testMs,
}, async () => {
  await db1.followWithItsOwnData(db2);
  expect(await db1.value("select pg_is_in_recovery()")).toBe("t");
  const list = ghosts.map((id) => `'${id}'`).join(",");
  const count = `select count(*) from public.notes where id in (${list})`;
  expect(await db1.value(count)).toBe(`${ghosts.length}`);
  const isAhead = `select '${await db1.value("select pg_last_wal_replay_lsn()")}' > pg_current_wal_insert_lsn()`;
  expect(await db2.value(isAhead)).toBe("t");

  await expectHonestReads(nodes);
  for (const node of nodes) {
    expect(await readMetric(node, 'selvedge_replica_available{replica="db-1:5432"}')).toBe(0);
  }

  await db1.copyFrom(db2);
  const answered = 'selvedge_replica_reads_total{outcome="answered",replica="db-1:5432"}';
  for (const node of nodes) {
    const before = (await readMetric(node, answered)) ?? 0;
    await until(async () => {
      await administrator.countNotes(node, ghosts);
      return ((await readMetric(node, answered)) ?? 0) > before;
    }, `${node.name} reads from the new standby`);
  }
  await expectHonestReads(nodes);
});

test("connections to one name end when it leads to another server, and nothing goes to a former primary to which it leads back", {
  timeout: testMs,
}, async () => {
  await Promise.all(nodes.map((node) => node.losePower()));
  moveName("database", db2.machine.address);
  moveName("virtual", virtualAddress);
  db2.machine.takeAddress(virtualAddress);
  const named = await pair.addNode("node-4", 24, ["database:5432"]);
  const virtual = await pair.addNode("node-5", 25, ["virtual:5432"]);
  nodes = [named, virtual];
  await expectWritesAt(db2, nodes, []);

  await db1.untilCaughtUpWith(db2);
  await db1.stopReceiving();
  await db1.promote();
  // The former primary goes on: only the name says that it is none.
  moveName("database", db1.machine.address);
  db2.machine.giveUpAddress(virtualAddress);
  db1.machine.takeAddress(virtualAddress);
  virtual.forgetNeighbours();
  await expectMove(db2, db1, nodes, "a name and an address lead to another server");

  // An old answer of the DNS: the name leads to the former primary for some seconds.
  moveName("database", db2.machine.address);
  const untilMs = performance.now() + watchMs;
  const ids: string[] = [];
  while (performance.now() < untilMs) {
    for (const part of parts) {
      const id = randomUUID();
      ids.push(id);
      await administrator.write(named, part, id);
    }
  }
  moveName("database", db1.machine.address);
  expect(await findAll(ids, [db2])).toEqual([]);
  await expectWritesAt(db1, nodes, [db2]);
  await expectJobsAt(db1, db2);
});
