// The two database servers: PostgreSQL under Patroni, which elects the primary by etcd, and pgbouncer in front of each.

import { readdirSync } from "node:fs";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { querySql } from "../support/sql.ts";
import { isListening, until } from "./conditions.ts";
import type { Machine } from "./network.ts";

/** Of the services' logins. */
export const password = "cluster";
/** `migrate up` refuses to give the services this one. */
export const superuserPassword = "cluster-superuser";
export const systemUser = "postgres";

/** Runs SQL on a server as superuser. Logins from the tests' own address need no password. */
export function sql(server: Machine, text: string): Promise<(string | null)[][]> {
  return querySql(5432, text, server.address);
}

/** Starts etcd, in which Patroni stores which server is the primary. */
export async function startEtcd(machine: Machine, folder: string): Promise<void> {
  const data = join(folder, machine.name);
  machine.run({
    command: [
      ...["etcd", "--data-dir", data, "--log-level", "warn", "--enable-v2"],
      ...["--listen-client-urls", "http://0.0.0.0:2379"],
      ...["--advertise-client-urls", `http://${machine.name}:2379`],
    ],
  });
  await until(() => isListening(machine.address, 2379), "etcd listens");
}

/** Starts PostgreSQL under Patroni, and pgbouncer. Returns when Patroni runs; PostgreSQL may start later. */
export async function startServer(machine: Machine, folder: string): Promise<void> {
  const home = join(folder, machine.name);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "patroni.yml"), JSON.stringify(patroniSettings(machine, home)));
  await writeFile(join(home, "pgbouncer.ini"), poolerSettings(machine, home));
  await writeFile(join(home, "users.txt"), `"authenticator" "${password}"\n`);
  // PostgreSQL, which runs as another user, creates its folder in this one.
  await chmod(home, 0o777);
  machine.run({ command: ["patroni", join(home, "patroni.yml")], user: systemUser });
  machine.run({ command: ["pgbouncer", join(home, "pgbouncer.ini")], user: systemUser });
  await until(() => isListening(machine.address, 8008), `${machine.name}: Patroni listens`);
}

/** Returns the primary according to Patroni; undefined while there is none. */
export async function findPrimary(servers: Machine[]): Promise<Machine | undefined> {
  return (await findServers(servers, "primary"))[0];
}

/** Whether there is a primary and a synchronous replica, which may be promoted. */
export async function isReplicated(servers: Machine[]): Promise<boolean> {
  const found = await Promise.all([
    findServers(servers, "primary"),
    findServers(servers, "synchronous"),
  ]);
  return found.every((one) => one.length === 1);
}

/** Returns the servers with a role, according to Patroni. */
async function findServers(
  servers: Machine[],
  part: "primary" | "synchronous",
): Promise<Machine[]> {
  const answers = await Promise.all(
    servers.map(async (server) => {
      const signal = AbortSignal.timeout(3_000);
      const url = `http://${server.address}:8008/${part}`;
      return (await fetch(url, { signal }).catch(() => undefined))?.status === 200;
    }),
  );
  return servers.filter((_, index) => answers[index]);
}

/** The programs of the newest PostgreSQL on this computer. */
export function postgresPrograms(): string {
  const [newest = ""] = readdirSync("/usr/lib/postgresql").sort((a, b) => Number(b) - Number(a));
  return join("/usr/lib/postgresql", newest, "bin");
}

function patroniSettings(machine: Machine, home: string): object {
  const login = (username: string) => ({ username, password: superuserPassword });
  return {
    scope: "selvedge",
    name: machine.name,
    restapi: { listen: `${machine.address}:8008`, connect_address: `${machine.name}:8008` },
    // By etcd's API v2. By v3, Patroni 3.0 of Debian 12 writes the leader's key without a condition, so a primary that wakes up takes the
    // lock from the one that was promoted meanwhile. failover.test.ts tries what nodes do then.
    etcd: { host: "etcd:2379" },
    bootstrap: {
      dcs: {
        // A primary that does not renew its lease for this long is replaced. Patroni's minimum.
        ttl: 20,
        loop_wait: 2,
        retry_timeout: 5,
        // Do not wait for a crashed primary to recover.
        primary_start_timeout: 0,
        // A commit waits for the synchronous replica, and only that one may be promoted.
        synchronous_mode: true,
        postgresql: { use_pg_rewind: true, use_slots: true, parameters: serverSettings },
      },
      initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, "data-checksums"],
    },
    postgresql: {
      listen: `${machine.address},127.0.0.1:5432`,
      connect_address: `${machine.name}:5432`,
      data_dir: join(home, "data"),
      bin_dir: postgresPrograms(),
      pgpass: join(home, "pgpass"),
      authentication: {
        // In Supabase's platform schema `postgres` is an administrator without superuser rights.
        superuser: login("supabase_admin"),
        replication: login("replicator"),
        rewind: login("rewinder"),
      },
      parameters: { unix_socket_directories: home },
      pg_hba: accessRules,
    },
  };
}

/** Who may log in to a server, and how. */
export const accessRules = [
  "local all all trust",
  "host all supabase_admin tests trust",
  "host all all samenet scram-sha-256",
  "host replication all samenet scram-sha-256",
];

/** Settings of PostgreSQL on every server. */
export const serverSettings = {
  wal_level: "logical",
  max_connections: 200,
  max_replication_slots: 20,
  max_wal_senders: 20,
  hot_standby_feedback: "on",
  // Commits wait at most this long for a replica that does not respond.
  wal_sender_timeout: "5s",
  wal_receiver_timeout: "5s",
  wal_receiver_status_interval: "1s",
  max_wal_size: "256MB",
  // Simulated power losses kill processes, but the kernel still writes the files.
  fsync: "off",
};

/** Settings of pgbouncer in transaction mode. It ignores the startup parameters that Selvedge sends. */
function poolerSettings(machine: Machine, home: string): string {
  return `
    [databases]
    postgres = host=127.0.0.1 port=5432
    [pgbouncer]
    listen_addr = ${machine.address}
    listen_port = 6432
    unix_socket_dir =
    auth_type = scram-sha-256
    auth_file = ${join(home, "users.txt")}
    pool_mode = transaction
    default_pool_size = 5
    server_login_retry = 1
    ignore_startup_parameters = options,search_path,statement_timeout,extra_float_digits
  `.replaceAll(/^ +/gm, "");
}
