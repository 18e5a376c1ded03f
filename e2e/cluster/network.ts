// Machines as network namespaces, each with its own address on one bridge. A machine can be killed, frozen, slowed down or
// disconnected, and repaired.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { until } from "./conditions.ts";

const bridge = "cluster";
/** The machines' subnet. The bridge has its first address, from which the tests call the machines. */
const subnet = "10.77.0";
/** Files may run at the same time, each with machines of its own. */
const logs = resolve(
  import.meta.dirname,
  "../artifacts/cluster",
  process.env.SELVEDGE_CLUSTER_FILE ?? "",
);

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

/** A program that has ended. */
export interface Finished {
  /** Its exit code; null when it was ended by a signal, as after its time limit. */
  code: number | null;
  /** What it printed. */
  output: string;
  seconds: number;
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

  /** Starts a program. Its output goes to `artifacts/cluster/FILE/NAME.log`. */
  run(program: Program): void {
    const log = openSync(join(logs, `${this.name}.log`), "a");
    spawn("ip", ["netns", "exec", this.name, ...commandOf(program)], {
      stdio: ["ignore", log, log],
      env: { ...process.env, ...program.environment },
    });
    closeSync(log);
  }

  /** Runs a program to its end, and kills it after `limitMs`. */
  execute(program: Program & { limitMs: number }): Promise<Finished> {
    const beganMs = performance.now();
    const child = spawn("ip", ["netns", "exec", this.name, ...commandOf(program)], {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...program.environment },
      timeout: program.limitMs,
      killSignal: "SIGKILL",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    return new Promise((done, fail) => {
      child.once("error", fail).once("close", (code) => {
        const seconds = (performance.now() - beganMs) / 1_000;
        done({ code, output, seconds });
      });
    });
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

  /** Stops the processes of one program, while all others of the machine go on. */
  freezeProgram(name: string): void {
    for (const pid of this.#processes().filter((one) => nameOf(one) === name)) {
      process.kill(pid, "SIGSTOP");
    }
  }

  /** Gives the machine a further address, which another one had before: a virtual address moves. */
  takeAddress(address: string): void {
    run("ip", "-n", this.name, "address", "add", `${address}/24`, "dev", "eth0");
  }

  /** Gives the address up. */
  giveUpAddress(address: string): void {
    run("ip", "-n", this.name, "address", "del", `${address}/24`, "dev", "eth0");
  }

  /** Forgets at which machine an address is, as after the announcement (ARP) of the one that has taken it. */
  forgetNeighbours(): void {
    run("ip", "-n", this.name, "neigh", "flush", "dev", "eth0");
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

/** The command with a change of the user that runs it. */
function commandOf({ command, user }: Program): string[] {
  const login =
    user === undefined ? [] : ["setpriv", "--reuid", user, "--regid", user, "--init-groups"];
  return [...login, ...command];
}

/** Whether a process has ended but was not waited for by its parent. */
function isZombie(pid: number): boolean {
  try {
    return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return true;
  }
}

/** The name of a process; empty when it has ended. */
function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

/** Makes a name lead to another address, as a change of the DNS does. */
export function moveName(name: string, address: string): void {
  const lines = readFileSync("/etc/hosts", "utf8").split("\n").filter(Boolean);
  const others = lines.filter((line) => line.split(" ")[1] !== name);
  writeFileSync("/etc/hosts", `${[...others, `${address} ${name}`].join("\n")}\n`);
}

function run(program: string, ...arguments_: string[]): string {
  return execFileSync(program, arguments_, { encoding: "utf8" });
}
