// The faults: each kind of machine is killed, frozen, slowed down and disconnected.

import { pause, until } from "./conditions.ts";
import { findPrimary } from "./database.ts";
import { findLeader } from "./jobs.ts";
import type { Machine } from "./network.ts";
import type { Topology } from "./topology.ts";

type Role = "node" | "leader" | "primary" | "replica" | "broker" | "store";
type Trouble = "is killed" | "freezes" | "is slow" | "is cut off" | "loses its agent";

export interface Fault {
  role: Role;
  trouble: Trouble;
  /** Duration of the fault. */
  seconds: number;
}

/** The kinds of faults, and how each is injected and repaired. */
const troubles: Record<
  Trouble,
  { begin(machine: Machine): unknown; end(machine: Machine): unknown }
> = {
  "is killed": { begin: (machine) => machine.losePower(), end: (machine) => machine.start() },
  freezes: { begin: (machine) => machine.freeze(), end: (machine) => machine.thaw() },
  "is slow": { begin: (machine) => machine.slowDown(), end: (machine) => machine.speedUp() },
  "is cut off": { begin: (machine) => machine.unplug(), end: (machine) => machine.plugIn() },
  // Nobody tells PostgreSQL that another server was promoted, so that both accept writes.
  "loses its agent": {
    begin: (machine) => machine.freezeProgram("patroni"),
    end: (machine) => machine.thaw(),
  },
};

/**
 * The most important faults. Those of the primary last longer than Patroni waits, so that the replica is promoted; those of the node
 * that runs the jobs last longer than another one waits before it takes over.
 */
const shortList: Fault[] = [
  { role: "node", trouble: "is killed", seconds: 3 },
  { role: "replica", trouble: "freezes", seconds: 5 },
  { role: "broker", trouble: "is killed", seconds: 3 },
  { role: "primary", trouble: "is killed", seconds: 22 },
  { role: "primary", trouble: "loses its agent", seconds: 30 },
  { role: "store", trouble: "is slow", seconds: 5 },
  { role: "node", trouble: "is cut off", seconds: 4 },
  { role: "leader", trouble: "freezes", seconds: 15 },
];

/** Every kind of fault for every kind of machine. */
const longList: Fault[] = (
  ["node", "leader", "primary", "replica", "broker", "store"] as const
).flatMap((role) =>
  troublesOf(role).map((trouble) => ({ role, trouble, seconds: secondsOf(role, trouble) })),
);

/** Only servers of the database have an agent, and only the primary needs it to learn that it is none any more. */
function troublesOf(role: Role): Trouble[] {
  const common: Trouble[] = ["is killed", "freezes", "is slow", "is cut off"];
  return role === "primary" ? [...common, "loses its agent"] : common;
}

function secondsOf(role: Role, trouble: Trouble): number {
  if (role === "leader") {
    return 15;
  }
  return role === "primary" && trouble !== "is slow" ? 30 : 10;
}

/** The faults of a run. SELVEDGE_CLUSTER_FAULTS names some of the long list: `primary freezes,store is slow`. */
export function chooseFaults(isLong: boolean): Fault[] {
  const names = process.env.SELVEDGE_CLUSTER_FAULTS?.split(",");
  if (names === undefined) {
    return isLong ? longList : shortList;
  }
  return longList.filter((fault) => names.includes(nameOf(fault)));
}

export function nameOf({ role, trouble }: Fault): string {
  return `${role} ${trouble}`;
}

/** Injects a fault, waits, and repairs it. Returns the time of the repair. */
export async function makeFault(topology: Topology, fault: Fault, round: number): Promise<number> {
  const machine = await findMachine(topology, fault.role, round);
  await troubles[fault.trouble].begin(machine);
  await pause(fault.seconds * 1_000);
  const repairedMs = performance.now();
  await troubles[fault.trouble].end(machine);
  return repairedMs;
}

async function findMachine(topology: Topology, role: Role, round: number): Promise<Machine> {
  const { nodes, servers, broker, store } = topology;
  switch (role) {
    case "node":
      return nodes[round % nodes.length] ?? nodes[0];
    case "leader":
      return await findLeader(nodes);
    case "broker":
      return broker;
    case "store":
      return store;
    default: {
      await until(async () => (await findPrimary(servers)) !== undefined, "there is a primary");
      const primary = (await findPrimary(servers)) ?? servers[0];
      const [first, second] = servers;
      return (role === "primary") === (first === primary) ? first : second;
    }
  }
}
