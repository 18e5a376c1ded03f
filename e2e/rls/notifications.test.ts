// Notifications: created by likes and reviews only, and readable only by their recipient.

import type { RealtimeChannel } from "@supabase/supabase-js";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectData, fetchRows, makeItem, makeOutfit, type Outfit } from "../support/catalogue.ts";
import { type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectNoRows, expectRefused } from "../support/expectations.ts";

interface Notification {
  id: string;
  user_id: string;
  kind: string;
  combine_id: string;
  actor_id: string | null;
  reason: string | null;
  read_at: string | null;
  created_at: string;
}

let creator: Person;
let fan: Person;
let admin: Person;

beforeAll(async () => {
  creator = await signUp();
  fan = await signUp();
  admin = await signUpAdmin();
});

function like(person: Person, outfit: Outfit) {
  return person.client.from("likes").insert({ user_id: person.id, combine_id: outfit.id });
}

function unlike(person: Person, outfit: Outfit) {
  return person.client.from("likes").delete().eq("user_id", person.id).eq("combine_id", outfit.id);
}

/** Returns the notifications of the outfit's creator about it, oldest first; read with the service key. */
async function told(outfit: Outfit): Promise<Notification[]> {
  const rows = await fetchRows<Notification>("notifications", "combine_id", outfit.id);
  return rows.toSorted((a, b) => a.created_at.localeCompare(b.created_at));
}

async function makeLiked(): Promise<{ outfit: Outfit; notification: Notification }> {
  const outfit = await makeOutfit(creator, "approved");
  expectData(await like(fan, outfit));
  const [notification] = await told(outfit);
  if (!notification) {
    throw new Error("the like notified nobody");
  }
  return { outfit, notification };
}

describe("a like", () => {
  test("tells the creator who liked, unread", async () => {
    const { notification } = await makeLiked();

    expect(notification).toMatchObject({
      user_id: creator.id,
      kind: "liked",
      actor_id: fan.id,
      reason: null,
      read_at: null,
    });
  });

  test("taken back and given again tells the creator once", async () => {
    const { outfit } = await makeLiked();

    expectData(await unlike(fan, outfit));
    expectData(await like(fan, outfit));

    expect(await told(outfit)).toHaveLength(1);
  });

  test("by two people tells the creator twice", async () => {
    const { outfit } = await makeLiked();

    expectData(await like(admin, outfit));

    expect((await told(outfit)).map(({ actor_id }) => actor_id)).toEqual([fan.id, admin.id]);
  });

  test("of one's own outfit, and of an item, tells nobody", async () => {
    const outfit = await makeOutfit(creator, "approved");
    const item = await makeItem();

    expectData(await like(creator, outfit));
    expectData(await fan.client.from("likes").insert({ user_id: fan.id, product_id: item.id }));

    expect(await told(outfit)).toEqual([]);
    expect(await fetchRows("notifications", "actor_id", creator.id)).toEqual([]);
  });
});

describe("a review", () => {
  test("tells the creator that the outfit was approved", async () => {
    const outfit = await makeOutfit(creator, "pending");

    expectData(await admin.client.rpc("review_combine", { combine_id: outfit.id, approve: true }));

    expect(await told(outfit)).toMatchObject([
      { user_id: creator.id, kind: "approved", actor_id: null, reason: null, read_at: null },
    ]);
  });

  test("tells the creator why the outfit was rejected, at every rejection", async () => {
    const outfit = await makeOutfit(creator, "pending");
    const reject = (reason: string) =>
      admin.client.rpc("review_combine", { combine_id: outfit.id, approve: false, reason });

    expectData(await reject("Too dark."));
    expectData(
      await admin.client
        .from("combines")
        .update({ status: "pending" })
        .eq("id", outfit.id)
        .select()
        .single(),
    );
    expectData(await reject("Still too dark."));

    expect(await told(outfit)).toMatchObject([
      { kind: "rejected", reason: "Too dark." },
      { kind: "rejected", reason: "Still too dark." },
    ]);
  });

  test("of an administrator's own outfit tells nobody", async () => {
    const outfit = await makeOutfit(admin, "pending");

    expectData(await admin.client.rpc("review_combine", { combine_id: outfit.id, approve: true }));

    expect(await told(outfit)).toEqual([]);
  });
});

describe("reading", () => {
  test("is for the addressee alone, administrators and whoever liked included", async () => {
    const { outfit } = await makeLiked();
    const read = (person: Person) =>
      person.client.from("notifications").select().eq("combine_id", outfit.id);

    expect(expectData(await read(creator))).toHaveLength(1);
    expectNoRows(await read(fan));
    expectNoRows(await read(admin));
    expectRefused(
      await visitor().from("notifications").select(),
      401,
      "42501",
      /permission denied for table notifications/,
    );
  });

  test("does not leak through profiles, outfits or counts", async () => {
    const { outfit } = await makeLiked();

    const byOutfit = await fan.client
      .from("combines")
      .select("id, notifications(actor_id)")
      .eq("id", outfit.id)
      .single<{ notifications: unknown[] }>();
    const byProfile = await fan.client
      .from("profiles")
      .select("id, notifications!notifications_user_id_fkey(kind)")
      .eq("id", creator.id)
      .single<{ notifications: unknown[] }>();
    const counted = await fan.client
      .from("notifications")
      .select("*", { count: "exact", head: true });

    expect(expectData(byOutfit).notifications).toEqual([]);
    expect(expectData(byProfile).notifications).toEqual([]);
    expect(counted.count).toBe(0);
  });
});

describe("marking as read", () => {
  const markRead = (person: Person, id: string, read_at: string | null = "2000-01-01T00:00:00Z") =>
    person.client.from("notifications").update({ read_at }).eq("id", id).select();

  test("records the server's time, and the first reading counts", async () => {
    const { outfit, notification } = await makeLiked();

    expectData(await markRead(creator, notification.id));
    const [first] = await told(outfit);
    expectData(await markRead(creator, notification.id, null));
    const [second] = await told(outfit);

    expect(Date.parse(first?.read_at ?? "")).toBeGreaterThan(Date.now() - 60_000);
    expect(second?.read_at).toBe(first?.read_at);
  });

  test("of other people's is refused", async () => {
    const { outfit, notification } = await makeLiked();

    expectNoRows(await markRead(fan, notification.id));
    expectNoRows(await markRead(admin, notification.id));
    expect(await told(outfit)).toEqual([notification]);
  });
});

describe("writing", () => {
  test.each([
    ["addressee", { user_id: "00000000-0000-4000-8000-000000000000" }],
    ["kind", { kind: "approved" }],
    ["reason", { reason: "Because." }],
    ["time", { created_at: "2000-01-01T00:00:00Z" }],
  ])("the %s is refused", async (_, change) => {
    const { outfit, notification } = await makeLiked();

    const response = await creator.client
      .from("notifications")
      .update(change)
      .eq("id", notification.id)
      .select();

    expectRefused(response, 403, "42501", /permission denied for table notifications/);
    expect(await told(outfit)).toEqual([notification]);
  });

  test("new ones and deleting is refused", async () => {
    const { outfit, notification } = await makeLiked();

    for (const person of [fan, creator, admin]) {
      const inserted = await person.client
        .from("notifications")
        .insert({ user_id: creator.id, kind: "approved", combine_id: outfit.id })
        .select();
      const deleted = await person.client
        .from("notifications")
        .delete()
        .eq("id", notification.id)
        .select();
      expectRefused(inserted, 403, "42501", /permission denied for table notifications/);
      expectRefused(deleted, 403, "42501", /permission denied for table notifications/);
    }
    expect(await told(outfit)).toEqual([notification]);
  });
});

describe("the channel of a person", () => {
  const opened: Person[] = [];

  // A second try of a test joins the same channel.
  afterEach(async () => {
    for (const { client } of opened) await client.removeAllChannels();
  });

  afterAll(() => {
    for (const { client } of opened) client.realtime.disconnect();
  });

  async function join(person: Person, addressee: Person): Promise<RealtimeChannel> {
    opened.push(person);
    await person.client.realtime.setAuth(
      (await person.client.auth.getSession()).data.session?.access_token,
    );
    return person.client.channel(`notifications:${addressee.id}`, {
      // The server reads broadcasts from the database from a moment after the first join on.
      config: { private: true, broadcast: { replication_ready: true } },
    });
  }

  function subscribe(channel: RealtimeChannel): Promise<string> {
    return new Promise((done) => {
      channel.subscribe((status) => done(status));
    });
  }

  test("hears of a like at once", async () => {
    const channel = await join(creator, creator);
    // Notices of the tests before may still be on their way.
    const heard: unknown[] = [];
    channel.on("broadcast", { event: "notification" }, ({ payload }) => heard.push(payload));
    const ready = new Promise<unknown>((done) => {
      channel.on("system", {}, done);
    });
    expect(await subscribe(channel)).toBe("SUBSCRIBED");
    expect(await ready).toMatchObject({ status: "ok" });

    const { notification } = await makeLiked();

    const expected = expect.objectContaining({ id: notification.id, kind: "liked" });
    await expect.poll(() => heard, { timeout: 30_000 }).toContainEqual(expected);
  });

  test("is closed to everybody else, administrators included", async () => {
    for (const person of [fan, admin]) {
      expect(await subscribe(await join(person, creator))).toBe("CHANNEL_ERROR");
    }
  });
});
