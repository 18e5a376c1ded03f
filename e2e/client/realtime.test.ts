// Channels through the stock client, in both versions of the protocol: broadcast, presence, private channels, HTTP.

import { randomUUID } from "node:crypto";
import {
  createClient,
  type RealtimeChannel,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { apiUrl } from "../support/address.ts";
import { anonKey, type Person, signUp } from "../support/clients.ts";

const openClients: SupabaseClient[] = [];
let person: Person;

beforeAll(async () => {
  person = await signUp();
});

afterEach(async () => {
  for (const client of openClients.splice(0)) {
    await client.removeAllChannels();
    client.realtime.disconnect();
  }
});

function connect(vsn: string): SupabaseClient {
  const client = createClient(apiUrl(), anonKey, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    realtime: { transport: WebSocket as unknown as WebSocketLikeConstructor, vsn },
  });
  openClients.push(client);
  return client;
}

function subscribe(channel: RealtimeChannel): Promise<RealtimeChannel> {
  return new Promise((done, failed) => {
    channel.subscribe((status, error) => {
      if (status === "SUBSCRIBED") {
        done(channel);
      } else if (status !== "CLOSED") {
        failed(error ?? new Error(status));
      }
    });
  });
}

/** The next broadcast of an event. */
function nextBroadcast(channel: RealtimeChannel, event: string): Promise<Record<string, unknown>> {
  return new Promise((done) => {
    channel.on("broadcast", { event }, (message) => done(message));
  });
}

describe.each(["1.0.0", "2.0.0"])("protocol version %s", (vsn) => {
  test("realtime_006 realtime_010 a broadcast is acknowledged and reaches members of both versions", async () => {
    const topic = `room-${randomUUID()}`;
    const sender = connect(vsn).channel(topic, {
      config: { broadcast: { ack: true, self: true } },
    });
    const others = ["1.0.0", "2.0.0"].map((other) => connect(other).channel(topic));
    const received = [sender, ...others].map((channel) => nextBroadcast(channel, "hi"));
    await Promise.all([sender, ...others].map(subscribe));

    const status = await sender.send({ type: "broadcast", event: "hi", payload: { n: 1 } });

    expect(status).toBe("ok");
    for (const message of await Promise.all(received)) {
      expect(message).toMatchObject({ type: "broadcast", event: "hi", payload: { n: 1 } });
    }
  });

  test("realtime_025 realtime_026 presence shows who is there, and who has left", async () => {
    const topic = `room-${randomUUID()}`;
    const config = (key: string) => ({ config: { presence: { key } } });
    const ada = connect(vsn).channel(topic, config("ada"));
    const bob = connect(vsn).channel(topic, config("bob"));
    const joined = new Promise<string>((done) => {
      ada.on("presence", { event: "join" }, ({ key }) => key === "bob" && done(key));
    });
    const left = new Promise<string>((done) => {
      ada.on("presence", { event: "leave" }, ({ key }) => done(key));
    });
    bob.on("presence", { event: "sync" }, () => {});
    await Promise.all([subscribe(ada), subscribe(bob)]);

    expect(await bob.track({ mood: "fine" })).toBe("ok");
    expect(await joined).toBe("bob");
    expect(ada.presenceState().bob).toMatchObject([{ mood: "fine" }]);
    await bob.unsubscribe();
    expect(await left).toBe("bob");
  });

  test("realtime_017 a private channel without a policy is refused", async () => {
    const client = connect(vsn);
    await client.realtime.setAuth(
      (await person.client.auth.getSession()).data.session?.access_token,
    );
    const channel = client.channel(`private-${randomUUID()}`, { config: { private: true } });

    await expect(subscribe(channel)).rejects.toThrow("Unauthorized");
  });

  test("realtime_029 realtime_030 broadcasts by HTTP reach the channel", async () => {
    const topic = `room-${randomUUID()}`;
    const receiver = connect(vsn).channel(topic);
    const one = nextBroadcast(receiver, "one");
    const two = nextBroadcast(receiver, "two");
    await subscribe(receiver);
    const unsubscribed = connect(vsn).channel(topic);

    await unsubscribed.httpSend("one", { n: 1 });
    await fetch(`${apiUrl()}/realtime/v1/api/broadcast`, {
      method: "POST",
      headers: { apikey: anonKey, "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ topic, event: "two", payload: { n: 2 } }] }),
    });

    expect(await one).toMatchObject({ payload: { n: 1 } });
    expect(await two).toMatchObject({ payload: { n: 2 } });
  });
});
