// Three nodes, PostgreSQL and a replica under Patroni, poolers, a broker, an S3 server and nginx, each on its own machine. Simulated
// people work while one machine after the other fails, and no acknowledged write may be lost.

import { afterAll, beforeAll, expect, test } from "vitest";
import { pause, until } from "./conditions.ts";
import { findPrimary, sql } from "./database.ts";
import { chooseFaults, type Fault, makeFault, nameOf } from "./faults.ts";
import { countMinutes, findLeader, JobWatch, jobsSchema } from "./jobs.ts";
import { type Episode, Ledger } from "./ledger.ts";
import type { Machine } from "./network.ts";
import { Person, schema } from "./person.ts";
import { describeSituation } from "./situation.ts";
import { startTopology, type Topology } from "./topology.ts";

/** How long faults are injected, in minutes; 0 injects each of the short list once. */
const minutes = Number(process.env.SELVEDGE_CLUSTER_MINUTES ?? 30);
/** Number of people who work at the same time. */
const peopleCount = 4;
/** How many restarts of a node under load are tested. */
const restarts = Number(process.env.SELVEDGE_RESTARTS ?? (minutes > 0 ? 100 : 3));
/** Everything must work again within this time after a fault is repaired. */
const recoverySeconds = 90;
/** What a busy machine adds to the time after which another node runs the jobs. */
const busySeconds = 3;
/** How the node that runs the jobs is lost, and found again. The short form tries the last one, which nothing tells the others. */
const waysToLoseNode = [
  ["losePower", "start"],
  ["unplug", "plugIn"],
  ["freeze", "thaw"],
] as const;
/** Pause between two faults, in milliseconds. */
const calmMs = 1_000;
/**
 * Requests that were on their way to a node when its link was cut fail within this time after the link is back: the node has given up
 * their connections by then, and nginx must not repeat a POST. In milliseconds.
 */
const cutRequestsMs = 10_000;

let topology: Topology;
let people: Person[] = [];
let work: Promise<void>[] = [];
let jobs: JobWatch | undefined;
const ledger = new Ledger();

beforeAll(async () => {
  topology = await startTopology(process.env.SELVEDGE_CLUSTER_FOLDER ?? "", schema + jobsSchema);
  await topology.untilHealthy();
  const key = topology.keys.SUPABASE_AUTH_PUBLISHABLE_KEY ?? "";
  people = await Promise.all(Array.from({ length: peopleCount }, () => Person.join(key, ledger)));
  work = people.map((person) => person.work(people));
  jobs = new JobWatch(topology.servers, ledger);
  await untilAllWorks(performance.now());
}, 300_000);

afterAll(async () => {
  await Promise.all([...people.map((person) => person.leave()), jobs?.stop()]);
  await topology?.stop();
});

/** Waits until every kind of work has succeeded since this time. */
async function untilAllWorks(sinceMs: number): Promise<number> {
  while (!ledger.hasSucceededSince(sinceMs)) {
    if (performance.now() > sinceMs + recoverySeconds * 1_000) {
      const kinds = ledger.kindsWithoutSuccessSince(sinceMs).join(", ");
      console.log(await describeSituation(topology.nodes, topology.servers));
      throw new Error(
        `Not within ${recoverySeconds} s: ${kinds}. Until then:\n${ledger.violations.slice(0, 20).join("\n")}`,
      );
    }
    await pause(50);
  }
  return performance.now();
}

test("restarts of the nodes under load cost no request", {
  timeout: restarts * 60_000,
}, async () => {
  const beganMs = performance.now();
  for (let round = 0; round < restarts; round += 1) {
    const node = topology.nodes[round % 3] ?? topology.nodes[0];
    await node.stop();
    await node.start();
    await topology.untilHealthy();
  }
  await untilAllWorks(performance.now());

  const retriable = ledger.failures("retriable", beganMs);
  const nodeLost = ledger.failures("node lost", beganMs);
  expect({ violations: ledger.violations, retriable, nodeLost }).toEqual({
    violations: [],
    retriable: [],
    nodeLost: [],
  });
});

test("the job of each second goes on within ten seconds after its node is killed, cut off or frozen, and never runs twice", {
  timeout: 10 * 60_000,
}, async () => {
  for (const [end, heal] of minutes > 0 ? waysToLoseNode : waysToLoseNode.slice(-1)) {
    const leader = await findLeader(topology.nodes);
    const primary = (await findPrimary(topology.servers)) ?? topology.servers[0];
    const [[beganAt]] = (await sql(primary, "select clock_timestamp()")) as [[string]];
    await leader[end]();
    await untilTicks(primary, `${beganAt}`, 15, `${leader.name} is lost`);
    const [[healedAt]] = (await sql(primary, "select clock_timestamp()")) as [[string]];
    await leader[heal]();
    await topology.untilHealthy();
    await untilTicks(primary, `${healedAt}`, 5, `${leader.name} is back`);

    const gaps = await sql(
      primary,
      `select max(gap)::text, min(gap)::text from (
         select extract(epoch from at - lag(at) over (order by at)) gap from public.ticks
         where at > '${beganAt}'::timestamptz - interval '3 seconds') ticks`,
    );
    const [longest, shortest] = (gaps[0] ?? []).map(Number);
    console.log(`${leader.name}, ${end}: ${longest} s without the job\n`);
    expect(longest).toBeLessThan(10 + busySeconds);
    expect(shortest).toBeGreaterThan(0.2);
  }
});

/** Waits until the job of each second has run so often since this time. */
async function untilTicks(server: Machine, since: string, count: number, what: string) {
  const text = `select count(*) from public.ticks where at > '${since}'`;
  const haveRun = async () => Number((await sql(server, text))[0]?.[0]) >= count;
  await until(haveRun, `jobs go on after ${what}`).catch(async (error) => {
    console.log(await describeSituation(topology.nodes, topology.servers));
    throw error;
  });
}

test("machines that die, freeze, slow down or lose their link cost no acknowledged write", {
  timeout: (minutes + 15) * 60_000,
}, async () => {
  const episodes: Episode[] = [];
  const lostElsewhere: string[] = [];
  let nodesWorkSinceMs = 0;
  const endMs = performance.now() + minutes * 60_000;
  const list = chooseFaults(minutes > 0);
  for (let round = 0; round < list.length || performance.now() < endMs; round += 1) {
    const fault = list[round % list.length] as Fault;
    const beganMs = performance.now();
    const repairedMs = await makeFault(topology, fault, round);
    const recoveredMs = await untilAllWorks(repairedMs);
    episodes.push({ name: nameOf(fault), beganMs, repairedMs, recoveredMs });
    await topology.untilHealthy();
    await pause(calmMs);
    if (fault.role === "node" || fault.role === "leader") {
      nodesWorkSinceMs = repairedMs + cutRequestsMs;
    } else {
      const sinceMs = Math.max(beganMs, nodesWorkSinceMs);
      lostElsewhere.push(...ledger.failures("node lost", sinceMs));
    }
  }
  await Promise.all(people.map((person) => person.leave()));
  await Promise.all(work);

  console.log(`\nSeconds without a success, by kind of work:\n${ledger.table(episodes)}\n`);
  await Promise.all(people.map((person) => person.checkFiles()));
  const lost = await findLostRows();
  console.log(`${ledger.rows.size} acknowledged rows and ${ledger.objects.size} objects checked\n`);
  const { runs, minutes: jobMinutes } = await countMinutes(await untilPrimary());
  console.log(`the job of each minute was begun ${runs} times in ${jobMinutes} minutes\n`);
  // All at once, so that one that fails does not hide the others.
  const { violations } = ledger;
  expect({ lost, violations, lostElsewhere, runs }).toEqual({
    lost: [],
    violations: [],
    lostElsewhere: [],
    runs: jobMinutes,
  });
});

async function untilPrimary(): Promise<Machine> {
  await until(
    async () => (await findPrimary(topology.servers)) !== undefined,
    "there is a primary",
  );
  return (await findPrimary(topology.servers)) ?? topology.servers[0];
}

/** Acknowledged rows that are missing or have another author. */
async function findLostRows(): Promise<string[]> {
  const primary = await untilPrimary();
  const stored = new Map(
    (await sql(primary, "select id, author from public.notes")).map(([id, author]) => [id, author]),
  );
  return [...ledger.rows].filter(([id, author]) => stored.get(id) !== author).map(([id]) => id);
}
