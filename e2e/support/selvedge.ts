// Runs the built binary for tests, on free ports and with a temporary data folder that is removed afterwards.
//
// SELVEDGE_BIN names the binary (default: target/release/selvedge, then target/debug/selvedge).

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { freePorts } from "./ports.ts";

const repository = resolve(import.meta.dirname, "../..");
const startTimeoutMs = 120_000;

/** A running server. */
export interface Selvedge {
  /** Address of the API and the site. */
  apiUrl: string;
  /** Address of the development inbox. */
  inboxUrl: string;
  consoleUrl: string;
  /** URL of its PostgreSQL. */
  databaseUrl: string;
  /** Where it stores everything. */
  dataFolder: string;
  /** Its output so far. */
  output(): string;
  stop(): Promise<void>;
  /** Kills it with SIGKILL, as in a crash: it cannot clean up. */
  kill(): Promise<void>;
  /** Stops the process where it is, until {@link thaw}. Its PostgreSQL goes on. */
  freeze(): void;
  thaw(): void;
  /** Starts it again after {@link kill} with the same ports and data; `changed` overrides variables. */
  restart(changed?: Record<string, string>): Promise<void>;
}

/**
 * Starts the project in this folder (relative to the repository) and waits until the server responds. `command` is `start`, or
 * another one that starts a server; `port` is the console's, where it must be a given one.
 */
export async function startSelvedge(
  project: string,
  flags: string[] = [],
  variables: Record<string, string> | ((apiPort: number) => Record<string, string>) = {},
  command: string[] = ["start"],
  port?: number,
): Promise<Selvedge> {
  const [apiPort, databasePort, inboxPort, freePort] = await freePorts(4);
  const studioPort = port ?? freePort;
  const dataFolder = await mkdtemp(join(tmpdir(), "selvedge-e2e-"));
  // Run as root, the cluster belongs to another user. Where that one may not enter, the data would be put below
  // /var/lib/selvedge, where nothing removes it after the tests.
  await chmod(dataFolder, 0o755);
  const args = [
    ...[...command, "--project", resolve(repository, project)],
    ...["--port", `${apiPort}`],
    ...["--db-port", `${databasePort}`],
    ...["--inbox-port", `${inboxPort}`],
    ...["--studio-port", `${studioPort}`],
    ...flags,
  ];
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  let server: Server;
  const given = typeof variables === "function" ? variables(apiPort ?? 0) : variables;
  const end = async () => {
    await stop(server.process, "SIGTERM");
    await rm(dataFolder, { recursive: true, force: true });
  };
  const begin = async (changed: Record<string, string> = {}) => {
    server = start(dataFolder, { ...given, ...changed }, args);
    await waitForHealth(`${apiUrl}/auth/v1/health`, server, end);
  };
  await begin();
  return {
    apiUrl,
    inboxUrl: `http://127.0.0.1:${inboxPort}`,
    consoleUrl: `http://127.0.0.1:${studioPort}`,
    databaseUrl: `postgresql://postgres:postgres@127.0.0.1:${databasePort}/postgres`,
    dataFolder,
    output: () => server.output(),
    stop: end,
    kill: () => stop(server.process, "SIGKILL"),
    freeze: () => void server.process.kill("SIGSTOP"),
    thaw: () => void server.process.kill("SIGCONT"),
    restart: begin,
  };
}

interface Server {
  process: ChildProcess;
  /** Its output so far; shown when it does not start. */
  output(): string;
}

function start(dataFolder: string, variables: Record<string, string>, args: string[]): Server {
  const child = spawn(binary(), args, {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      SELVEDGE_DATA_DIR: dataFolder,
      // Tests sign up many people from one IP address within seconds.
      SUPABASE_AUTH_RATE_LIMIT_SIGN_IN_SIGN_UPS: "10000",
      SUPABASE_AUTH_RATE_LIMIT_TOKEN_REFRESH: "10000",
      SUPABASE_AUTH_RATE_LIMIT_TOKEN_VERIFICATIONS: "10000",
      ...variables,
    },
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-20_000);
    });
  }
  child.on("error", (error) => {
    printed += `\n${error.message}`;
  });
  return { process: child, output: () => printed };
}

/** Path of the built server. */
export function binary(): string {
  const candidates = process.env.SELVEDGE_BIN
    ? [resolve(process.env.SELVEDGE_BIN)]
    : ["release", "debug"].map((profile) =>
        join(process.env.CARGO_TARGET_DIR ?? join(repository, "target"), profile, "selvedge"),
      );
  const found = candidates.find(existsSync);
  if (!found) {
    throw new Error(`No server binary at ${candidates.join(" or ")}: run \`cargo build\` first.`);
  }
  return found;
}

async function waitForHealth(url: string, server: Server, end: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    if (server.process.exitCode !== null) {
      break;
    }
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) {
      return;
    }
    await new Promise((wake) => setTimeout(wake, 100));
  }
  await end();
  throw new Error(`The server did not start at ${url}:\n${server.output()}`);
}

/** Stops a process by a signal, and waits until it has ended. */
export async function stop(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  await ended;
}
