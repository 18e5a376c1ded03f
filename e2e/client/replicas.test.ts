// Two nodes that read from two streaming replicas: every caller sees their own writes, whatever state the replicas are in.

import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { SupabaseClient } from "@supabase/supabase-js";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { client, password } from "../support/clients.ts";
import { generateKeys, startNode } from "../support/cluster.ts";
import { freePorts } from "../support/ports.ts";
import {
  type PostgresServer,
  prepareDatabase,
  type ReplicatedDatabase,
  startReplicatedDatabase,
} from "../support/postgres.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { stop } from "../support/selvedge.ts";

/** No read may return a state older than this. */
const maxLagMs = 2_000;
/** The nodes ask the primary for its position five times per second; twice that is enough on a busy machine, too. */
const positionKnownMs = 400;
const soon = { timeout: 20_000, interval: 50 };

const migration = `
  create table public.notes (
    id uuid primary key default gen_random_uuid(),
    author uuid not null default auth.uid(),
    body text not null
  );
  alter table public.notes enable row level security;
  create policy "people read and write their own notes" on public.notes for all to authenticated
    using (author = auth.uid()) with check (author = auth.uid());
  create table public.profiles (id uuid primary key);
  create unlogged table public.drafts (id int primary key);
  create view public.place as select pg_is_in_recovery() as is_replica, inet_server_port() as port;
  grant select, insert on public.notes, public.profiles to authenticated;
  grant select, insert on public.drafts to anon;
  grant select on public.place to anon, authenticated;
  create function public.is_on_replica() returns boolean language sql stable
    as 'select pg_is_in_recovery()';
  create function public.is_on_replica_volatile() returns boolean language sql volatile
    as 'select pg_is_in_recovery()';
  create function public.add_profile() returns trigger language plpgsql security definer as $$
  begin
    insert into public.profiles values (new.id);
    return new;
  end $$;
  create trigger add_profile after insert on auth.users
    for each row execute function public.add_profile();
`;

let project: ProjectFolder;
let database: ReplicatedDatabase;
let replicas: [PostgresServer, PostgresServer];
let nodes: ChildProcess[] = [];
let urls: [string, string];
let keys: Record<string, string>;

beforeAll(async () => {
  project = await makeProject("replicas", migration);
  const prepared = await prepareDatabase(project.path);
  database = await startReplicatedDatabase(prepared, 2);
  await prepared.remove();
  replicas = database.replicas as [PostgresServer, PostgresServer];
  keys = generateKeys(project.path);
  const ports = await freePorts(2);
  urls = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string];
  const variables = {
    ...keys,
    DATABASE_URL: database.primary.url(),
    SELVEDGE_REPLICAS_URLS: replicas.map((replica) => replica.url()).join(","),
    SELVEDGE_REPLICAS_MAX_LAG: `${maxLagMs}ms`,
    SUPABASE_AUTH_EMAIL_ENABLE_CONFIRMATIONS: "false",
    SUPABASE_AUTH_RATE_LIMIT_SIGN_IN_SIGN_UPS: "10000",
  };
  nodes = await Promise.all(ports.map((port) => startNode(project.path, port, variables)));
  await untilReplicasAreUsed();
});

afterEach(async () => {
  for (const replica of replicas) {
    await replica.sql("select pg_wal_replay_resume()");
  }
  await untilReplicasAreUsed();
});

afterAll(async () => {
  await Promise.all(nodes.map((node) => stop(node, "SIGTERM")));
  await database?.stop();
  await project?.remove();
});

const visitor = (url = urls[0]) => client(keys.SUPABASE_AUTH_PUBLISHABLE_KEY ?? "", url);

/** Signs up, and waits until the new token does not count as a write any more. */
async function signUp(url = urls[0]): Promise<SupabaseClient> {
  const person = visitor(url);
  const email = `person-${randomUUID().slice(0, 12)}@replicas.test`;
  expect((await person.auth.signUp({ email, password })).error).toBeNull();
  await vi.waitFor(async () => expect((await placeOf(person)).is_replica).toBe(true), soon);
  return person;
}

async function placeOf(reader: SupabaseClient): Promise<{ is_replica: boolean; port: number }> {
  const { data, error } = await reader.from("place").select().single();
  expect(error).toBeNull();
  return data;
}

/** Waits until each node reads from both replicas. */
async function untilReplicasAreUsed(): Promise<void> {
  for (const url of urls) {
    await vi.waitFor(async () => {
      const places = await Promise.all(Array.from({ length: 12 }, () => placeOf(visitor(url))));
      const ports = new Set(places.filter((place) => place.is_replica).map(({ port }) => port));
      expect(ports.size).toBe(2);
    }, soon);
  }
}

async function pauseReplay(): Promise<void> {
  for (const replica of replicas) {
    await replica.sql("select pg_wal_replay_pause()");
    await vi.waitFor(async () => {
      expect(await replica.sql("select pg_get_wal_replay_pause_state()")).toEqual([["paused"]]);
    }, soon);
  }
}

const pause = (ms: number) => new Promise((wake) => setTimeout(wake, ms));

test("reads run on replicas, and whatever may write runs on the primary", async () => {
  const reader = visitor();
  expect((await placeOf(reader)).is_replica).toBe(true);
  expect((await reader.from("place").select("*", { count: "exact", head: true })).count).toBe(1);
  const byGet = await reader.rpc("is_on_replica", {}, { get: true });
  const volatile = await reader.rpc("is_on_replica_volatile", {}, { get: true });
  const chosen = await reader.from("place").select().setHeader("Prefer", "tx=commit").single();

  expect(byGet.data).toBe(true);
  expect([volatile.data, chosen.data?.is_replica]).toEqual([false, false]);
  expect((await reader.rpc("is_on_replica")).data).toBe(false);
});

test("nobody misses what they have written, while replicas lag and others write", async () => {
  const people = await Promise.all(Array.from({ length: 4 }, () => signUp()));
  let isGoing = true;
  const hold = (async () => {
    for (let turn = 0; isGoing; turn += 1) {
      const replica = replicas[turn % 2] as PostgresServer;
      await replica.sql("select pg_wal_replay_pause()");
      await pause(150);
      await replica.sql("select pg_wal_replay_resume()");
    }
  })();
  let stale = 0;
  const places = new Set<boolean>();
  const use = async (person: SupabaseClient) => {
    for (let round = 0; round < 25; round += 1) {
      const id = randomUUID();
      expect((await person.from("notes").insert({ id, body: `${round}` })).error).toBeNull();
      // Immediately after the write, and when the node has a position that replicas may have reached.
      for (const wait of [0, round % 5 === 0 ? positionKnownMs : 20]) {
        await pause(wait);
        const { data, error } = await person.from("notes").select("id").eq("id", id);
        expect(error).toBeNull();
        stale += data?.length === 1 ? 0 : 1;
      }
      places.add((await placeOf(person)).is_replica);
    }
  };

  await Promise.all(people.map(use));
  isGoing = false;
  await hold;

  expect(stale).toBe(0);
  // The assertion is only that replicas are used at all: how many reads they get depends on how busy the machine is.
  expect(places).toContain(true);
});

test("a writer reads from the primary while replay is paused, and others until the lag is too great", async () => {
  const [writer, other] = [await signUp(), await signUp()];
  await pauseReplay();
  const { data: note } = await writer.from("notes").insert({ body: "new" }).select("id").single();
  await pause(positionKnownMs);

  expect((await writer.from("notes").select("id").eq("id", note?.id)).data).toHaveLength(1);
  expect((await placeOf(writer)).is_replica).toBe(false);
  expect((await placeOf(other)).is_replica).toBe(true);

  await vi.waitFor(async () => expect((await placeOf(other)).is_replica).toBe(false), soon);
  const metrics = await (await fetch(`${urls[0]}/metrics`)).text();
  expect(metrics).toMatch(/selvedge_replica_reads_total\{outcome="behind",replica="[^"]+"\} [1-9]/);
});

test("what signing up has made is there with the first token, although replay is paused", async () => {
  await pauseReplay();
  const person = visitor();
  const email = `person-${randomUUID().slice(0, 12)}@replicas.test`;

  const { data } = await person.auth.signUp({ email, password });

  const seen = await person.from("profiles").select("id").eq("id", data.user?.id);
  expect(seen.data).toHaveLength(1);
});

test("a browser that wrote through one node reads its write through the other", async () => {
  const person = await signUp();
  const token = (await person.auth.getSession()).data.session?.access_token ?? "";
  const headers = {
    apikey: keys.SUPABASE_AUTH_PUBLISHABLE_KEY ?? "",
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
  };
  await pauseReplay();
  const written = await fetch(`${urls[0]}/rest/v1/notes`, {
    method: "POST",
    headers,
    body: JSON.stringify({ body: "through the first" }),
  });
  const cookie = written.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^selvedge-wrote=[0-9a-f]+\.[0-9]+; Max-Age=4; Path=\/; HttpOnly/);

  const read = await fetch(`${urls[1]}/rest/v1/notes?select=body`, {
    headers: { ...headers, cookie: cookie.split(";")[0] ?? "" },
  });

  expect(await read.json()).toEqual([{ body: "through the first" }]);
});

test("downloads look their rows up on replicas, and find what is new or was replaced meanwhile", async () => {
  const owner = client(keys.SUPABASE_AUTH_SECRET_KEY ?? "", urls[0]).storage;
  expect((await owner.createBucket("files", { public: true })).error).toBeNull();
  const files = owner.from("files");
  const upload = async (name: string, text: string) => {
    expect((await files.upload(name, text, { upsert: true })).error).toBeNull();
  };
  const download = async (name: string) => {
    const answer = await fetch(files.getPublicUrl(name).data.publicUrl);
    return [answer.status, await answer.text()];
  };
  await upload("known.txt", "first");
  await vi.waitFor(async () => {
    const before = await answeredReads();
    expect(await download("known.txt")).toEqual([200, "first"]);
    expect(await answeredReads()).toBe(before + 1);
  }, soon);

  await pauseReplay();
  await upload("new.txt", "new");
  await upload("known.txt", "second");

  // The replicas lack the first row, and have an outdated version of the second one, whose bytes are removed.
  expect(await download("new.txt")).toEqual([200, "new"]);
  await vi.waitFor(async () => expect(await download("known.txt")).toEqual([200, "second"]), soon);
  // Lookups of the caller who wrote run on the primary.
  expect((await files.info("new.txt")).data?.size).toBe(3);
  expect((await files.remove(["known.txt"])).error).toBeNull();
  expect((await download("known.txt"))[0]).toBe(400);
});

/** Number of reads of the first node that replicas have answered. */
async function answeredReads(): Promise<number> {
  const metrics = await (await fetch(`${urls[0]}/metrics`)).text();
  const answered = metrics.matchAll(/replica_reads_total\{outcome="answered",.*\} (\d+)/g);
  return [...answered].reduce((sum, [, count]) => sum + Number(count), 0);
}

test("what a replica cannot read is read from the primary", async () => {
  const reader = visitor();
  await reader.from("drafts").insert({ id: 1 });
  await vi.waitFor(async () => expect((await placeOf(reader)).is_replica).toBe(true), soon);

  const { data, error } = await reader.from("drafts").select();

  expect([data, error]).toEqual([[{ id: 1 }], null]);
});

test.each([
  ["is killed", "kill"],
  ["freezes", "freeze"],
] as const)("a replica that %s costs no read, and comes back", async (_, what) => {
  const [first] = replicas;
  const failures: string[] = [];
  let longestMs = 0;
  let isGoing = true;
  let reads = 0;
  const read = async (url: string) => {
    while (isGoing) {
      const started = performance.now();
      const { error } = await visitor(url).from("place").select().single();
      longestMs = Math.max(longestMs, performance.now() - started);
      reads += 1;
      if (error !== null) {
        failures.push(error.message);
      }
    }
  };
  const load = [...urls, ...urls].map(read);
  await vi.waitFor(() => expect(reads).toBeGreaterThan(20), soon);
  await first[what]();
  await vi.waitFor(async () => {
    const places = await Promise.all(Array.from({ length: 12 }, () => placeOf(visitor())));
    expect(places.map(({ port }) => port)).not.toContain(first.port);
  }, soon);
  await (what === "kill" ? first.start() : first.thaw());
  await untilReplicasAreUsed();
  isGoing = false;
  await Promise.all(load);

  expect(failures).toEqual([]);
  // A check of a second, which begins within a second, and time for a busy machine.
  expect(longestMs).toBeLessThan(10_000);
});
