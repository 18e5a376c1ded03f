// The machines of the cluster and their programs: the topology of docker/compose.cluster.yaml, with the database under Patroni, and
// `selvedge rest` behind poolers.

import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { generateKeys } from "../support/cluster.ts";
import { makeProject } from "../support/project.ts";
import { binary } from "../support/selvedge.ts";
import { isListening, until } from "./conditions.ts";
import { findPrimary, isReplicated, startEtcd, startServer } from "./database.ts";
import { Machine, makeBridge } from "./network.ts";
import {
  type Deployment,
  databaseUrl,
  replicasOf,
  runCommand,
  startNode,
  startStore,
  supervise,
  untilReady,
} from "./nodes.ts";

/** URL of the API. */
export const apiUrl = "https://proxy";
/** URL of `selvedge rest`, which reaches the database through the poolers. */
export const pooledUrl = "http://pooled:3000";
/** The machines of the database. */
const serverNames = ["db-1", "db-2"] as const;

const repository = resolve(import.meta.dirname, "../..");

export interface Topology {
  nodes: [Machine, Machine, Machine];
  servers: [Machine, Machine];
  broker: Machine;
  store: Machine;
  proxy: Machine;
  /** Runs `selvedge rest` behind the poolers. */
  pooled: Machine;
  keys: Record<string, string>;
  /** Waits until every program runs and is connected to the others. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the cluster with a project that has this migration. */
export async function startTopology(folder: string, migration: string): Promise<Topology> {
  makeBridge();
  const project = await makeProject("cluster", migration);
  const keys = generateKeys(project.path);
  const deployment = { folder, project, keys };
  const etcd = new Machine("etcd", 10, (machine) => startEtcd(machine, folder));
  const server = (name: string, number: number) =>
    new Machine(name, number, (machine) => startServer(machine, folder));
  const servers: [Machine, Machine] = [server(serverNames[0], 11), server(serverNames[1], 12)];
  const node = (name: string, number: number) =>
    new Machine(name, number, (machine) => startClusterNode(machine, deployment));
  const nodes: Topology["nodes"] = [node("node-1", 21), node("node-2", 22), node("node-3", 23)];
  const broker = new Machine("nats", 31, startBroker);
  const store = new Machine("store", 32, (machine) => startStore(machine, folder, keys));
  const proxy = new Machine("proxy", 40, (machine) => startProxy(machine, folder));
  const pooled = new Machine("pooled", 41, (machine) => startPooled(machine, keys));

  await Promise.all([broker, store].map((machine) => machine.start()));
  await startDatabase(etcd, servers, deployment);
  await Promise.all([...nodes, pooled].map((machine) => machine.start()));
  await proxy.start();
  const machines = [proxy, ...nodes, pooled, broker, store, ...servers, etcd];
  return {
    nodes,
    servers,
    broker,
    store,
    proxy,
    pooled,
    keys,
    untilHealthy: async () => {
      await until(() => isReplicated(servers), "the replica follows the primary");
      await Promise.all([...nodes, store].map(untilReady));
    },
    stop: async () => {
      await Promise.all(machines.map((machine) => machine.losePower()));
      await project.remove();
    },
  };
}

/** Starts both database servers, and applies the project's migration. */
async function startDatabase(etcd: Machine, servers: Machine[], deployment: Deployment) {
  await etcd.start();
  // One after the other, because a server that finds no primary waits long before it tries again.
  for (const server of servers) {
    await server.start();
    await until(async () => (await findPrimary(servers)) !== undefined, "there is a primary");
  }
  await until(() => isReplicated(servers), "the replica follows the primary");
  const migrator = new Machine("migrate", 50, async () => {});
  const { code, output } = await runCommand(migrator, deployment, databaseHosts(5432), [
    "migrate",
    "up",
  ]);
  if (code !== 0) {
    throw new Error(`The migration was not applied:\n${output}`);
  }
}

async function startClusterNode(machine: Machine, deployment: Deployment): Promise<void> {
  startNode(machine, deployment, databaseHosts(5432), {
    ...replicasOf([...serverNames]),
    SELVEDGE_NATS_SERVERS: "nats://nats:4222",
    SELVEDGE_NATS_NODE_TIMEOUT: "5s",
    SELVEDGE_TRUSTED_PROXIES: "1",
    SELVEDGE_DRAIN_DELAY: "2s",
    // Passwords are hashed at the lowest priority: on a busy computer a sign-in takes longer than the ten seconds of the default.
    SELVEDGE_SHUTDOWN_TIMEOUT: "45s",
    SUPABASE_API_EXTERNAL_URL: apiUrl,
  });
}

/** Both servers with this port. */
function databaseHosts(port: number): string[] {
  return serverNames.map((name) => `${name}:${port}`);
}

async function startBroker(machine: Machine): Promise<void> {
  machine.run({ command: [process.env.SELVEDGE_CLUSTER_NATS ?? "nats-server", "--port", "4222"] });
  await until(() => isListening(machine.address, 4222), "the broker listens");
}

/** Starts nginx with docker/nginx.conf, the configuration for operators. */
async function startProxy(machine: Machine, folder: string): Promise<void> {
  const shipped = await readFile(join(repository, "docker/nginx.conf"), "utf8");
  const settings = join(folder, "nginx.conf");
  await writeFile(
    settings,
    shipped.replaceAll("/etc/nginx/tls", folder).replace(/^pid .*;$/m, `pid ${folder}/nginx.pid;`),
  );
  machine.run({ command: ["nginx", "-c", settings, "-e", "stderr", "-g", "daemon off;"] });
  await until(() => isListening(machine.address, 443), "nginx listens");
}

async function startPooled(machine: Machine, keys: Record<string, string>): Promise<void> {
  machine.run({
    command: [...supervise, binary(), "rest"],
    environment: {
      PGRST_DB_URI: databaseUrl("authenticator", databaseHosts(6432)),
      PGRST_DB_ANON_ROLE: "anon",
      PGRST_DB_PREPARED_STATEMENTS: "false",
      PGRST_DB_CHANNEL_ENABLED: "false",
      PGRST_JWT_SECRET: keys.SUPABASE_AUTH_JWT_SECRET ?? "",
    },
  });
  await until(() => isListening(machine.address, 3000), "selvedge rest listens");
}
