// Attacks on likes and bookmarks: one per person and target, in one's own name, on what one sees.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  type Item,
  makeItem,
  makeOutfit,
  must,
  type Outfit,
  stored,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectNoRows, expectRefused } from "../support/refusal.ts";

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
    must(await attacker.client.from("likes").insert(like).select().single());

    const again = await attacker.client.from("likes").insert(like).select();

    expectRefused(again, 409, "23505", /likes_user_id_combine_id_key/);
    expect(await stored("likes", "user_id", attacker.id)).toHaveLength(1);
  });

  test("clicked many times at once count once", async () => {
    const person = await signUp();
    const like = { user_id: person.id, combine_id: published.id };

    const answers = await Promise.all(
      Array.from({ length: 8 }, () => person.client.from("likes").insert(like)),
    );

    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect(await stored("likes", "user_id", person.id)).toHaveLength(1);
  });

  test("of one item are refused a second time too", async () => {
    const person = await signUp();
    const like = { user_id: person.id, combine_id: null, product_id: item.id };
    must(await person.client.from("likes").insert(like).select().single());

    const again = await person.client.from("likes").insert(like).select();

    expectRefused(again, 409, "23505", /likes_user_id_product_id_key/);
  });

  test.each([
    ["both targets", () => ({ combine_id: published.id, product_id: item.id })],
    ["no target", () => ({ combine_id: null, product_id: null })],
  ])("with %s are refused", async (_, target) => {
    const answer = await victim.client
      .from("likes")
      .insert({ user_id: victim.id, ...target() })
      .select();

    expectRefused(answer, 400, "23514", /likes_exactly_one_target/);
    expect(await stored("likes", "user_id", victim.id)).toEqual([]);
  });

  test("in somebody else's name are refused", async () => {
    const answer = await attacker.client
      .from("likes")
      .insert({ user_id: victim.id, combine_id: published.id })
      .select();

    expectRefused(answer, 403, "42501", /row-level security policy/);
    expect(await stored("likes", "user_id", victim.id)).toEqual([]);
  });

  test("without an account are refused", async () => {
    const answer = await visitor()
      .from("likes")
      .insert({ user_id: victim.id, combine_id: published.id })
      .select();

    expectRefused(answer, 401, "42501", /permission denied for table likes/);
  });

  test("of an outfit that one cannot see are refused, as for one that does not exist", async () => {
    const like = (combine_id: string) =>
      attacker.client.from("likes").insert({ user_id: attacker.id, combine_id }).select();

    const unseen = await like(hidden.id);
    const unknown = await like(randomUUID());

    expectRefused(unseen, 403, "42501", /row-level security policy/);
    expect(unknown.error).toEqual(unseen.error);
  });

  test("are not edited, only made and taken back", async () => {
    const answer = await attacker.client
      .from("likes")
      .update({ user_id: victim.id })
      .eq("user_id", attacker.id)
      .select();

    expectRefused(answer, 403, "42501", /permission denied for table likes/);
  });

  test("of others cannot be taken back", async () => {
    const person = await signUp();
    must(
      await person.client.from("likes").insert({ user_id: person.id, combine_id: published.id }),
    );

    const answer = await attacker.client.from("likes").delete().eq("user_id", person.id).select();

    expectNoRows(answer);
    expect(await stored("likes", "user_id", person.id)).toHaveLength(1);
  });

  test("are counted by everybody for the ranking", async () => {
    const counted = must(
      await visitor()
        .from("combines")
        .select("id, likes(count)")
        .eq("id", published.id)
        .single<{ likes: { count: number }[] }>(),
    );

    const { count } = await owner()
      .from("likes")
      .select("*", { count: "exact", head: true })
      .eq("combine_id", published.id);
    expect(counted.likes).toEqual([{ count }]);
  });
});

describe("bookmarks", () => {
  test("are seen by their owner only, not by administrators or visitors", async () => {
    const kept = { user_id: victim.id, combine_id: published.id };
    must(await victim.client.from("bookmarks").insert(kept).select().single());
    const read = (person: Person) =>
      person.client.from("bookmarks").select().eq("user_id", victim.id);

    expect(must(await read(victim))).toHaveLength(1);
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
    must(await person.client.from("bookmarks").insert(kept).select().single());

    const again = await person.client.from("bookmarks").insert(kept).select();

    expectRefused(again, 409, "23505", /bookmarks_user_id_combine_id_key/);
  });

  test("in somebody else's name are refused", async () => {
    const before = await stored("bookmarks", "user_id", victim.id);

    const answer = await attacker.client
      .from("bookmarks")
      .insert({ user_id: victim.id, combine_id: published.id })
      .select();

    expectRefused(answer, 403, "42501", /row-level security policy/);
    expect(await stored("bookmarks", "user_id", victim.id)).toEqual(before);
  });

  test("of an outfit that one cannot see are refused", async () => {
    const answer = await attacker.client
      .from("bookmarks")
      .insert({ user_id: attacker.id, combine_id: hidden.id })
      .select();

    expectRefused(answer, 403, "42501", /row-level security policy/);
  });

  test("of others cannot be removed", async () => {
    const person = await signUp();
    must(
      await person.client
        .from("bookmarks")
        .insert({ user_id: person.id, combine_id: published.id }),
    );

    const answer = await attacker.client
      .from("bookmarks")
      .delete()
      .eq("user_id", person.id)
      .select();

    expectNoRows(answer);
    expect(await stored("bookmarks", "user_id", person.id)).toHaveLength(1);
  });
});
