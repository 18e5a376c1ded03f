// Row-level security of likes and bookmarks: one per person and target, owned by the caller, on rows that the caller can
// see.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  type Item,
  makeItem,
  makeOutfit,
  type Outfit,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectNoRows, expectRefused } from "../support/expectations.ts";

let attacker: Person;
let victim: Person;
let admin: Person;
let item: Item;
let published: Outfit;
let hidden: Outfit;

beforeAll(async () => {
  attacker = await signUp();
  victim = await signUp();
  admin = await signUpAdmin();
  item = await makeItem();
  published = await makeOutfit(victim, "approved");
  hidden = await makeOutfit(victim, "pending");
});

describe("likes", () => {
  test("are refused a second time for the same target", async () => {
    const like = { user_id: attacker.id, combine_id: published.id, product_id: null };
    expectData(await attacker.client.from("likes").insert(like).select().single());

    const again = await attacker.client.from("likes").insert(like).select();

    expectRefused(again, 409, "23505", /likes_user_id_combine_id_key/);
    expect(await fetchRows("likes", "user_id", attacker.id)).toHaveLength(1);
  });

  test("sent many times concurrently count once", async () => {
    const person = await signUp();
    const like = { user_id: person.id, combine_id: published.id };

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => person.client.from("likes").insert(like)),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect(await fetchRows("likes", "user_id", person.id)).toHaveLength(1);
  });

  test("of one item are refused a second time too", async () => {
    const person = await signUp();
    const like = { user_id: person.id, combine_id: null, product_id: item.id };
    expectData(await person.client.from("likes").insert(like).select().single());

    const again = await person.client.from("likes").insert(like).select();

    expectRefused(again, 409, "23505", /likes_user_id_product_id_key/);
  });

  test.each([
    ["both targets", () => ({ combine_id: published.id, product_id: item.id })],
    ["no target", () => ({ combine_id: null, product_id: null })],
  ])("with %s are refused", async (_, target) => {
    const response = await victim.client
      .from("likes")
      .insert({ user_id: victim.id, ...target() })
      .select();

    expectRefused(response, 400, "23514", /likes_exactly_one_target/);
    expect(await fetchRows("likes", "user_id", victim.id)).toEqual([]);
  });

  test("in somebody else's name are refused", async () => {
    const response = await attacker.client
      .from("likes")
      .insert({ user_id: victim.id, combine_id: published.id })
      .select();

    expectRefused(response, 403, "42501", /row-level security policy/);
    expect(await fetchRows("likes", "user_id", victim.id)).toEqual([]);
  });

  test("without an account are refused", async () => {
    const response = await visitor()
      .from("likes")
      .insert({ user_id: victim.id, combine_id: published.id })
      .select();

    expectRefused(response, 401, "42501", /permission denied for table likes/);
  });

  test("of an invisible outfit get the same error as of one that does not exist", async () => {
    const like = (combine_id: string) =>
      attacker.client.from("likes").insert({ user_id: attacker.id, combine_id }).select();

    const unseen = await like(hidden.id);
    const unknown = await like(randomUUID());

    expectRefused(unseen, 403, "42501", /row-level security policy/);
    expect(unknown.error).toEqual(unseen.error);
  });

  test("cannot be updated, only inserted and deleted", async () => {
    const response = await attacker.client
      .from("likes")
      .update({ user_id: victim.id })
      .eq("user_id", attacker.id)
      .select();

    expectRefused(response, 403, "42501", /permission denied for table likes/);
  });

  test("of others cannot be deleted", async () => {
    const person = await signUp();
    expectData(
      await person.client.from("likes").insert({ user_id: person.id, combine_id: published.id }),
    );

    const response = await attacker.client.from("likes").delete().eq("user_id", person.id).select();

    expectNoRows(response);
    expect(await fetchRows("likes", "user_id", person.id)).toHaveLength(1);
  });

  test("as rows are readable by their owner and administrators, as counts by everybody", async () => {
    const outfit = await makeOutfit(victim, "approved");
    const fans = [await signUp(), await signUp()];
    for (const fan of fans) {
      expectData(await fan.client.from("likes").insert({ user_id: fan.id, combine_id: outfit.id }));
    }
    const rows = (reader: Person | undefined) =>
      (reader?.client ?? visitor()).from("likes").select("user_id").eq("combine_id", outfit.id);
    const count = async () =>
      expectData(
        await visitor()
          .from("combines")
          .select("id, like_counts(likes)")
          .eq("id", outfit.id)
          .single<{ like_counts: { likes: number } | null }>(),
      ).like_counts;

    expectNoRows(await rows(undefined));
    expectNoRows(await rows(attacker));
    // Not even the creator of the outfit may like it before it is approved.
    expectNoRows(await rows(victim));
    expect(expectData(await rows(fans[0]))).toEqual([{ user_id: fans[0]?.id }]);
    expect(expectData(await rows(admin))).toHaveLength(2);
    expect(await count()).toEqual({ likes: 2 });

    for (const fan of fans.slice(0, 1)) {
      expectData(await fan.client.from("likes").delete().eq("combine_id", outfit.id));
    }
    expect(await count()).toEqual({ likes: 1 });
    expectData(await owner().from("combines").delete().eq("id", outfit.id));
    expect(await fetchRows("like_counts", "combine_id", outfit.id)).toEqual([]);
  });

  test("counts cannot be written by anybody", async () => {
    const change = await attacker.client
      .from("like_counts")
      .update({ likes: 1000 })
      .eq("combine_id", published.id);
    const added = await attacker.client
      .from("like_counts")
      .insert({ combine_id: published.id, likes: 1000 });

    expectRefused(change, 403, "42501", /permission denied for table like_counts/);
    expectRefused(added, 403, "42501", /permission denied for table like_counts/);
  });
});

describe("bookmarks", () => {
  test("are visible to their owner only", async () => {
    const kept = { user_id: victim.id, combine_id: published.id };
    expectData(await victim.client.from("bookmarks").insert(kept).select().single());
    const read = (person: Person) =>
      person.client.from("bookmarks").select().eq("user_id", victim.id);

    expect(expectData(await read(victim))).toHaveLength(1);
    expectNoRows(await read(attacker));
    expectNoRows(await read(admin));
    expectRefused(
      await visitor().from("bookmarks").select(),
      401,
      "42501",
      /permission denied for table bookmarks/,
    );
  });

  test("are refused a second time", async () => {
    const person = await signUp();
    const kept = { user_id: person.id, combine_id: published.id };
    expectData(await person.client.from("bookmarks").insert(kept).select().single());

    const again = await person.client.from("bookmarks").insert(kept).select();

    expectRefused(again, 409, "23505", /bookmarks_user_id_combine_id_key/);
  });

  test("in somebody else's name are refused", async () => {
    const before = await fetchRows("bookmarks", "user_id", victim.id);

    const response = await attacker.client
      .from("bookmarks")
      .insert({ user_id: victim.id, combine_id: published.id })
      .select();

    expectRefused(response, 403, "42501", /row-level security policy/);
    expect(await fetchRows("bookmarks", "user_id", victim.id)).toEqual(before);
  });

  test("of an invisible outfit are refused", async () => {
    const response = await attacker.client
      .from("bookmarks")
      .insert({ user_id: attacker.id, combine_id: hidden.id })
      .select();

    expectRefused(response, 403, "42501", /row-level security policy/);
  });

  test("of others cannot be removed", async () => {
    const person = await signUp();
    expectData(
      await person.client
        .from("bookmarks")
        .insert({ user_id: person.id, combine_id: published.id }),
    );

    const response = await attacker.client
      .from("bookmarks")
      .delete()
      .eq("user_id", person.id)
      .select();

    expectNoRows(response);
    expect(await fetchRows("bookmarks", "user_id", person.id)).toHaveLength(1);
  });
});
