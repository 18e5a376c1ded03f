// The primary is killed or frozen under load and a replica is promoted. Until then nodes respond 503; afterwards they work without a
// restart, and no acknowledged write is lost, also when the former primary wakes up while the new one does not respond, or was
// never stopped.

import { type ChildProcess, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import {
  createClient,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import WebSocket from "ws";
import { password } from "../support/clients.ts";
import { generateKeys, startNode } from "../support/cluster.ts";
import { freePorts } from "../support/ports.ts";
import {
  type PostgresServer,
  type PreparedDatabase,
  prepareDatabase,
  type ReplicatedDatabase,
  startReplicatedDatabase,
} from "../support/postgres.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { binary, stop } from "../support/selvedge.ts";

/** Writes must succeed again within this time after the promotion, also on a busy machine. */
const recovery = { timeout: 20_000, interval: 50 };
/** Time without a primary, in milliseconds. */
const outageMs = 1_500;
/** Clients that write all the time. */
const writers = 4;

const migration = `
  create table public.notes (id uuid primary key);
  alter publication supabase_realtime add table public.notes;
  create view public.place as select pg_is_in_recovery() as is_replica;
  grant select, insert on public.notes to anon;
  grant select on public.place to authenticated;
`;

let project: ProjectFolder;
let prepared: PreparedDatabase;
let database: ReplicatedDatabase;
let replica: PostgresServer;
let nodes: ChildProcess[] = [];
/** URL of the server that is connected to primary and replica. */
let node: string;
/** Knows the replica alone, as behind a proxy that sends it to the wrong server. */
let misled: string;
let log = "";
let key: string;
let variables: Record<string, string>;

const troubles = ["is killed", "freezes"] as const;

beforeAll(async () => {
  project = await makeProject("failover", migration);
  prepared = await prepareDatabase(project.path);
});

afterAll(async () => {
  await prepared?.remove();
  await project?.remove();
});

async function start(): Promise<void> {
  database = await startReplicatedDatabase(prepared, 1);
  const { primary } = database;
  replica = database.replicas[0] as PostgresServer;
  // A commit is acknowledged when the replica has it, too.
  await primary.sql("alter system set synchronous_standby_names = '*'");
  await primary.sql("select pg_reload_conf()");
  const keys = generateKeys(project.path);
  key = keys.SUPABASE_AUTH_PUBLISHABLE_KEY ?? "";
  const [port = 0, misledPort = 0] = await freePorts(2);
  [node, misled] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${misledPort}`];
  variables = { ...keys, SUPABASE_AUTH_EMAIL_ENABLE_CONFIRMATIONS: "false" };
  log = "";
  nodes = await Promise.all([
    startNode(
      project.path,
      port,
      {
        ...variables,
        DATABASE_URL: urlOf(replica, primary),
        SELVEDGE_REPLICAS_URLS: replica.url(),
      },
      (text) => {
        log += text;
      },
    ),
    startNode(project.path, misledPort, { ...variables, DATABASE_URL: replica.url() }),
  ]);
}

/** Database URL with several servers. */
function urlOf(...servers: PostgresServer[]): string {
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`);
  return `postgresql://authenticator:postgres@${hosts.join(",")}/postgres`;
}

/** Starts another node, whose database URL names the former primary first. */
async function startLateNode(): Promise<string> {
  const [port = 0] = await freePorts(1);
  const databaseUrl = urlOf(database.primary, replica);
  nodes.push(await startNode(project.path, port, { ...variables, DATABASE_URL: databaseUrl }));
  return `http://127.0.0.1:${port}`;
}

/** Where an acknowledged row is stored. */
async function findRow(id: string | undefined): Promise<"former" | "new" | undefined> {
  const count = `select count(*) from public.notes where id = '${id}'`;
  const [[former] = []] = await database.primary.sql(count);
  const [[present] = []] = await replica.sql(count);
  return present === "1" ? "new" : former === "1" ? "former" : undefined;
}

/** What `selvedge doctor` finds out about the servers. */
function examineHosts(): { status: string; message: string }[] {
  const { stdout } = spawnSync(binary(), ["doctor", "-o", "json", "--project", project.path], {
    encoding: "utf8",
    env: { ...process.env, ...variables, DATABASE_URL: urlOf(database.primary, replica) },
  });
  const findings = JSON.parse(stdout) as { check: string; status: string; message: string }[];
  return findings.filter(({ check }) => check === "hosts");
}

afterEach(async () => {
  await Promise.all(nodes.map((one) => stop(one, "SIGTERM")));
  await database?.stop();
});

/** The writes of a client and their outcomes. */
class Writes {
  readonly acknowledged: string[] = [];
  readonly failures: { status: number; retryAfter: string | null }[] = [];
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  /** Inserts a row; returns its id if the insert was acknowledged. */
  async insert(): Promise<string | undefined> {
    const id = randomUUID();
    const response = await fetch(`${this.#url}/rest/v1/notes`, {
      method: "POST",
      headers: { apikey: key, "content-type": "application/json" },
      body: JSON.stringify({ id }),
    });
    await response.arrayBuffer();
    if (response.status === 201) {
      this.acknowledged.push(id);
      return id;
    }
    this.failures.push({
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
    });
    return undefined;
  }

  /** Every write that was not acknowledged must have been told to come again. */
  expectOnlyRetriable(): void {
    const others = this.failures.filter(
      ({ status, retryAfter }) => status !== 503 || Number(retryAfter) < 1,
    );
    expect(others).toEqual([]);
  }
}

const pause = (ms: number) => new Promise((wake) => setTimeout(wake, ms));

function connect(): SupabaseClient {
  return createClient(node, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
}

/** Collects the ids of inserted rows that Realtime announces. */
async function subscribe(client: SupabaseClient, heard: string[]): Promise<void> {
  await new Promise<void>((done) => {
    client
      .channel("notes")
      .on("postgres_changes", { event: "INSERT", schema: "public", table: "notes" }, (change) => {
        heard.push(change.new.id as string);
      })
      .on("system", {}, ({ extension, status }) => {
        if (extension === "postgres_changes" && status === "ok") {
          done();
        }
      })
      .subscribe();
  });
}

test.each(troubles)(
  "a primary that %s costs answers of 503 and nothing else",
  {
    timeout: 300_000,
  },
  async (trouble) => {
    await start();
    const reader = connect();
    const email = `person-${randomUUID().slice(0, 12)}@failover.test`;
    expect((await reader.auth.signUp({ email, password })).error).toBeNull();
    await vi.waitFor(async () => {
      const { data } = await reader.from("place").select().single();
      expect(data?.is_replica).toBe(true);
    }, recovery);
    const listener = connect();
    const heard: string[] = [];
    await subscribe(listener, heard);
    const first = await new Writes(node).insert();
    await vi.waitFor(() => expect(heard).toContain(first), recovery);

    // A node that reaches only a standby responds 503, and not with an error about the request.
    const strayed = new Writes(misled);
    expect(await strayed.insert()).toBeUndefined();
    strayed.expectOnlyRetriable();

    const writes = new Writes(node);
    let isGoing = true;
    const load = Array.from({ length: writers }, async () => {
      while (isGoing) {
        await writes.insert();
        await pause(5);
      }
    });
    await vi.waitFor(() => expect(writes.acknowledged.length).toBeGreaterThan(50), recovery);

    await (trouble === "freezes" ? database.primary.freeze() : database.primary.kill());
    await pause(outageMs / 2);
    const acknowledgedBefore = writes.acknowledged.length;
    // Reads succeed without a primary.
    for (let read = 0; read < 10; read += 1) {
      const { data, error } = await reader.from("place").select().single();
      expect([error, data?.is_replica]).toEqual([null, true]);
    }
    await pause(outageMs / 2);
    expect(writes.acknowledged.length).toBe(acknowledgedBefore);
    // A frozen server does not close connections, so requests wait until another server is the primary.
    if (trouble === "is killed") {
      expect(writes.failures.length).toBeGreaterThan(10);
    }

    await replica.sql("select pg_promote()");
    await vi.waitFor(() => {
      expect(writes.acknowledged.length).toBeGreaterThan(acknowledgedBefore + 50);
    }, recovery);
    // The former primary wakes up and does not know of the promotion.
    await database.primary.thaw();
    await pause(outageMs);
    isGoing = false;
    await Promise.all(load);

    writes.expectOnlyRetriable();
    const rows = new Set((await replica.sql("select id from public.notes")).flat());
    expect(writes.acknowledged.filter((id) => !rows.has(id))).toEqual([]);
    // The node that reached only the standby can write now.
    await vi.waitFor(async () => expect(await strayed.insert()).toBeDefined(), recovery);

    // Sign-in and Realtime work, too, and the log warns that Realtime may have missed changes.
    expect((await connect().auth.signInWithPassword({ email, password })).error).toBeNull();
    await vi.waitFor(
      async () => {
        const id = await new Writes(node).insert();
        await vi.waitFor(() => expect(heard).toContain(id), { timeout: 1_000 });
      },
      { timeout: 40_000 },
    );
    expect(log).toContain("ChangesMissed");
    await listener.removeAllChannels();
    listener.realtime.disconnect();
  },
);

/** Starts everything. The primary acknowledges commits without its replica, so a write to a former primary would be lost. */
async function startWithAsynchronousReplica(): Promise<Writes> {
  await start();
  await database.primary.sql("alter system reset synchronous_standby_names");
  await database.primary.sql("select pg_reload_conf()");
  const writes = new Writes(node);
  await vi.waitFor(async () => expect(await writes.insert()).toBeDefined(), recovery);
  await replica.untilCaughtUpWith(database.primary);
  return writes;
}

test("a former primary that wakes up is not used while the new one does not respond", {
  timeout: 300_000,
}, async () => {
  const writes = await startWithAsynchronousReplica();
  await database.primary.freeze();
  await replica.sql("select pg_promote()");
  await vi.waitFor(async () => expect(await writes.insert()).toBeDefined(), recovery);

  await replica.freeze();
  const acknowledgedBefore = writes.acknowledged.length;
  await database.primary.thaw();
  let isGoing = true;
  const load = Array.from({ length: writers }, async () => {
    while (isGoing) {
      await writes.insert();
      await pause(50);
    }
  });
  // The former primary is tried as soon as the new one has not answered for two seconds.
  const isRefused = () => log.includes("a former primary still accepts writes");
  await vi.waitFor(
    () => expect(isRefused() || writes.acknowledged.length > acknowledgedBefore + 5).toBe(true),
    { ...recovery, timeout: 60_000 },
  );
  expect(isRefused()).toBe(true);
  expect(writes.acknowledged.length).toBe(acknowledgedBefore);
  await replica.thaw();
  await vi.waitFor(() => {
    expect(writes.acknowledged.length).toBeGreaterThan(acknowledgedBefore + 10);
  }, recovery);
  isGoing = false;
  await Promise.all(load);

  writes.expectOnlyRetriable();
  const rows = new Set((await replica.sql("select id from public.notes")).flat());
  expect(writes.acknowledged.filter((id) => !rows.has(id))).toEqual([]);
});

test("while a former primary still accepts writes, all nodes write to the new one, also those that start then", {
  timeout: 300_000,
}, async () => {
  const writes = await startWithAsynchronousReplica();
  expect(examineHosts().map(({ status }) => status)).toEqual(["ok"]);
  // The replica becomes a primary, and the former one knows nothing of it.
  await replica.sql("select pg_promote()");
  const [finding] = examineHosts();
  expect(finding?.status).toBe("error");
  expect(finding?.message).toMatch(
    new RegExp(`${database.primary.port} .* nodes write to .*:${replica.port} .timeline 2`),
  );

  const late = new Writes(await startLateNode());
  expect(await findRow(await late.insert())).toBe("new");
  // A node that works with the former primary notices within some seconds.
  await vi.waitFor(async () => expect(await findRow(await writes.insert())).toBe("new"), recovery);

  // A node that starts while the new primary does not respond moves to it as soon as it does.
  await replica.freeze();
  expect(examineHosts().map(({ status }) => status)).toEqual(["ok", "warning"]);
  const misguided = new Writes(await startLateNode());
  expect(await misguided.insert()).toBeDefined();
  await replica.thaw();
  await vi.waitFor(
    async () => expect(await findRow(await misguided.insert())).toBe("new"),
    recovery,
  );
  for (const one of [late, writes, misguided]) {
    one.expectOnlyRetriable();
  }
});

test("a promotion that is taken back, as Patroni may do it, leaves no node without a primary", {
  timeout: 300_000,
}, async () => {
  const writes = await startWithAsynchronousReplica();
  await replica.sql("select pg_promote()");
  await vi.waitFor(async () => expect(await findRow(await writes.insert())).toBe("new"), recovery);

  await database.takeBackPromotion(replica);

  // The node has seen a higher timeline than that of the primary, and asks every few seconds whether its server still has it.
  const untilFound = { ...recovery, timeout: 60_000 };
  await vi.waitFor(async () => {
    const id = await writes.insert();
    expect(id).toBeDefined();
    const [[count] = []] = await database.primary.sql(
      `select count(*) from public.notes where id = '${id}'`,
    );
    expect(count).toBe("1");
  }, untilFound);
  expect(log).toContain("the newest primary is a standby of an older one now");
  writes.expectOnlyRetriable();
});
