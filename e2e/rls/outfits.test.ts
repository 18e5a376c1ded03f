// Row-level security of outfits: nothing is public before an administrator has approved it.

import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  type Item,
  makeItem,
  makeOutfit,
  type Outfit,
  readOutfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectAllowed, expectNoRows, expectRefused } from "../support/expectations.ts";

let attacker: Person;
let victim: Person;
let admin: Person;
let item: Item;

beforeAll(async () => {
  attacker = await signUp();
  victim = await signUp();
  admin = await signUpAdmin();
  item = await makeItem();
  await uploadTrainingPhotos(attacker);
});

/** Submits an outfit as the site's wizard does, with `more` columns. */
function submit(person: Person, extra: Record<string, unknown> = {}) {
  return person.client
    .from("combines")
    .insert({
      user_id: person.id,
      name: uniqueName("Outfit"),
      description: "User-created outfit with 1 items",
      meta_description: null,
      main_image: null,
      gender: "unisex",
      outfit_styles: [],
      item_ids: [item.id],
      status: "pending",
      created_by_admin: false,
      ...extra,
    })
    .select()
    .single<Outfit>();
}

describe("submitting", () => {
  test("stores a pending outfit of the caller", async () => {
    const submitted = expectData(await submit(attacker));

    expect(await readOutfit(submitted.id)).toMatchObject({
      user_id: attacker.id,
      status: "pending",
      created_by_admin: false,
      approved_by: null,
    });
  });

  test("ignores a status, review columns, created_by_admin and dates sent by the user", async () => {
    const submitted = expectData(
      await submit(attacker, {
        status: "approved",
        created_by_admin: true,
        approved_by: attacker.id,
        approved_at: "2020-01-01T00:00:00Z",
        created_at: "2999-01-01T00:00:00Z",
      }),
    );

    const row = await readOutfit(submitted.id);
    expect(row).toMatchObject({
      status: "pending",
      created_by_admin: false,
      approved_by: null,
      approved_at: null,
    });
    expect(Date.parse(row.created_at)).toBeLessThan(Date.now() + 60_000);
  });

  test("with a picture that is not the creator's own is refused", async () => {
    const folder = "/storage/v1/object/public/user-outfit-images";
    for (const main_image of [
      "https://tracker.example/pixel.gif",
      "/storage/v1/object/public/combine-images/night-bus.webp",
      `${folder}/${victim.id}/look.webp`,
      `${folder}/${attacker.id}/../${victim.id}/look.webp`,
    ]) {
      expectRefused(await submit(attacker, { main_image }), 400, "23514", /picture of an outfit/);
    }
  });

  test("with a picture of one of its items or of the creator's folder is accepted", async () => {
    const image = `/storage/v1/object/public/images/items/${item.slug}.webp`;
    expectData(await owner().from("items").update({ image }).eq("id", item.id));
    const own = `/storage/v1/object/public/user-outfit-images/${attacker.id}/look.webp`;

    for (const main_image of [image, own]) {
      const submitted = expectData(await submit(attacker, { main_image }));
      expect(submitted.status).toBe("pending");
      const moved = await attacker.client
        .from("combines")
        .update({ main_image: "https://tracker.example/pixel.gif" })
        .eq("id", submitted.id)
        .select();
      expectRefused(moved, 400, "23514", /picture of an outfit/);
    }
  });

  test("in somebody else's name is refused", async () => {
    const name = uniqueName("Forged");

    const response = await submit(attacker, { user_id: victim.id, name });

    expectRefused(response, 403, "42501", /row-level security policy/);
    expect(await fetchRows("combines", "name", name)).toEqual([]);
  });

  test("without an account is refused", async () => {
    const response = await visitor()
      .from("combines")
      .insert({ name: uniqueName("Outfit"), item_ids: [item.id] })
      .select();

    expectRefused(response, 401, "42501", /permission denied for table combines/);
  });

  test("without any item is refused", async () => {
    expectRefused(
      await submit(attacker, { item_ids: [] }),
      400,
      "23514",
      /needs at least one item/,
    );
  });

  test.each(["item_ids", "outfit_styles", "colors"])(
    "with an unknown id in %s is refused",
    async (list) => {
      const response = await submit(attacker, { [list]: [randomUUID()] });

      expectRefused(response, 409, "23503", new RegExp(`The list "${list}"`));
    },
  );

  test("by an administrator is approved at once and records who approved it", async () => {
    const made = expectData(await submit(admin, { main_image: "/picture.webp" }));

    expect(await readOutfit(made.id)).toMatchObject({
      status: "approved",
      created_by_admin: true,
      approved_by: admin.id,
    });
  });
});

describe("approving one's own outfit", () => {
  let own: Outfit;

  beforeEach(async () => {
    own = expectData(await submit(attacker));
  });

  test.each([
    ["status", { status: "approved" }, /Only an administrator may review/],
    [
      "reviewer and time",
      { approved_by: null, approved_at: "2020-01-01T00:00:00Z" },
      /Only an administrator may review/,
    ],
    ["origin", { created_by_admin: true }, /cannot be changed/],
    ["creation time", { created_at: "2999-01-01T00:00:00Z" }, /cannot be changed/],
  ])("by updating its %s is refused", async (_, change, message) => {
    const response = await attacker.client
      .from("combines")
      .update(change)
      .eq("id", own.id)
      .select();

    expectRefused(response, 403, "42501", message);
    expect(await readOutfit(own.id)).toEqual(own);
  });

  test("by upsert leaves it pending", async () => {
    await attacker.client.from("combines").upsert({ ...own, status: "approved" });

    expect(await readOutfit(own.id)).toMatchObject({ status: "pending", approved_at: null });
  });

  test("by review_combine is refused", async () => {
    const response = await attacker.client.rpc("review_combine", {
      combine_id: own.id,
      approve: true,
    });

    expectRefused(response, 403, "42501", /Only an administrator may review/);
    expect((await readOutfit(own.id)).status).toBe("pending");
  });

  test("by giving it to somebody else is refused", async () => {
    const response = await attacker.client
      .from("combines")
      .update({ user_id: admin.id })
      .eq("id", own.id)
      .select();

    expectRefused(response, 403, "42501", /cannot be changed/);
  });

  test("after a rejection, by upsert or update, is refused", async () => {
    expectData(await admin.client.rpc("review_combine", { combine_id: own.id, approve: false }));

    const upserted = await attacker.client
      .from("combines")
      .upsert({
        id: own.id,
        user_id: attacker.id,
        name: own.name,
        item_ids: own.item_ids,
        status: "approved",
      })
      .select();
    const updated = await attacker.client
      .from("combines")
      .update({ status: "pending" })
      .eq("id", own.id)
      .select();

    expectRefused(upserted, 403, "42501", /Only an administrator may review/);
    expectRefused(updated, 403, "42501", /Only an administrator may review/);
    expect((await readOutfit(own.id)).status).toBe("rejected");
  });

  test("does not happen when a pending outfit is edited", async () => {
    const response = await attacker.client
      .from("combines")
      .update({ name: "Better name", description: "" })
      .eq("id", own.id)
      .select()
      .single();

    expectAllowed(response);
    expect(await readOutfit(own.id)).toMatchObject({ name: "Better name", status: "pending" });
  });
});

describe("a published outfit", () => {
  test("cannot be edited or deleted by its creator", async () => {
    const published = await makeOutfit(attacker, "approved");

    const edited = await attacker.client
      .from("combines")
      .update({ name: "Something else" })
      .eq("id", published.id)
      .select();
    const deleted = await attacker.client.from("combines").delete().eq("id", published.id).select();

    expectNoRows(edited);
    expectNoRows(deleted);
    expect((await readOutfit(published.id)).name).toBe(published.name);
  });

  test("records the real reviewer and time", async () => {
    const pending = await makeOutfit(victim, "pending");

    expectData(
      await admin.client
        .from("combines")
        .update({
          status: "approved",
          approved_by: victim.id,
          approved_at: "2000-01-01T00:00:00Z",
        })
        .eq("id", pending.id)
        .select()
        .single(),
    );

    const row = await readOutfit(pending.id);
    expect(row).toMatchObject({ status: "approved", approved_by: admin.id });
    expect(Date.parse(row.approved_at ?? "")).toBeGreaterThan(Date.now() - 60_000);
  });

  test("cannot be reviewed again", async () => {
    const pending = await makeOutfit(victim, "pending");
    const review = { combine_id: pending.id, approve: true };

    expectData(await admin.client.rpc("review_combine", review));
    const again = await admin.client.rpc("review_combine", { ...review, approve: false });

    expectRefused(again, 404, "PT404", /waiting for review/);
    expect((await readOutfit(pending.id)).status).toBe("approved");
  });
});

describe("other people's outfits", () => {
  test.each(["pending", "rejected"])("are invisible while %s", async (status) => {
    const hidden = await makeOutfit(victim, status);
    const read = (person: Pick<Person, "client">) =>
      person.client.from("combines").select("id").eq("id", hidden.id);

    expectNoRows(await read({ client: visitor() }));
    expectNoRows(await read(attacker));
    expect(expectData(await read(victim))).toHaveLength(1);
    expect(expectData(await read(admin))).toHaveLength(1);
  });

  test("do not leak through search, ranking or counts", async () => {
    const hidden = await makeOutfit(victim, "pending");

    const found = expectData(await attacker.client.rpc("search_outfits", { term: hidden.name }));
    const ranked = expectData(await attacker.client.rpc("top_outfits", { max_results: 100 }));
    const counted = await attacker.client
      .from("combines")
      .select("*", { count: "exact", head: true })
      .eq("id", hidden.id);

    expect(found).toEqual([]);
    expect(ranked.map((row: Outfit) => row.id)).not.toContain(hidden.id);
    expect(counted.count).toBe(0);
  });

  test("do not leak through the profile of their creator", async () => {
    // A person without approved outfits, as those are public.
    const creator = await signUp();
    await makeOutfit(creator, "pending");

    const embedded = expectData(
      await attacker.client
        .from("profiles")
        .select("id, combines(id)")
        .eq("id", creator.id)
        .single<{ combines: unknown[] }>(),
    );

    expect(embedded.combines).toEqual([]);
  });

  test("cannot be edited", async () => {
    const theirs = await makeOutfit(victim, "approved");

    const response = await attacker.client
      .from("combines")
      .update({ name: "Defaced" })
      .eq("id", theirs.id)
      .select();

    expectNoRows(response);
    expect((await readOutfit(theirs.id)).name).toBe(theirs.name);
  });

  test.each(["approved", "pending"])("cannot be overwritten by upsert while %s", async (status) => {
    const theirs = await makeOutfit(victim, status);

    const response = await attacker.client
      .from("combines")
      .upsert({ id: theirs.id, user_id: attacker.id, name: "Defaced", item_ids: [item.id] })
      .select();

    expectRefused(response, 403, "42501", /row-level security policy/);
    expect(await readOutfit(theirs.id)).toEqual(theirs);
  });

  test("cannot be deleted", async () => {
    const theirs = await makeOutfit(victim, "pending");

    const response = await attacker.client.from("combines").delete().eq("id", theirs.id).select();

    expectNoRows(response);
    expect(await readOutfit(theirs.id)).toEqual(theirs);
  });
});

describe("lists of ids", () => {
  test("lose a deleted item and keep the order of the others", async () => {
    const items = [await makeItem(), await makeItem(), await makeItem()];
    const ids = items.map(({ id }) => id);
    const made = expectData(await submit(attacker, { item_ids: ids }));

    expectData(await admin.client.from("items").delete().eq("id", ids[1]).select().single());

    expect((await readOutfit(made.id)).item_ids).toEqual([ids[0], ids[2]]);
  });

  test("refuse nulls and unknown ids in an update", async () => {
    const made = expectData(await submit(attacker));
    const change = (item_ids: (string | null)[]) =>
      attacker.client.from("combines").update({ item_ids }).eq("id", made.id).select();

    expectRefused(await change([item.id, null]), 400, "23514", /combines_item_ids_shape/);
    expectRefused(await change([item.id, randomUUID()]), 409, "23503", /The list "item_ids"/);
    expect((await readOutfit(made.id)).item_ids).toEqual([item.id]);
  });
});
