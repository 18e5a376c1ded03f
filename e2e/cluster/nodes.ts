// The programs of Selvedge's machines: nodes of `selvedge serve`, the S3 server where they store objects, and commands.

import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import type { ProjectFolder } from "../support/project.ts";
import { binary } from "../support/selvedge.ts";
import { until } from "./conditions.ts";
import { password, superuserPassword } from "./database.ts";
import type { Finished, Machine } from "./network.ts";

/** Restarts a program when it ends, as systemd or a container runtime does. */
export const supervise = ["sh", "-c", 'while true; do "$@"; sleep 0.5; done', "sh"];
/** The largest lag of a replica that is still used for reads. */
const maxLag = "5s";
/** Of `postgres`, who owns the project's objects. */
const postgresPassword = "cluster-postgres";
/** A command that takes longer hangs. In milliseconds. */
const commandMs = 120_000;

/** The nodes' credentials for the S3 server. */
const storeKeys = { id: randomBytes(10).toString("hex"), secret: randomBytes(20).toString("hex") };

/** Where the nodes store objects. */
const storeSettings = {
  SELVEDGE_S3_BUCKET: "objects",
  SELVEDGE_S3_ENDPOINT: "http://store:54321/storage/v1/s3",
  SELVEDGE_S3_REGION: "local",
  SELVEDGE_S3_ACCESS_KEY_ID: storeKeys.id,
  SELVEDGE_S3_SECRET_ACCESS_KEY: storeKeys.secret,
};

/** `serve` requires an SMTP server, but these tests send no mail. */
const mail = {
  SUPABASE_AUTH_EMAIL_SMTP_ENABLED: "true",
  SUPABASE_AUTH_EMAIL_SMTP_HOST: "127.0.0.1",
  SUPABASE_AUTH_EMAIL_SMTP_ADMIN_EMAIL: "admin@cluster.test",
};

const repository = resolve(import.meta.dirname, "../..");

/** What all nodes of a cluster have in common. */
export interface Deployment {
  /** Where machines keep their data. */
  folder: string;
  project: ProjectFolder;
  keys: Record<string, string>;
}

/** Database URL of these hosts (`name:port`). Without TLS, because the network is within this machine. */
export function databaseUrl(user: string, hosts: string[], secret = password): string {
  return `postgresql://${user}:${secret}@${hosts.join(",")}/postgres?sslmode=disable`;
}

/** Starts a node with the database of these hosts, and the variables that only this kind of node has. */
export function startNode(
  machine: Machine,
  deployment: Deployment,
  hosts: string[],
  variables: Record<string, string>,
): void {
  const { project, keys, folder } = deployment;
  machine.run({
    command: [...supervise, binary(), "serve", "--project", project.path],
    environment: {
      ...keys,
      ...storeSettings,
      ...mail,
      DATABASE_URL: databaseUrl("authenticator", hosts),
      SELVEDGE_POSTGRES_PASSWORD: postgresPassword,
      SELVEDGE_DATA_DIR: join(folder, machine.name),
      SUPABASE_AUTH_EMAIL_ENABLE_CONFIRMATIONS: "false",
      // All simulated people have the same IP address.
      SUPABASE_AUTH_RATE_LIMIT_SIGN_IN_SIGN_UPS: "100000",
      SUPABASE_AUTH_RATE_LIMIT_TOKEN_REFRESH: "100000",
      ...variables,
    },
  });
}

/** The variables of a node that reads from these servers, as far as they are standbys. */
export function replicasOf(servers: string[]): Record<string, string> {
  const urls = servers.map((server) => databaseUrl("authenticator", [`${server}:5432`]));
  return { SELVEDGE_REPLICAS_URLS: urls.join(","), SELVEDGE_REPLICAS_MAX_LAG: maxLag };
}

/** Runs a command of Selvedge with the database of these hosts, as superuser unless `user` is given. */
export function runCommand(
  machine: Machine,
  { project, keys, folder }: Deployment,
  hosts: string[],
  arguments_: string[],
  user?: string,
): Promise<Finished> {
  return machine.execute({
    command: [binary(), ...arguments_, "--project", project.path],
    environment: {
      ...keys,
      ...storeSettings,
      ...mail,
      DATABASE_URL:
        user === undefined
          ? databaseUrl("supabase_admin", hosts, superuserPassword)
          : databaseUrl(user, hosts),
      SELVEDGE_DATA_DIR: join(folder, machine.name),
      SELVEDGE_SERVICE_PASSWORD: password,
      SELVEDGE_POSTGRES_PASSWORD: postgresPassword,
      // PostgreSQL 15 asks for a decision.
      SELVEDGE_RESERVE_FILE_ROLES: "true",
    },
    limitMs: commandMs,
  });
}

/** Waits until a server is ready, and until a node is connected to the broker. */
export async function untilReady(machine: Machine): Promise<void> {
  await until(async () => {
    const url = `http://${machine.address}:54321/health/ready`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    const body = (await answer?.json().catch(() => undefined)) as { status?: string } | undefined;
    return body?.status === "ok";
  }, `${machine.name} is ready`);
}

/** Reads one of a node's metrics, which has these labels; undefined when the node does not say it. */
export async function readMetric(machine: Machine, name: string): Promise<number | undefined> {
  const url = `http://${machine.address}:54321/metrics`;
  const text = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    .then((answer) => answer.text())
    .catch(() => "");
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

/** Starts the S3 server: another Selvedge, whose storage speaks S3, with a database on the same machine. */
export async function startStore(
  machine: Machine,
  folder: string,
  keys: Record<string, string>,
): Promise<void> {
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
