// Several nodes of `selvedge serve` on one database, with a NATS server between them; each can be killed and started again.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { connect } from "node:net";
import { join, resolve } from "node:path";
import { freePorts } from "./ports.ts";
import { prepareDatabase, startReplicatedDatabase } from "./postgres.ts";
import { makeProject } from "./project.ts";
import { binary, stop } from "./selvedge.ts";
import { until } from "./until.ts";

const repository = resolve(import.meta.dirname, "../..");
/** After this long without a sign of life a node counts as dead. */
export const nodeTimeoutMs = 3_000;

/** A program that can be killed and started again on the same port. */
export interface Killable {
  name: string;
  url: string;
  kill(): Promise<void>;
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface Cluster {
  nodes: [Killable, Killable];
  nats: Killable;
  publishableKey: string;
  secretKey: string;
  /** URL of the database, as `postgres`. */
  databaseUrl: string;
  /** Waits until both nodes reach the database and the broker. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the database of a project with this migration, a NATS server and two nodes with these variables. */
export async function startCluster(
  migration: string,
  variables: Record<string, string> = {},
): Promise<Cluster> {
  const project = await makeProject("cluster", migration);
  const prepared = await prepareDatabase(project.path);
  const database = await startReplicatedDatabase(prepared, 0);
  const databaseUrl = database.primary.url("postgres");
  const [natsPort = 0, firstPort = 0, secondPort = 0] = await freePorts(3);
  const keys = generateKeys(project.path);
  const nats = killable("the broker", `nats://127.0.0.1:${natsPort}`, () => startNats(natsPort));
  const node = (port: number) =>
    killable(`the node on port ${port}`, `http://127.0.0.1:${port}`, () =>
      startNode(project.path, port, {
        ...keys,
        DATABASE_URL: databaseUrl,
        SELVEDGE_NATS_SERVERS: nats.url,
        SELVEDGE_NATS_NODE_TIMEOUT: `${nodeTimeoutMs}ms`,
        ...variables,
      }),
    );
  const nodes: [Killable, Killable] = [node(firstPort), node(secondPort)];
  await nats.start();
  await Promise.all(nodes.map((one) => one.start()));
  return {
    nodes,
    nats,
    databaseUrl,
    publishableKey: keys.SUPABASE_AUTH_PUBLISHABLE_KEY ?? "",
    secretKey: keys.SUPABASE_AUTH_SECRET_KEY ?? "",
    untilHealthy: async () => {
      await Promise.all(nodes.map((one) => untilHealthy(one.url)));
    },
    stop: async () => {
      await Promise.all([...nodes, nats].map((one) => one.kill()));
      await database.stop();
      await prepared.remove();
      await project.remove();
    },
  };
}

function killable(name: string, url: string, launch: () => Promise<ChildProcess>): Killable {
  let child: ChildProcess | null = null;
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    if (child !== null) {
      await stop(child, signal);
    }
    child = null;
  };
  return {
    name,
    url,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    start: async () => {
      child = await launch();
    },
  };
}

/** The variables that `selvedge keys --generate` prints. */
export function generateKeys(project: string): Record<string, string> {
  const arguments_ = ["keys", "--generate", "--project", project];
  const lines = execFileSync(binary(), arguments_, { encoding: "utf8" }).split("\n");
  const pairs = lines.flatMap((line) => {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value.replace(/^"|"$/g, "")]];
  });
  return Object.fromEntries(pairs);
}

async function startNats(port: number): Promise<ChildProcess> {
  const program = execFileSync(join(repository, "tools/nats-server"), { encoding: "utf8" }).trim();
  const child = spawn(program, ["--addr", "127.0.0.1", "--port", `${port}`], { stdio: "ignore" });
  await until(() => isListening(port), "the broker listens");
  return child;
}

/** Starts `selvedge serve` with a project and waits until it responds. `onOutput` gets what it logs. */
export async function startNode(
  project: string,
  port: number,
  variables: Record<string, string>,
  onOutput?: (text: string) => void,
): Promise<ChildProcess> {
  const arguments_ = ["serve", "--project", project, "--host", "127.0.0.1", "--port", `${port}`];
  const child = spawn(binary(), arguments_, {
    stdio: onOutput === undefined ? "ignore" : ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      SELVEDGE_DATA_DIR: join(project, `node-${port}`),
      SUPABASE_AUTH_EMAIL_SMTP_ENABLED: "true",
      SUPABASE_AUTH_EMAIL_SMTP_HOST: "127.0.0.1",
      SUPABASE_AUTH_EMAIL_SMTP_ADMIN_EMAIL: "admin@lookbook.test",
      ...variables,
    },
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => onOutput?.(text));
  }
  await until(async () => {
    if (child.exitCode !== null) {
      throw new Error(`a node ended with code ${child.exitCode}`);
    }
    return (await health(`http://127.0.0.1:${port}`)) !== undefined;
  }, "the node responds");
  return child;
}

async function untilHealthy(url: string): Promise<void> {
  await until(async () => (await health(url)) === "ok", `${url} is healthy`);
}

/** The status that a node reports; undefined when it does not respond. */
async function health(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/health/ready`);
    const { status } = (await response.json()) as { status?: string };
    return response.ok ? status : undefined;
  } catch {
    return undefined;
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => done(true)).once("error", () => done(false));
    socket.once("connect", () => socket.destroy());
  });
}
