// Machines as network namespaces, each with its own address on one bridge. A machine can be killed, frozen, slowed down or
// disconnected, and repaired.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFileSync, closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { until } from "./conditions.ts";

const bridge = "cluster";
/** The machines' subnet. The bridge has its first address, from which the tests call the machines. */
const subnet = "10.77.0";
const logs = resolve(import.meta.dirname, "../artifacts/cluster");

/** Settings of a slow link. Kernels without netem limit the bandwidth instead of delaying packets. */
const slowLink = {
  netem: ["netem", "delay", "80ms", "20ms", "loss", "1%"],
  narrow: ["tbf", "rate", "2mbit", "burst", "8kb", "latency", "200ms"],
};

/** A program that runs on a machine. */
export interface Program {
  command: string[];
  environment?: Record<string, string>;
  /** The user that runs it; root by default. */
  user?: string;
}

/** Creates the bridge. Call it once, before the first machine. */
export function makeBridge(): void {
  if (process.env.SELVEDGE_CLUSTER_FOLDER === undefined) {
    throw new Error("Run cluster/run: outside of its namespaces this would change the machine.");
  }
  run("ip", "link", "add", bridge, "type", "bridge");
  run("ip", "address", "add", `${subnet}.1/24`, "dev", bridge);
  run("ip", "link", "set", bridge, "up");
  appendFileSync("/etc/hosts", `127.0.0.1 localhost\n${subnet}.1 tests\n`);
  mkdirSync(logs, { recursive: true });
}

export class Machine {
  readonly name: string;
  readonly address: string;
  readonly #boot: (machine: Machine) => Promise<void>;

  /** Creates a machine on the bridge. `boot` starts its programs, also after {@link losePower}. */
  constructor(name: string, number: number, boot: (machine: Machine) => Promise<void>) {
    this.name = name;
    this.address = `${subnet}.${number}`;
    this.#boot = boot;
    run("ip", "netns", "add", name);
    run("ip", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name);
    run("ip", "link", "set", name, "master", bridge, "up");
    run("ip", "-n", name, "address", "add", `${this.address}/24`, "dev", "eth0");
    run("ip", "-n", name, "link", "set", "lo", "up");
    run("ip", "-n", name, "link", "set", "eth0", "up");
    appendFileSync("/etc/hosts", `${this.address} ${name}\n`);
  }

  /** Starts the machine's programs, and waits until they respond. */
  async start(): Promise<void> {
    await this.#boot(this);
  }

  /** Starts a program. Its output goes to `artifacts/cluster/NAME.log`. */
  run({ command, environment = {}, user }: Program): void {
    const log = openSync(join(logs, `${this.name}.log`), "a");
    const login =
      user === undefined ? [] : ["setpriv", "--reuid", user, "--regid", user, "--init-groups"];
    spawn("ip", ["netns", "exec", this.name, ...login, ...command], {
      stdio: ["ignore", log, log],
      env: { ...process.env, ...environment },
    });
    closeSync(log);
  }

  /** Kills all programs by SIGKILL, as a loss of power would. */
  async losePower(): Promise<void> {
    this.#signalAll("SIGKILL");
    await until(() => this.#processes().length === 0, `${this.name} is dead`);
  }

  /** Stops its programs by SIGTERM, and waits until they have ended. */
  async stop(): Promise<void> {
    this.#signal("SIGTERM");
    await until(() => this.#processes().length === 0, `${this.name} has stopped`);
  }

  /** Stops all processes by SIGSTOP: connections stay open, but no program responds. */
  freeze(): void {
    this.#signalAll("SIGSTOP");
  }

  thaw(): void {
    this.#signalAll("SIGCONT");
  }

  /** Drops every packet from and to the machine, so that no connection is closed. */
  unplug(): void {
    run("bridge", "link", "set", "dev", this.name, "state", "0");
  }

  plugIn(): void {
    run("bridge", "link", "set", "dev", this.name, "state", "3");
  }

  /** Slows its link down in both directions. */
  slowDown(): void {
    for (const command of this.#trafficControl("replace")) {
      const emulated = spawnSync("tc", [...command, ...slowLink.netem]);
      if (emulated.status !== 0) {
        run("tc", ...command, ...slowLink.narrow);
      }
    }
  }

  speedUp(): void {
    for (const command of this.#trafficControl("delete")) {
      run("tc", ...command);
    }
  }

  #trafficControl(verb: string): string[][] {
    return [
      ["qdisc", verb, "dev", this.name, "root"],
      ["-n", this.name, "qdisc", verb, "dev", "eth0", "root"],
    ];
  }

  #processes(): number[] {
    const pids = run("ip", "netns", "pids", this.name).split("\n").filter(Boolean).map(Number);
    return pids.filter((pid) => !isZombie(pid));
  }

  #signal(signal: NodeJS.Signals): void {
    for (const pid of this.#processes()) {
      try {
        process.kill(pid, signal);
      } catch {
        // The process has ended in the meantime.
      }
    }
  }

  /** Sends a signal several times, to reach processes that were forked in the meantime, too. */
  #signalAll(signal: NodeJS.Signals): void {
    for (let round = 0; round < 3; round += 1) {
      this.#signal(signal);
    }
  }
}

/** Whether a process has ended but was not waited for by its parent. */
function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true;
  }
}

function run(program: string, ...arguments_: string[]): string {
  return execFileSync(program, arguments_, { encoding: "utf8" });
}
