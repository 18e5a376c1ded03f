// The channels with the number of an outfit's likes: everybody may receive, only the database may send, and the messages do
// not reveal who likes the outfit.

import { randomUUID } from "node:crypto";
import type { RealtimeChannel, SupabaseClient } from "@supabase/supabase-js";
import { afterEach, beforeAll, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { expectData, makeOutfit, type Outfit } from "../support/catalogue.ts";
import { anonKey, type Person, signUp, visitor } from "../support/clients.ts";

type Message = Record<string, unknown>;

let attacker: Person;
let victim: Person;
let outfit: Outfit;
const listening: SupabaseClient[] = [];

beforeAll(async () => {
  attacker = await signUp();
  victim = await signUp();
  outfit = await makeOutfit(victim, "approved");
});

afterEach(async () => {
  for (const client of listening.splice(0)) {
    await client.removeAllChannels();
  }
});

/** Joins a private channel and records its broadcasts; fails when the join is refused. */
async function listen(
  client: SupabaseClient,
  topic: string,
): Promise<{ channel: RealtimeChannel; heard: Message[] }> {
  listening.push(client);
  await client.realtime.setAuth();
  const heard: Message[] = [];
  const channel = client
    .channel(topic, { config: { private: true, broadcast: { self: true } } })
    .on("broadcast", { event: "*" }, (message) => heard.push(message));
  await new Promise<void>((done, failed) => {
    channel.subscribe((status, error) => {
      if (status === "SUBSCRIBED") {
        done();
      } else if (status !== "CLOSED") {
        failed(error ?? new Error(status));
      }
    });
  });
  return { channel, heard };
}

const topicOf = ({ id }: Outfit) => `outfit-likes:${id}`;

/** Likes and takes the like back until the listener has heard of it: the stream of broadcasts begins with the first channel. */
async function likeUntilHeard(person: Person, heard: Message[]): Promise<void> {
  await expect
    .poll(
      async () => {
        const like = { user_id: person.id, combine_id: outfit.id };
        expectData(await person.client.from("likes").insert(like).select().single());
        expectData(await person.client.from("likes").delete().eq("user_id", person.id).select());
        return heard.length;
      },
      { timeout: 20_000 },
    )
    .toBeGreaterThan(0);
}

test("visitors hear the number, and nothing about the person", async () => {
  const { heard } = await listen(visitor(), topicOf(outfit));

  await likeUntilHeard(victim, heard);

  const [message] = heard;
  expect(message?.event).toBe("likes");
  const payload = message?.payload as Message;
  expect(Object.keys(payload).sort()).toEqual(["id", "likes", "outfit"]);
  expect(payload.outfit).toBe(outfit.id);
  expect(JSON.stringify(heard)).not.toContain(victim.id);
});

test.each([
  ["a visitor", () => visitor()],
  ["a user", () => attacker.client],
])("%s cannot announce a number, neither by socket nor by HTTP", async (_, client) => {
  const witness = await listen(visitor(), topicOf(outfit));
  await likeUntilHeard(victim, witness.heard);
  witness.heard.length = 0;
  const { channel } = await listen(client(), topicOf(outfit));
  const forged = { likes: 1_000_000, outfit: outfit.id };

  await channel.send({ type: "broadcast", event: "likes", payload: forged });
  const session = await client().auth.getSession();
  const token = session.data.session?.access_token ?? anonKey;
  const headers = {
    apikey: anonKey,
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
  };
  const batch = await fetch(`${apiUrl()}/realtime/v1/api/broadcast`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      messages: [{ topic: topicOf(outfit), event: "likes", payload: forged, private: true }],
    }),
  });
  expect(batch.status).toBe(202);
  const single = await fetch(
    `${apiUrl()}/realtime/v1/api/broadcast/${encodeURIComponent(topicOf(outfit))}/events/likes?private=true`,
    { method: "POST", headers, body: JSON.stringify(forged) },
  );
  expect(single.status).toBe(403);

  // Heard after everything that was sent before it.
  await likeUntilHeard(victim, witness.heard);
  expect(JSON.stringify(witness.heard)).not.toContain("1000000");
});

test("a public channel of the same name is another one", async () => {
  const { heard } = await listen(visitor(), topicOf(outfit));
  const loud = visitor();
  listening.push(loud);
  const channel = loud.channel(topicOf(outfit));
  await new Promise<void>((done) => {
    channel.subscribe((status) => status === "SUBSCRIBED" && done());
  });

  await channel.send({ type: "broadcast", event: "likes", payload: { likes: 1_000_000 } });

  await likeUntilHeard(victim, heard);
  expect(JSON.stringify(heard)).not.toContain("1000000");
});

test.each([["notifications:1"], ["outfit-like"], [`outfit_likes:${randomUUID()}`]])(
  "the policy opens no other channel: %s",
  async (topic) => {
    await expect(listen(visitor(), topic)).rejects.toThrow(/Unauthorized/);
  },
);

test("presence of the channel stays closed", async () => {
  const { channel } = await listen(attacker.client, topicOf(outfit));

  expect(await channel.track({ here: true }, { timeout: 5_000 })).not.toBe("ok");
});
