// Following: who may write and read it, what it tells and counts, and what it brings to the dashboard.

import { beforeAll, describe, expect, test } from "vitest";
import { expectData, fetchRows, makeOutfit } from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { runSql } from "../support/database.ts";
import { expectRefused } from "../support/expectations.ts";

let creator: Person;
let fan: Person;
let stranger: Person;

beforeAll(async () => {
  [creator, fan, stranger] = await Promise.all([signUp(), signUp(), signUp()]);
});

const follow = (who: Person, whom: Person) =>
  who.client.from("follows").insert({ follower_id: who.id, followed_id: whom.id });
const unfollow = (who: Person, whom: Person) =>
  who.client.from("follows").delete().eq("follower_id", who.id).eq("followed_id", whom.id);

async function numbersOf(person: Person, client = visitor()) {
  return expectData(await client.rpc("profile_numbers", { profile_id: person.id }).single());
}

describe("following", () => {
  test("is counted for everybody, told once, and read by the two alone", async () => {
    expectData(await follow(fan, creator));
    expectData(await unfollow(fan, creator));
    expectData(await follow(fan, creator));

    expect(await numbersOf(creator)).toMatchObject({ followers: 1, following: 0 });
    expect(await numbersOf(fan)).toMatchObject({ followers: 0, following: 1 });
    expect(await fetchRows("notifications", "actor_id", fan.id)).toMatchObject([
      { user_id: creator.id, kind: "followed", combine_id: null },
    ]);
    const admin = await signUpAdmin();
    const seen = await Promise.all(
      [fan, creator, stranger, admin].map(async ({ client }) =>
        expectData(await client.from("follows").select().eq("followed_id", creator.id)),
      ),
    );
    expect(seen.map((rows) => rows.length)).toEqual([1, 1, 0, 0]);
  });

  test("in the name of another person, and of oneself, is refused", async () => {
    const forged = stranger.client
      .from("follows")
      .insert({ follower_id: fan.id, followed_id: stranger.id });

    expectRefused(await forged, 403, "42501", /row-level security/);
    expectRefused(await follow(stranger, stranger), 400, "23514", /follows_others/);
    const dated = { follower_id: fan.id, followed_id: stranger.id, created_at: "2020-01-01" };
    expectRefused(await fan.client.from("follows").insert(dated), 403, "42501", /permission/);
  });

  test("of another person is not ended", async () => {
    expectData(await follow(fan, stranger));
    const { client } = stranger;

    expectData(await client.from("follows").delete().eq("follower_id", fan.id).select());

    expect(await fetchRows("follows", "followed_id", stranger.id)).toHaveLength(1);
  });

  test("of more than 300 people within a day is refused", async () => {
    const eager = await signUp();
    await runSql(
      `insert into private.asked_for (user_id, kind) select '${eager.id}', 'follow' from generate_series(1, 300)`,
    );

    expectRefused(await follow(eager, creator), 400, "23514", /within a day/);
    expect(await fetchRows("follows", "follower_id", eager.id)).toEqual([]);
  });

  test("is part of both exports, and ends with an account", async () => {
    const leaving = await signUp();
    expectData(await follow(leaving, creator));
    const exported = expectData(await leaving.client.rpc("export_my_data")) as {
      follows: unknown[];
    };

    expect(exported.follows).toMatchObject([{ follower_id: leaving.id, followed_id: creator.id }]);
    const gone = { confirmation: leaving.username };
    expect((await leaving.client.rpc("delete_my_account", gone)).error).toBeNull();
    expect(await fetchRows("follows", "follower_id", leaving.id)).toEqual([]);
    expect(await fetchRows("notifications", "actor_id", leaving.id)).toEqual([]);
  });
});

describe("the dashboard", () => {
  test("has published outfits of those whom one follows, newest first", async () => {
    const [reader, one, other] = await Promise.all([signUp(), signUp(), signUp()]);
    expectData(await follow(reader, one));
    const older = await makeOutfit(one, "approved");
    const newer = await makeOutfit(one, "approved");
    await makeOutfit(one, "pending");
    await makeOutfit(other, "approved");

    const rows = expectData(await reader.client.rpc("followed_outfits")) as { id: string }[];

    expect(rows.map(({ id }) => id)).toEqual([newer.id, older.id]);
    expectRefused(await visitor().rpc("followed_outfits"), 401, "42501", /permission denied/);
  });

  test("suggests what resembles a liked outfit, without what is liked already or one's own", async () => {
    const [reader, maker] = await Promise.all([signUp(), signUp()]);
    const liked = await makeOutfit(await signUp(), "approved");
    const share = async (person: Person) => {
      const outfit = await makeOutfit(person, "approved");
      const change = { item_ids: liked.item_ids, approved_by: null };
      expectData(await owner().from("combines").update(change).eq("id", outfit.id).select("id"));
      return outfit;
    };
    const [alike, known] = [await share(maker), await share(maker)];
    const own = await share(reader);
    for (const { id } of [liked, known]) {
      const like = { user_id: reader.id, combine_id: id };
      expectData(await reader.client.from("likes").insert(like));
    }

    const rows = expectData(
      await reader.client.rpc("suggested_outfits", { liked_id: liked.id, max_results: 100 }),
    ) as { id: string }[];

    const ids = rows.map(({ id }) => id);
    expect(ids).toContain(alike.id);
    expect(ids).not.toContain(known.id);
    expect(ids).not.toContain(own.id);
    expect(ids).not.toContain(liked.id);
  });

  test("names styles, colors and brands of the newest outfits", async () => {
    const words = expectData(await visitor().rpc("frequent_words", { max_results: 3 })) as {
      kind: string;
    }[];

    expect(words.map(({ kind }) => kind)).toEqual(
      ["brand", "color", "style"].flatMap((kind) => [kind, kind, kind]),
    );
  });
});

test("the number of bookmarks of an outfit is told to its creator alone", async () => {
  const outfit = await makeOutfit(creator, "approved");
  expectData(await fan.client.from("bookmarks").insert({ user_id: fan.id, combine_id: outfit.id }));
  const ask = async (person: Person) =>
    (await person.client.rpc("outfit_saves", { outfit_id: outfit.id })).data;

  expect(await ask(creator)).toBe(1);
  expect(await ask(fan)).toBeNull();
});
