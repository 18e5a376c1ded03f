// Runs the built binary for a test: on free ports, with a data folder of its own, so that a run neither sees nor
// leaves anything.
//
// SELVEDGE_BIN names the binary (default: target/release/selvedge, then target/debug/selvedge).

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const repository = resolve(import.meta.dirname, "../..");
const startTimeoutMs = 120_000;

/** A running server. */
export interface Selvedge {
  /** Address of the API and the site. */
  apiUrl: string;
  /** Address of the development inbox. */
  inboxUrl: string;
  /** How to reach its PostgreSQL. */
  databaseUrl: string;
  /** What it printed so far. */
  output(): string;
  stop(): Promise<void>;
  /** Kills it as a crash would: nothing in it can clean up. */
  kill(): Promise<void>;
  /** Starts it again after {@link kill}, on the same ports and data; variables may have changed. */
  revive(changed?: Record<string, string>): Promise<void>;
}

/** Starts a project folder, relative to the repository, and waits for its first answer. */
export async function startSelvedge(
  project: string,
  flags: string[] = [],
  variables: Record<string, string> | ((apiPort: number) => Record<string, string>) = {},
): Promise<Selvedge> {
  const [apiPort, databasePort, inboxPort] = await freePorts(3);
  const dataFolder = await mkdtemp(join(tmpdir(), "selvedge-e2e-"));
  const args = [
    ...["start", "--project", resolve(repository, project)],
    ...["--port", `${apiPort}`],
    ...["--db-port", `${databasePort}`],
    ...["--inbox-port", `${inboxPort}`],
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
    await answers(`${apiUrl}/auth/v1/health`, server, end);
  };
  await begin();
  return {
    apiUrl,
    inboxUrl: `http://127.0.0.1:${inboxPort}`,
    databaseUrl: `postgresql://postgres:postgres@127.0.0.1:${databasePort}/postgres`,
    output: () => server.output(),
    stop: end,
    kill: () => stop(server.process, "SIGKILL"),
    revive: begin,
  };
}

interface Server {
  process: ChildProcess;
  /** What it printed so far: the explanation when it does not come up. */
  output(): string;
}

function start(dataFolder: string, variables: Record<string, string>, args: string[]): Server {
  const child = spawn(binary(), args, {
    cwd: repository,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      SELVEDGE_DATA_DIR: dataFolder,
      // Tests sign up many people from one address within seconds.
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

function binary(): string {
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

async function answers(url: string, server: Server, end: () => Promise<void>): Promise<void> {
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
  throw new Error(`The server did not come up at ${url}:\n${server.output()}`);
}

async function stop(child: ChildProcess, signal: "SIGTERM" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = new Promise((done) => child.once("exit", done));
  child.kill(signal);
  await ended;
}

/** Asks the system for ports and gives them back all at once, so that no two are the same. */
export async function freePorts(count: number): Promise<number[]> {
  const sockets = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((ready, failed) => {
          const socket = createServer().once("error", failed);
          socket.listen(0, "127.0.0.1", () => ready(socket));
        }),
    ),
  );
  const ports = sockets.map((socket) => (socket.address() as { port: number }).port);
  await Promise.all(sockets.map((socket) => new Promise((closed) => socket.close(closed))));
  return ports;
}
