// The machines of the cluster and their programs: the topology of docker/compose.cluster.yaml, with the database under Patroni, and
// `selvedge rest` behind poolers.

import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { generateKeys } from "../support/cluster.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { binary } from "../support/selvedge.ts";
import { isListening, until } from "./conditions.ts";
import {
  findPrimary,
  isReplicated,
  password,
  sql,
  startEtcd,
  startServer,
  superuserPassword,
} from "./database.ts";
import { Machine, makeBridge } from "./network.ts";

/** URL of the API. */
export const apiUrl = "https://proxy";
/** URL of `selvedge rest`, which reaches the database through the poolers. */
export const pooledUrl = "http://pooled:3000";
/** Restarts a program when it ends, as systemd or a container runtime does. */
const supervise = ["sh", "-c", 'while true; do "$@"; sleep 0.5; done', "sh"];
/** The largest lag of a replica that is still used for reads. */
const maxLag = "5s";

/** The nodes' credentials for the S3 server. */
const storeKeys = { id: randomBytes(10).toString("hex"), secret: randomBytes(20).toString("hex") };

/** `serve` requires an SMTP server, but these tests send no mail. */
const mail = {
  SUPABASE_AUTH_EMAIL_SMTP_ENABLED: "true",
  SUPABASE_AUTH_EMAIL_SMTP_HOST: "127.0.0.1",
  SUPABASE_AUTH_EMAIL_SMTP_ADMIN_EMAIL: "admin@cluster.test",
};

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
  const etcd = new Machine("etcd", 10, (machine) => startEtcd(machine, folder));
  const server = (name: string, number: number) =>
    new Machine(name, number, (machine) => startServer(machine, folder));
  const servers: [Machine, Machine] = [server("db-1", 11), server("db-2", 12)];
  const node = (name: string, number: number) =>
    new Machine(name, number, (machine) => startNode(machine, folder, project, keys));
  const nodes: Topology["nodes"] = [node("node-1", 21), node("node-2", 22), node("node-3", 23)];
  const broker = new Machine("nats", 31, startBroker);
  const store = new Machine("store", 32, (machine) => startStore(machine, folder, keys));
  const proxy = new Machine("proxy", 40, (machine) => startProxy(machine, folder));
  const pooled = new Machine("pooled", 41, (machine) => startPooled(machine, keys));

  await Promise.all([broker, store].map((machine) => machine.start()));
  await startDatabase(etcd, servers, project);
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
async function startDatabase(etcd: Machine, servers: Machine[], project: ProjectFolder) {
  await etcd.start();
  // One after the other, because a server that finds no primary waits long before it tries again.
  for (const server of servers) {
    await server.start();
    await until(async () => (await findPrimary(servers)) !== undefined, "there is a primary");
  }
  await until(() => isReplicated(servers), "the replica follows the primary");
  const migrator = new Machine("migrate", 50, async (machine) => {
    machine.run({
      command: [binary(), "migrate", "up", "--project", project.path],
      environment: {
        DATABASE_URL: databaseUrl("supabase_admin", 5432, superuserPassword),
        SELVEDGE_SERVICE_PASSWORD: password,
      },
    });
  });
  await migrator.start();
  await until(async () => {
    const primary = await findPrimary(servers);
    const applied = "select count(*) from supabase_migrations.schema_migrations";
    const rows = primary === undefined ? [] : await sql(primary, applied).catch(() => []);
    return rows[0]?.[0] === "1";
  }, "the migration is applied");
}

/** Database URL with both servers. Without TLS, because the network is within this machine. */
function databaseUrl(user: string, port = 5432, secret = password): string {
  return `postgresql://${user}:${secret}@db-1:${port},db-2:${port}/postgres?sslmode=disable`;
}

async function startNode(
  machine: Machine,
  folder: string,
  project: ProjectFolder,
  keys: Record<string, string>,
): Promise<void> {
  const replica = (server: string) =>
    `postgresql://authenticator:${password}@${server}:5432/postgres?sslmode=disable`;
  machine.run({
    command: [...supervise, binary(), "serve", "--project", project.path],
    environment: {
      ...keys,
      DATABASE_URL: databaseUrl("authenticator"),
      SELVEDGE_REPLICAS_URLS: [replica("db-1"), replica("db-2")].join(","),
      SELVEDGE_REPLICAS_MAX_LAG: maxLag,
      SELVEDGE_DATA_DIR: join(folder, machine.name),
      SELVEDGE_NATS_SERVERS: "nats://nats:4222",
      SELVEDGE_NATS_NODE_TIMEOUT: "5s",
      SELVEDGE_S3_BUCKET: "objects",
      SELVEDGE_S3_ENDPOINT: "http://store:54321/storage/v1/s3",
      SELVEDGE_S3_REGION: "local",
      SELVEDGE_S3_ACCESS_KEY_ID: storeKeys.id,
      SELVEDGE_S3_SECRET_ACCESS_KEY: storeKeys.secret,
      SELVEDGE_TRUSTED_PROXIES: "1",
      SELVEDGE_DRAIN_DELAY: "2s",
      SUPABASE_API_EXTERNAL_URL: apiUrl,
      SUPABASE_AUTH_EMAIL_ENABLE_CONFIRMATIONS: "false",
      ...mail,
      // All simulated people have the same IP address.
      SUPABASE_AUTH_RATE_LIMIT_SIGN_IN_SIGN_UPS: "100000",
      SUPABASE_AUTH_RATE_LIMIT_TOKEN_REFRESH: "100000",
    },
  });
}

/** Waits until a server is ready, and until a node is connected to the broker. */
async function untilReady(machine: Machine): Promise<void> {
  await until(async () => {
    const url = `http://${machine.address}:54321/health/ready`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    const body = (await answer?.json().catch(() => undefined)) as { status?: string } | undefined;
    return body?.status === "ok";
  }, `${machine.name} is ready`);
}

async function startBroker(machine: Machine): Promise<void> {
  machine.run({ command: [process.env.SELVEDGE_CLUSTER_NATS ?? "nats-server", "--port", "4222"] });
  await until(() => isListening(machine.address, 4222), "the broker listens");
}

/** Starts the S3 server: another Selvedge, whose storage speaks S3, with a database on the same machine. */
async function startStore(machine: Machine, folder: string, keys: Record<string, string>) {
  const data = { SELVEDGE_DATA_DIR: join(folder, machine.name) };
  const project = ["--project", join(repository, "e2e/cluster/store")];
  machine.run({
    command: [...supervise, binary(), "start", ...project, "--port", "54320", "--no-studio"],
    environment: data,
  });
  machine.run({
    command: [...supervise, binary(), "serve", ...project],
    environment: {
      ...data,
      ...keys,
      DATABASE_URL: "postgresql://postgres:postgres@127.0.0.1:54322/postgres",
      SELVEDGE_S3_PROTOCOL_ACCESS_KEY_ID: storeKeys.id,
      SELVEDGE_S3_PROTOCOL_SECRET_ACCESS_KEY: storeKeys.secret,
      SUPABASE_API_EXTERNAL_URL: "http://store:54321",
      ...mail,
    },
  });
  await untilReady(machine);
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
      PGRST_DB_URI: databaseUrl("authenticator", 6432),
      PGRST_DB_ANON_ROLE: "anon",
      PGRST_DB_PREPARED_STATEMENTS: "false",
      PGRST_DB_CHANNEL_ENABLED: "false",
      PGRST_JWT_SECRET: keys.SUPABASE_AUTH_JWT_SECRET ?? "",
    },
  });
  await until(() => isListening(machine.address, 3000), "selvedge rest listens");
}
