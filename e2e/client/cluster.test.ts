// Two nodes and the broker between them, each killed at random while clients of both nodes send.

import {
  createClient,
  type RealtimeChannel,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import WebSocket from "ws";
import { type Cluster, type Killable, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";

/** How often something is killed. */
const rounds = 4;
/** Messages of each member while everything runs. */
const messagesOfRound = 25;

const migration = `
  create table public.events (id int primary key);
  grant select on public.events to anon;
  alter publication supabase_realtime add table public.events;
  create function public.announce(event text) returns void
    language sql as $$ select realtime.send('{}', event, 'room', false) $$;
`;

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster(migration);
});

afterAll(async () => {
  await cluster?.stop();
});

/** A client with the secret key on a running node. */
function owner(node: Killable): SupabaseClient {
  return createClient(node.url, cluster.secretKey, {
    auth: { persistSession: false, autoRefreshToken: false },
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor },
  });
}

/** Sends broadcasts with SQL. */
async function announce(node: Killable, event: string): Promise<void> {
  const { error } = await owner(node).rpc("announce", { event });
  expect(error).toBeNull();
}

/** A member of the room: the stock client on one node, and everything that it has heard. */
class Member {
  readonly heard: string[] = [];
  readonly changes: number[] = [];
  isJoined = false;
  /** Whether changes of the database arrive. */
  isSubscribed = false;
  readonly channel: RealtimeChannel;
  readonly #client: SupabaseClient;
  readonly name: string;

  constructor(name: string, url: string) {
    this.name = name;
    this.#client = createClient(url, cluster.publishableKey, {
      auth: { persistSession: false, autoRefreshToken: false },
      realtime: {
        transport: WebSocket as unknown as WebSocketLikeConstructor,
        // The stock pauses grow to ten seconds, which the test would spend waiting.
        reconnectAfterMs: () => 200,
      },
    });
    this.channel = this.#client
      .channel("room", { config: { broadcast: { ack: true }, presence: { key: name } } })
      .on("broadcast", { event: "*" }, ({ event }) => this.heard.push(event))
      .on("postgres_changes", { event: "INSERT", schema: "public", table: "events" }, (change) =>
        this.changes.push(change.new.id as number),
      )
      .on("presence", { event: "sync" }, () => undefined)
      .on("system", {}, ({ extension, status }) => {
        if (extension === "postgres_changes") {
          this.isSubscribed = status === "ok";
        }
      })
      .subscribe((status) => {
        this.isJoined = status === "SUBSCRIBED";
        if (this.isJoined) {
          void this.channel.track({ name });
        } else {
          this.isSubscribed = false;
        }
      });
  }

  /** Broadcasts; true when the server has acknowledged it. */
  async say(event: string): Promise<boolean> {
    const answer = await this.channel.send(
      { type: "broadcast", event, payload: {} },
      { timeout: 1_000 },
    );
    return answer === "ok";
  }

  present(): string[] {
    return Object.keys(this.channel.presenceState()).sort();
  }

  async leave(): Promise<void> {
    await this.#client.removeAllChannels();
    this.#client.realtime.disconnect();
  }
}

/** Messages of the phases in which something was dead; each carries on with its own number. */
async function sayWhile(member: Member, isGoing: () => boolean, prefix: string): Promise<void> {
  for (let number = 1; isGoing(); number += 1) {
    // A channel that is not joined would send by HTTP, which is another test.
    if (member.isJoined) {
      await member.say(`${prefix} ${member.name} ${number}`).catch(() => false);
    }
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

const numberOf = (message: string) => Number(message.split(" ").at(-1));

/** Messages of one sender in one phase must come in order, and none twice. */
function expectOrder(heard: string[]): void {
  for (const [sender, messages] of groupBySender(heard)) {
    const numbers = messages.map(numberOf);
    const sorted = [...new Set(numbers)].sort((a, b) => a - b);
    expect(numbers, `order of the messages of ${sender}`).toEqual(sorted);
  }
}

function groupBySender(heard: string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const message of heard) {
    const sender = message.split(" ").slice(0, -1).join(" ");
    groups.set(sender, [...(groups.get(sender) ?? []), message]);
  }
  return groups;
}

test("realtime_064 realtime_065 nothing is lost, doubled or swapped around nodes and a broker that are killed under load", async () => {
  const [first, second] = cluster.nodes;
  const members = [
    new Member("ada", first.url),
    new Member("bob", second.url),
    new Member("cleo", first.url),
    new Member("dora", second.url),
  ];
  const names = members.map(({ name }) => name);
  const inserted: number[] = [];

  for (let round = 1; round <= rounds; round += 1) {
    // While everything runs, every message and every change reaches every client once.
    await cluster.untilHealthy();
    await until(() => members.every((one) => one.isJoined && one.isSubscribed), "all have joined");
    await until(
      () => members.every((one) => one.present().join() === names.join()),
      "everybody sees everybody",
    );
    const expected: string[] = [];
    for (let number = 1; number <= messagesOfRound; number += 1) {
      await Promise.all(
        members.map(async (one) => {
          const message = `round-${round} ${one.name} ${number}`;
          expect(await one.say(message), `acknowledged: ${message}`).toBe(true);
          expected.push(message);
        }),
      );
    }
    const { error } = await owner(first).from("events").insert({ id: round });
    expect(error).toBeNull();
    inserted.push(round);
    await announce(second, `database-${round} all 1`);
    for (const one of members) {
      const mine = expected.filter((message) => !message.includes(` ${one.name} `));
      mine.push(`database-${round} all 1`);
      await until(() => mine.every((message) => one.heard.includes(message)), "all is heard");
      await until(() => one.changes.includes(round), "the change is heard");
    }

    // A process is killed at a random moment while all clients keep sending.
    const victims = [cluster.nats, first, second];
    const victim = victims[Math.floor(Math.random() * victims.length)] ?? cluster.nats;
    let isGoing = true;
    const talking = members.map((one) => sayWhile(one, () => isGoing, `fault-${round}`));
    await new Promise((wake) => setTimeout(wake, Math.random() * 500));
    await victim.kill();
    const away = members.filter((_, index) => cluster.nodes[index % 2] === victim);
    const rest = members.filter((one) => !away.includes(one));
    if (away.length > 0) {
      // Gone for the others within the time after which a silent node counts as dead.
      const left = rest.map(({ name }) => name).join();
      await until(() => rest.every((one) => one.present().join() === left), "the dead have left");
    }
    // Needs no broker and no other node.
    await announce(victim === first ? second : first, `alone-${round} all 1`);
    await until(() => rest.every((one) => one.heard.includes(`alone-${round} all 1`)), "heard");
    await victim.start();
    await cluster.untilHealthy();
    isGoing = false;
    await Promise.all(talking);
  }

  for (const one of members) {
    expectOrder(one.heard);
    expect(new Set(one.heard).size, "messages heard twice").toBe(one.heard.length);
    expect(one.changes, "changes, once each").toEqual(inserted);
    await one.leave();
  }
}, 240_000);
