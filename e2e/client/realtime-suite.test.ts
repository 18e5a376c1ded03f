// The behaviour that supabase-js' own integration tests ask of Realtime (test/integration.test.ts), in both versions of the
// protocol. `tools/realtime-check` runs the other stock suite, that of the original server.

import { randomUUID } from "node:crypto";
import {
  createClient,
  type RealtimeChannel,
  type SupabaseClient,
  type WebSocketLikeConstructor,
} from "@supabase/supabase-js";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import WebSocket from "ws";
import { anonKey, localToken, password } from "../support/clients.ts";
import { makeProject, type ProjectFolder } from "../support/project.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

// The policies of those tests.
const policies = ["select", "insert"].map(
  (command) => `create policy "test ${command}" on realtime.messages for ${command} to authenticated
    ${command === "select" ? "using" : "with check"} (realtime.topic() like '%channel%');`,
);
const heartbeatMs = 500;
const isPrivate = { broadcast: { ack: true, self: true }, private: true };

let folder: ProjectFolder;
let server: Selvedge;

beforeAll(async () => {
  folder = await makeProject("suite", policies.join("\n"));
  server = await startSelvedge(folder.path);
});

afterAll(async () => {
  await server?.stop();
  await folder?.remove();
});

function subscribe(channel: RealtimeChannel): Promise<void> {
  return new Promise((done, failed) => {
    channel.subscribe((status, error) => {
      if (status === "SUBSCRIBED") {
        done();
      } else if (status !== "CLOSED") {
        failed(error ?? new Error(status));
      }
    });
  });
}

/** The payload of the next broadcast of this event. */
function payloadOf(channel: RealtimeChannel, event: string): Promise<unknown> {
  return new Promise((done) => {
    channel.on("broadcast", { event }, ({ payload }) => done(payload));
  });
}

const transport = WebSocket as unknown as WebSocketLikeConstructor;

describe.each(["1.0.0", "2.0.0"])("realtime_073 supabase-js on version %s", (vsn) => {
  let client: SupabaseClient;
  let topic: string;
  let channel: RealtimeChannel;

  beforeEach(async () => {
    client = createClient(server.apiUrl, anonKey, {
      auth: { persistSession: false, autoRefreshToken: false },
      realtime: { heartbeatIntervalMs: heartbeatMs, vsn, transport },
    });
    const email = `suite-${randomUUID()}@lookbook.test`;
    const { error } = await client.auth.signUp({ email, password });
    expect(error).toBeNull();
    topic = `channel-${randomUUID()}`;
    channel = client.channel(topic, { config: isPrivate });
  });

  afterEach(async () => {
    await client.removeAllChannels();
  });

  test("a private channel whose policies allow it broadcasts to itself", async () => {
    const received = payloadOf(channel, "test-event");
    await subscribe(channel);

    const message = {
      type: "broadcast" as const,
      event: "test-event",
      payload: { message: "test" },
    };
    expect(await channel.send(message)).toBe("ok");

    expect(await received).toMatchObject({ message: "test" });
    expect(client.realtime.getChannels()).toHaveLength(1);
  });

  test("the socket stays when one channel is left for another", async () => {
    await subscribe(channel);
    await client.removeChannel(channel);
    expect(client.realtime.isConnected()).toBe(true);

    await subscribe(client.channel(`${topic}-b`, { config: isPrivate }));

    expect(client.realtime.isConnected()).toBe(true);
  });

  test.each([
    ["removeChannel", () => client.removeChannel(channel)],
    ["unsubscribe", () => channel.unsubscribe()],
  ])("the socket is closed some time after %s of the last channel", async (_, leave) => {
    await subscribe(channel);

    expect(await leave()).toBe("ok");

    expect(client.realtime.isConnected()).toBe(true);
    await expect
      .poll(() => client.realtime.isConnected(), { timeout: 20 * heartbeatMs })
      .toBe(false);
  });

  test("removeAllChannels closes the socket at once", async () => {
    await Promise.all([
      subscribe(client.channel(`${topic}-a`)),
      subscribe(client.channel(`${topic}-b`)),
    ]);

    await client.removeAllChannels();

    expect(client.realtime.isConnected()).toBe(false);
  });

  test("httpSend reaches a public and a private channel", async () => {
    const open = client.channel(`public-${randomUUID()}`, {
      config: { broadcast: { self: true } },
    });
    for (const [member, text] of [
      [open, "public"],
      [channel, "private"],
    ] as const) {
      const received = payloadOf(member, "json");
      await subscribe(member);

      expect(await member.httpSend("json", { hello: text })).toEqual({ success: true });

      expect(await received).toMatchObject({ hello: text });
    }
  });

  test("httpSend of bytes reaches members of version 2, and breaks none of version 1", async () => {
    const bytes = new Uint8Array([1, 2, 3, 4, 5]);
    const received = payloadOf(channel, "binary");
    const after = payloadOf(channel, "after");
    await subscribe(channel);

    expect(await channel.httpSend("binary", bytes)).toEqual({ success: true });

    if (vsn === "2.0.0") {
      expect(new Uint8Array((await received) as ArrayBuffer)).toEqual(bytes);
    }
    expect(await channel.httpSend("after", {})).toEqual({ success: true });
    await after;
  });
});

test("realtime_073 a token that the application signs itself is used", async () => {
  const token = localToken({ sub: "1234567890", role: "anon", iss: "supabase-demo" });
  const client = createClient(server.apiUrl, anonKey, {
    accessToken: async () => token,
    realtime: { transport },
  });

  await subscribe(client.channel("test-channel"));

  expect(client.realtime.accessTokenValue).toBe(token);
  await client.removeAllChannels();
});
