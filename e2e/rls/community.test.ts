// Collections of bookmarks, liked styles, reports and blocks: who reads and writes them, and what they change for others.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  makeOutfit,
  type Outfit,
  uniqueName,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { runSql } from "../support/database.ts";
import { expectRefused } from "../support/expectations.ts";

let person: Person;
let other: Person;
let admin: Person;
let outfit: Outfit;

beforeAll(async () => {
  [person, other, admin] = await Promise.all([signUp(), signUp(), signUpAdmin()]);
  outfit = await makeOutfit(other, "approved");
});

const bookmark = (who: Person, combine_id: string) =>
  who.client.from("bookmarks").insert({ user_id: who.id, combine_id });

async function collect(who: Person, outfits: readonly Outfit[], is_shared: boolean) {
  const row = { user_id: who.id, name: uniqueName("Collection"), is_shared };
  const made = expectData(await who.client.from("collections").insert(row).select().single());
  for (const { id } of outfits) {
    expectData(await bookmark(who, id));
    const collected = { collection_id: made.id, user_id: who.id, combine_id: id };
    expectData(await who.client.from("collected_outfits").insert(collected));
  }
  return made as { id: string; name: string };
}

const outfitsOf = async (client: Person["client"], collection_id: string) =>
  (
    expectData(await client.rpc("shared_collection_outfits", { collection_id })) as { id: string }[]
  ).map(({ id }) => id);

describe("a collection", () => {
  test("is read by its link once it is shared, without outfits that are not published", async () => {
    const curator = await signUp();
    const waiting = await makeOutfit(curator, "pending");
    const { id, name } = await collect(curator, [outfit, waiting], false);
    const shown = (client: Person["client"]) =>
      client.rpc("shared_collection", { collection_id: id });

    expect(expectData(await shown(visitor()))).toEqual([]);
    expect(await outfitsOf(visitor(), id)).toEqual([]);
    expect(expectData(await shown(curator.client))).toMatchObject([{ name, is_own: true }]);

    const change = curator.client.from("collections").update({ is_shared: true }).eq("id", id);
    expectData(await change);
    expect(expectData(await shown(visitor()))).toEqual([
      { id, name, username: curator.username, full_name: expect.anything(), is_own: false },
    ]);
    expect(await outfitsOf(other.client, id)).toEqual([outfit.id]);
    expect(expectData(await visitor().rpc("page_meta", { path: `/collections/${id}` }))).toEqual({
      title: "Collection · Lookbook",
      noindex: true,
    });
    expect(
      expectData(await visitor().rpc("page_meta", { path: `/collections/${randomUUID()}` })),
    ).toMatchObject({ status: 404 });
  });

  test("holds own bookmarks alone, and loses an outfit with its bookmark", async () => {
    const curator = await signUp();
    const { id } = await collect(curator, [outfit], true);
    const unmarked = await makeOutfit(other, "approved");
    const add = (who: Person, combine_id: string) =>
      who.client
        .from("collected_outfits")
        .insert({ collection_id: id, user_id: who.id, combine_id });

    expectRefused(await add(curator, unmarked.id), 409, "23503", /bookmarks|foreign key/);
    expectData(await bookmark(person, unmarked.id));
    expectRefused(await add(person, unmarked.id), 409, "23503", /foreign key/);
    const { client } = curator;
    expectData(await client.from("bookmarks").delete().eq("combine_id", outfit.id).select());
    expect(await fetchRows("collected_outfits", "collection_id", id)).toEqual([]);
  });

  test("has a name that no other of its owner has, and there are at most 100", async () => {
    const curator = await signUp();
    const { name } = await collect(curator, [], false);
    const again = { user_id: curator.id, name: ` ${name.toUpperCase()}` };
    expectRefused(await curator.client.from("collections").insert(again), 409, "23505", /name_key/);
    await runSql(
      `insert into public.collections (user_id, name) select '${curator.id}', 'C' || n from generate_series(1, 99) as n`,
    );

    const long = { user_id: curator.id, name: `Long${" ".repeat(300)}` };
    expectRefused(await curator.client.from("collections").insert(long), 400, "23514", /name_size/);
    const next = { user_id: curator.id, name: "One more" };
    expectRefused(await curator.client.from("collections").insert(next), 400, "23514", /100/);
  });
});

describe("an unlisted outfit", () => {
  const list = (who: Person, outfit_id: string, listed: boolean) =>
    who.client.rpc("set_outfit_listed", { outfit_id, listed });

  test("is in no list, and is read by its id alone", async () => {
    const creator = await signUp();
    const { id, item_ids, name } = await makeOutfit(creator, "approved");
    const [{ slug } = { slug: "" }] = await fetchRows<{ slug: string }>("combines", "id", id);
    const early = { user_id: other.id, combine_id: id };
    expectData(await other.client.from("likes").insert(early));
    expectData(await list(creator, id, false));
    // Sent again, it is done already.
    expectData(await list(creator, id, false));

    const ids = async (call: PromiseLike<{ data: unknown; error: unknown }>) =>
      ((await call).data as { id: string }[]).map((row) => row.id);
    const client = visitor();
    const lists = [
      client.from("combines").select("id").eq("id", id),
      client.from("combines").select("id").eq("slug", slug),
      client.rpc("search_outfits", { term: name }).select("id"),
      client.rpc("outfits_with_item", { item_id: item_ids[0] }).select("id"),
      client.rpc("top_outfits").select("id"),
      client.rpc("related_outfits", { outfit_id: outfit.id }).select("id"),
    ];
    for (const one of lists) expect(await ids(one)).not.toContain(id);
    const byLink = async (link: string) =>
      expectData(await client.rpc("unlisted_outfit", { link })) as object[];
    const link = expectData(await creator.client.rpc("unlisted_link", { outfit_id: id })) as string;
    expect(await byLink(link)).toMatchObject([{ id, approved_by: null }]);
    // The id was public while the outfit was listed.
    expect(await byLink(id)).toEqual([]);
    expect((await person.client.rpc("unlisted_link", { outfit_id: id })).data).toBeNull();
    const page = expectData(await client.rpc("page_meta", { path: `/look/${link}` }));
    expect(page).toEqual({ title: "Outfit · Lookbook", noindex: true });
    const counts = client.from("like_counts").select("combine_id").eq("combine_id", id);
    expect(expectData(await counts)).toEqual([]);
    const report = { reporter_id: person.id, combine_id: id, reason: "rights" };
    expectData(await person.client.from("reports").insert(report));
    const own = { ...report, reporter_id: creator.id };
    expectRefused(await creator.client.from("reports").insert(own), 403, "42501", /row-level/);
    const like = { user_id: person.id, combine_id: id };
    expectRefused(await person.client.from("likes").insert(like), 403, "42501", /row-level/);

    expectData(await list(creator, id, true));
    expect(await ids(client.from("combines").select("id").eq("slug", slug))).toEqual([id]);
    expect(await byLink(link)).toEqual([]);
    // Neither is a review: the creator is told nothing, and the history has nothing.
    expect(await fetchRows("notifications", "user_id", creator.id)).toMatchObject([
      { kind: "liked" },
    ]);
    expect(await fetchRows("combine_reviews", "combine_id", id)).toEqual([]);
  });

  test("leaves no trace of a review that is withdrawn, and is toggled 50 times a day", async () => {
    const creator = await signUp();
    const { id } = await makeOutfit(creator, "pending");
    expectData(await admin.client.rpc("review_combine", { combine_id: id, approve: true }));
    expectData(await list(creator, id, false));
    expectData(await admin.client.rpc("withdraw_reviews", { combine_ids: [id] }));

    expect(await fetchRows("combines", "id", id)).toMatchObject([{ status: "pending" }]);
    expect(await fetchRows("notifications", "user_id", creator.id)).toEqual([]);
    expect(await fetchRows("combine_reviews", "combine_id", id)).toEqual([]);
    const own = await makeOutfit(creator, "approved");
    await runSql(
      `insert into private.asked_for (user_id, kind) select '${creator.id}', 'listing' from generate_series(1, 49)`,
    );
    expectRefused(await list(creator, own.id, false), 400, "23514", /within a day/);
  });

  test("is made of an own published outfit alone, and can be taken offline", async () => {
    const creator = await signUp();
    const waiting = await makeOutfit(creator, "pending");
    const mine = await makeOutfit(creator, "approved");
    const refused = /no published outfit/;

    expectRefused(await list(creator, waiting.id, false), 404, "PT404", refused);
    expectRefused(await list(creator, waiting.id, true), 404, "PT404", refused);
    expectRefused(await list(person, mine.id, false), 404, "PT404", refused);
    expectData(await list(creator, mine.id, false));
    const change = { status: "approved" };
    const own = creator.client.from("combines").update(change).eq("id", mine.id).select("id");
    expect(expectData(await own)).toEqual([]);
    const offline = { combine_id: mine.id, approve: false, reason: "Reported" };
    expectData(await admin.client.rpc("change_review", offline));
    expect(await fetchRows("combines", "id", mine.id)).toMatchObject([{ status: "rejected" }]);
    expect(await fetchRows("notifications", "user_id", creator.id)).toMatchObject([
      { kind: "rejected", reason: "Reported" },
    ]);
  });
});

describe("a report", () => {
  const report = (who: Person, subject: object, reporter_id = who.id) =>
    who.client.from("reports").insert({ reporter_id, reason: "spam", ...subject });

  test("is read by its author and administrators, who decide about it", async () => {
    expectData(await report(person, { combine_id: outfit.id, note: " " }));
    const ask = async ({ client }: Person) =>
      expectData(await client.from("reports").select().eq("combine_id", outfit.id));

    expect(await ask(other)).toEqual([]);
    expect(await ask(person)).toMatchObject([{ state: "open", note: null, decided_by: null }]);
    const decide = ({ client }: Person) =>
      client.from("reports").update({ state: "done" }).eq("combine_id", outfit.id).select();
    expect(expectData(await decide(person))).toEqual([]);
    expect(expectData(await decide(admin))).toMatchObject([
      { state: "done", decided_by: admin.id, decided_at: expect.anything() },
    ]);
    const forged = admin.client.from("reports").update({ reason: "other" }).eq("state", "done");
    expectRefused(await forged, 403, "42501", /permission/);
  });

  test("is refused in another name, twice, of oneself, of what one does not see, and without a reason", async () => {
    const waiting = await makeOutfit(other, "pending");
    const mine = await makeOutfit(person, "approved");
    expectData(await report(person, { profile_id: other.id }));

    expectRefused(await report(person, { profile_id: other.id }), 409, "23505", /duplicate/);
    const refused = /row-level security/;
    expectRefused(await report(person, { profile_id: admin.id }, other.id), 403, "42501", refused);
    expectRefused(await report(person, { combine_id: waiting.id }), 403, "42501", refused);
    expectRefused(await report(person, { combine_id: mine.id }), 403, "42501", refused);
    expectRefused(await report(person, { profile_id: person.id }), 400, "23514", /others/);
    const unclear = { profile_id: admin.id, reason: "dislike" };
    expectRefused(await report(person, unclear), 400, "23514", /reason_known/);
    expectRefused(await report(person, {}), 400, "23514", /one_subject/);
  });

  test("is counted for the queue, and the thirty-first of a day is refused", async () => {
    const eager = await signUp();
    const open = async () =>
      (expectData(await admin.client.rpc("admin_overview")) as { reports: number }).reports;
    const before = await open();
    expectData(await report(eager, { profile_id: other.id }));
    expect(await open()).toBe(before + 1);
    await runSql(
      `insert into private.asked_for (user_id, kind) select '${eager.id}', 'report' from generate_series(1, 29)`,
    );

    expectRefused(await report(eager, { profile_id: person.id }), 400, "23514", /within a day/);
  });
});

describe("a blocked person", () => {
  const follow = (who: Person, whom: Person) =>
    who.client.from("follows").insert({ follower_id: who.id, followed_id: whom.id });
  const block = (who: Person, whom: Person) =>
    who.client.from("blocks").insert({ blocker_id: who.id, blocked_id: whom.id });

  test("no longer follows or notifies, and is not followed", async () => {
    const [calm, rude] = await Promise.all([signUp(), signUp()]);
    const own = await makeOutfit(calm, "approved");
    expectData(await follow(rude, calm));
    expectData(await follow(calm, rude));
    // What both have to do with others stays.
    const others = [[person, calm] as const, [rude, person] as const, [calm, person] as const];
    for (const [who, whom] of others) expectData(await follow(who, whom));
    expectData(await block(calm, rude));

    const followedBy = async ({ id }: Person) =>
      (await fetchRows<{ followed_id: string }>("follows", "follower_id", id)).map(
        ({ followed_id }) => followed_id,
      );
    expect(await followedBy(rude)).toEqual([person.id]);
    expect(await followedBy(calm)).toEqual([person.id]);
    expect(await followedBy(person)).toContain(calm.id);
    // The blocked one is answered as always, and nothing is stored.
    expectData(await follow(rude, calm));
    expect(await followedBy(rude)).toEqual([person.id]);
    expectRefused(await follow(calm, rude), 400, "23514", /Unblock them first/);
    const like = { user_id: rude.id, combine_id: own.id };
    expectData(await rude.client.from("likes").insert(like));
    const told = await fetchRows<{ actor_id: string }>("notifications", "user_id", calm.id);
    expect(told.map(({ actor_id }) => actor_id)).toEqual([person.id]);

    expectData(await calm.client.from("blocks").delete().eq("blocked_id", rude.id));
    expectData(await follow(rude, calm));
  });

  test("does not learn it, and nobody blocks in another name", async () => {
    const rude = await signUp();
    expectData(await block(person, rude));

    expect(expectData(await rude.client.from("blocks").select())).toEqual([]);
    const forged = rude.client
      .from("blocks")
      .insert({ blocker_id: person.id, blocked_id: other.id });
    expectRefused(await forged, 403, "42501", /row-level security/);
    // The answer to a forged follow is the same whether the two have blocked each other or not.
    const tried = other.client
      .from("follows")
      .insert({ follower_id: rude.id, followed_id: person.id });
    expectRefused(await tried, 403, "42501", /row-level security/);
    expectRefused(await block(person, person), 400, "23514", /blocks_others/);
  });

  test("is not suggested", async () => {
    const [reader, maker] = await Promise.all([signUp(), signUp()]);
    const alike = await makeOutfit(maker, "approved");
    const change = { item_ids: outfit.item_ids, approved_by: null };
    expectData(await owner().from("combines").update(change).eq("id", alike.id).select("id"));
    const like = { user_id: reader.id, combine_id: outfit.id };
    expectData(await reader.client.from("likes").insert(like));
    const suggested = async () => {
      const call = { liked_id: outfit.id, max_results: 100 };
      const rows = expectData(await reader.client.rpc("suggested_outfits", call));
      return (rows as { id: string }[]).map(({ id }) => id);
    };

    expect(await suggested()).toContain(alike.id);
    expectData(await block(reader, maker));
    expect(await suggested()).not.toContain(alike.id);
  });
});

test("collections, liked styles, blocks and reports are part of the export, and end with the account", async () => {
  const leaving = await signUp();
  await collect(leaving, [outfit], true);
  const [style] = expectData(await visitor().from("outfit_styles").select("id").limit(1)) as {
    id: string;
  }[];
  const { client, id } = leaving;
  expectData(await client.from("liked_styles").insert({ user_id: id, style_id: style?.id }));
  expectData(await client.from("blocks").insert({ blocker_id: id, blocked_id: other.id }));
  const report = { reporter_id: id, profile_id: other.id, reason: "person" };
  expectData(await client.from("reports").insert(report));

  expect(expectData(await client.rpc("export_my_data"))).toMatchObject({
    collections: [{ is_shared: true, outfits: [outfit.id] }],
    liked_styles: [{ style_id: style?.id }],
    blocks: [{ blocked_id: other.id }],
    reports: [{ profile_id: other.id, reason: "person" }],
  });
  expect(
    (await client.rpc("delete_my_account", { confirmation: leaving.username })).error,
  ).toBeNull();
  for (const [table, column] of [
    ["collections", "user_id"],
    ["collected_outfits", "user_id"],
    ["liked_styles", "user_id"],
    ["blocks", "blocker_id"],
    ["reports", "reporter_id"],
  ] as const) {
    expect(await fetchRows(table, column, id)).toEqual([]);
  }
});
