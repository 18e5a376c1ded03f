// PostgreSQL servers for tests of replicas and failover: a primary and streaming replicas, each of which can be stopped, killed, frozen
// and promoted. The servers trust every login from this machine.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { appendFile, chmod, cp, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "./ports.ts";
import { startSelvedge } from "./selvedge.ts";
import { querySql } from "./sql.ts";
import { until } from "./until.ts";

/** One server, which may be stopped. */
export interface PostgresServer {
  port: number;
  /** Connection URL of a user. */
  url(user?: string): string;
  /** Runs SQL as superuser; returns the rows of the last statement as texts. */
  sql(text: string): Promise<(string | null)[][]>;
  start(): Promise<void>;
  /** Ends it with a checkpoint, so that replicas receive everything. */
  stop(): Promise<void>;
  /** Ends it as a power failure does. */
  kill(): Promise<void>;
  /** Stops all of its processes without ending them. Connections stay open, and nothing answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Waits until it has replayed what the primary has written. */
  untilCaughtUpWith(primary: PostgresServer): Promise<void>;
}

export interface ReplicatedDatabase {
  primary: PostgresServer;
  replicas: PostgresServer[];
  /** Makes a server that was promoted a replica of the primary again, which is restarted for that. All that it wrote is lost. */
  takeBackPromotion(replica: PostgresServer): Promise<void>;
  stop(): Promise<void>;
}

/** The database of a project in a stopped server, of which tests start copies. */
export interface PreparedDatabase {
  /** The data of the server. */
  data: string;
  remove(): Promise<void>;
}

/** Makes the database of a project, by the project's server, with everything that its services expect. */
export async function prepareDatabase(project: string): Promise<PreparedDatabase> {
  const folder = await makeFolder();
  const made = await startSelvedge(project, [], { SELVEDGE_DATA_DIR: folder });
  await made.stop();
  return {
    data: join(folder, "pgdata"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-postgres-"));
  // PostgreSQL refuses to run as root, so its own user has to reach the folder.
  await chmod(folder, 0o755);
  return folder;
}

/** Starts a copy of a database, and streaming replicas of it. */
export async function startReplicatedDatabase(
  prepared: PreparedDatabase,
  replicaCount: number,
  settings: Record<string, string> = {},
): Promise<ReplicatedDatabase> {
  const folder = await makeFolder();
  const data = join(folder, "pgdata");
  const ports = await freePorts(replicaCount + 1);
  const servers = await Promise.all(
    ports.map((port, index) => copyServer(prepared.data, `${data}-${index}`, port, settings)),
  );
  const [primary, ...replicas] = servers;
  if (primary === undefined) {
    throw new Error("there is no primary");
  }
  await primary.start();
  for (const [index, replica] of replicas.entries()) {
    await makeStandby(`${data}-${index + 1}`, primary);
    await replica.start();
  }
  return {
    primary,
    replicas,
    takeBackPromotion: async (replica) => {
      const replaced = `${data}-${replicas.indexOf(replica) + 1}`;
      await Promise.all([primary.stop(), replica.kill()]);
      await rm(replaced, { recursive: true });
      await cp(`${data}-0`, replaced, { recursive: true });
      await chmod(replaced, 0o700);
      await appendFile(join(replaced, "postgresql.conf"), `port = '${replica.port}'\n`);
      await makeStandby(replaced, primary);
      await primary.start();
      await replica.start();
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.kill()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Makes the data of a server that was stopped cleanly those of its replica. */
async function makeStandby(folder: string, primary: PostgresServer): Promise<void> {
  await writeFile(join(folder, "standby.signal"), "");
  await appendFile(
    join(folder, "postgresql.conf"),
    `primary_conninfo = 'host=127.0.0.1 port=${primary.port} user=supabase_admin'\n`,
  );
}

/** Copies the data of a stopped server to `folder`, for a server on `port`. */
async function copyServer(
  data: string,
  folder: string,
  port: number,
  settings: Record<string, string>,
): Promise<PostgresServer> {
  await cp(data, folder, { recursive: true });
  const access = ["all", "replication"].map((what) => `host ${what} all 127.0.0.1/32 trust\n`);
  await writeFile(join(folder, "pg_hba.conf"), access.join(""));
  const own = {
    port: `${port}`,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    // A test that kills a server checks what replication loses, and not what the disk does.
    fsync: "off",
    wal_receiver_status_interval: "1",
    hot_standby_feedback: "on",
    ...settings,
  };
  const lines = Object.entries(own).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(folder, "postgresql.conf"), lines.join(""));
  const program = (await readFile(join(data, "postmaster.opts"), "utf8")).split(" ")[0] ?? "";
  const { uid, gid } = await stat(data);
  await chmod(folder, 0o700);
  const isRoot = process.getuid?.() === 0;
  return makeServer(port, () => {
    if (isRoot) {
      execFileSync("chown", ["-R", `${uid}:${gid}`, folder]);
    }
    return spawn(program, ["-D", folder], {
      stdio: "ignore",
      ...(isRoot ? { uid, gid } : {}),
    });
  });
}

function makeServer(port: number, launch: () => ChildProcess): PostgresServer {
  let child: ChildProcess | null = null;
  const url = (user = "authenticator") =>
    `postgresql://${user}:postgres@127.0.0.1:${port}/postgres`;
  const sql = (text: string) => querySql(port, text);
  const end = async (signal: "SIGINT" | "SIGQUIT") => {
    if (child !== null) {
      signalProcesses(child, "SIGCONT");
      const ended = new Promise((done) => child?.once("exit", done));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal);
        await ended;
      }
    }
    child = null;
  };
  return {
    port,
    url,
    sql,
    start: async () => {
      child = launch();
      await until(
        () =>
          sql("select 1").then(
            () => true,
            () => false,
          ),
        `PostgreSQL on port ${port}`,
      );
    },
    stop: () => end("SIGINT"),
    kill: () => end("SIGQUIT"),
    freeze: async () => signalProcesses(child, "SIGSTOP"),
    thaw: async () => signalProcesses(child, "SIGCONT"),
    untilCaughtUpWith: async (primary) => {
      const [[position] = []] = await primary.sql("select pg_current_wal_insert_lsn()");
      await until(async () => {
        const [[isThere] = []] = await sql(`select pg_last_wal_replay_lsn() >= '${position}'`);
        return isThere === "t";
      }, "the replica catches up");
    },
  };
}

/** Sends a signal to a server and to its processes, each of which is in a separate process group. */
function signalProcesses(child: ChildProcess | null, signal: "SIGSTOP" | "SIGCONT"): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const children = spawnSync("pgrep", ["-P", `${child.pid}`], { encoding: "utf8" }).stdout;
  for (const pid of [child.pid, ...children.trim().split(/\s+/).filter(Boolean).map(Number)]) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended in the meantime.
    }
  }
}
