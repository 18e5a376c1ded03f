// PostgreSQL servers without Patroni, for what an operator or a tool may do to them: promote a standby while its primary goes on, or start a former
// primary as a standby without rewinding it. Replication between them is asynchronous.

import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isListening, until } from "./conditions.ts";
import {
  accessRules,
  postgresPrograms,
  serverSettings,
  sql,
  superuserPassword,
  systemUser,
} from "./database.ts";
import { Machine } from "./network.ts";

const superuser = "supabase_admin";
/** A program of PostgreSQL that takes longer hangs. In milliseconds. */
const programMs = 60_000;

export class PlainServer {
  readonly machine: Machine;
  readonly #home: string;
  readonly #data: string;

  constructor(name: string, number: number, folder: string) {
    this.#home = join(folder, name);
    this.#data = join(this.#home, "data");
    this.machine = new Machine(name, number, () => this.#start());
  }

  /** Host and port, as in a URL. */
  get host(): string {
    return `${this.machine.name}:5432`;
  }

  /** Runs SQL as superuser. */
  sql(text: string): Promise<(string | null)[][]> {
    return sql(this.machine, text);
  }

  /** The only value of a query. */
  async value(text: string): Promise<string | null | undefined> {
    return (await this.sql(text))[0]?.[0];
  }

  /** Makes a new cluster, and starts it. */
  async create(): Promise<void> {
    await this.#clear();
    const passwordFile = join(this.#home, "password");
    await writeFile(passwordFile, superuserPassword);
    await chmod(passwordFile, 0o644);
    await this.#program("initdb", [
      ...["--pgdata", this.#data, "--username", superuser, "--pwfile", passwordFile],
      ...["--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync", "--data-checksums"],
    ]);
    await this.machine.start();
  }

  /** Replaces its data by those of another server, and starts it as a standby of that one. */
  async copyFrom(source: PlainServer): Promise<void> {
    await this.#clear();
    await this.#program("pg_basebackup", [
      ...["--pgdata", this.#data, "--dbname", connectionTo(source), "--no-sync"],
      ...["--write-recovery-conf", "--checkpoint", "fast", "--wal-method", "stream"],
    ]);
    await this.machine.start();
    const streams = `select count(*) from pg_stat_replication where client_addr = '${this.machine.address}'`;
    await until(
      async () => (await source.value(streams)) === "1",
      `${this.machine.name} follows ${source.machine.name}`,
    );
  }

  /** Restarts it as a standby of another server with the data that it has, whatever it wrote before. */
  async followWithItsOwnData(source: PlainServer): Promise<void> {
    await this.sql(`alter system set primary_conninfo = '${connectionTo(source)}'`);
    await this.stop();
    await writeFile(join(this.#data, "standby.signal"), "");
    await this.machine.start();
  }

  /** Receives nothing more from its primary, as when the network between them is lost. */
  async stopReceiving(): Promise<void> {
    await this.sql("alter system set primary_conninfo = ''");
    await this.sql("select pg_reload_conf()");
    const receivers = "select count(*) from pg_stat_wal_receiver";
    await until(
      async () => (await this.value(receivers)) === "0",
      `${this.machine.name} receives nothing`,
    );
  }

  /** Makes it a primary, while the former one goes on. */
  async promote(): Promise<void> {
    await this.sql("select pg_promote()");
  }

  /** Waits until it has replayed what a primary has written. */
  async untilCaughtUpWith(primary: PlainServer): Promise<void> {
    const written = await primary.value("select pg_current_wal_insert_lsn()");
    await until(
      async () => (await this.value(`select pg_last_wal_replay_lsn() >= '${written}'`)) === "t",
      `${this.machine.name} has replayed everything`,
    );
  }

  /** Ends it with a checkpoint. */
  async stop(): Promise<void> {
    await this.#program("pg_ctl", ["stop", "--pgdata", this.#data, "--mode", "fast", "--wait"]);
  }

  async #start(): Promise<void> {
    const settings = {
      ...serverSettings,
      listen_addresses: "*",
      unix_socket_directories: this.#home,
      hba_file: join(this.#home, "pg_hba.conf"),
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    this.machine.run({
      command: [join(postgresPrograms(), "postgres"), "-D", this.#data, ...options],
      user: systemUser,
    });
    await until(
      async () =>
        (await isListening(this.machine.address, 5432)) &&
        (await this.value("select 1").catch(() => "")) === "1",
      `${this.machine.name} accepts logins`,
    );
  }

  /** Ends what runs there and removes its data. */
  async #clear(): Promise<void> {
    await this.machine.losePower();
    await rm(this.#data, { recursive: true, force: true });
    await mkdir(this.#home, { recursive: true });
    await chmod(this.#home, 0o777);
    await writeFile(join(this.#home, "pg_hba.conf"), `${accessRules.join("\n")}\n`);
  }

  async #program(name: string, arguments_: string[]): Promise<void> {
    const command = [join(postgresPrograms(), name), ...arguments_];
    const program = { command, user: systemUser, limitMs: programMs };
    const { code, output } = await this.machine.execute(program);
    if (code !== 0) {
      throw new Error(`${name} on ${this.machine.name} ended with ${code}:\n${output}`);
    }
  }
}

function connectionTo(source: PlainServer): string {
  return `host=${source.machine.name} user=${superuser} password=${superuserPassword}`;
}
