// Functions of the admin area: visitors and users get nothing from them, administrators what they ask for.

import { beforeAll, describe, expect, test } from "vitest";
import { expectData, fetchRows, makeItem, makeOutfit } from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectRefused } from "../support/expectations.ts";

let attacker: Person;
let admin: Person;
let demoted: Person;

beforeAll(async () => {
  attacker = await signUp();
  admin = await signUpAdmin();
  demoted = await signUpAdmin();
  // The token was given to an administrator and is still valid.
  expectData(await owner().from("profiles").update({ role: "user" }).eq("id", demoted.id));
});

const calls: [name: string, args: Record<string, unknown>][] = [
  ["admin_overview", {}],
  ["list_users", {}],
  ["list_users", { term: "admin@lookbook.test", max_results: 100 }],
  ["list_outfits", {}],
  ["admin_figures", {}],
  ["storage_orphans", {}],
  ["storage_orphans", { min_age: "0 seconds", max_results: 1000 }],
  ["picture_is_used", { url: "/storage/v1/object/public/images/items/camel-overcoat.webp" }],
];

describe.each(calls)("%s %j", (name, args) => {
  test("is refused to visitors, users and former administrators", async () => {
    const byVisitor = await visitor().rpc(name, args);
    const byUser = await attacker.client.rpc(name, args);
    const byDemoted = await demoted.client.rpc(name, args);

    expectRefused(byVisitor, 401, "42501", /permission denied for function/);
    expectRefused(byUser, 403, "42501", /Only an administrator/);
    expectRefused(byDemoted, 403, "42501", /Only an administrator/);
  });

  test("answers administrators", async () => {
    expect(expectData(await admin.client.rpc(name, args))).not.toBeNull();
  });
});

describe("list_users", () => {
  test("finds a user by a part of the address, in any case, with wildcards taken literally", async () => {
    const part = attacker.email.slice(0, -4).toUpperCase();

    const found = expectData(await admin.client.rpc("list_users", { term: part }));
    const wildcard = expectData(await admin.client.rpc("list_users", { term: "%_%" }));

    expect(found).toMatchObject([
      { id: attacker.id, email: attacker.email, role: "user", total: 1 },
    ]);
    expect(wildcard).toEqual([]);
  });

  test("lists the users of one role", async () => {
    const admins = expectData(
      await admin.client.rpc("list_users", { with_role: "admin", max_results: 100 }),
    );
    expect(admins.map(({ id }: { id: string }) => id)).toContain(admin.id);
    expect(new Set(admins.map(({ role }: { role: string }) => role))).toEqual(new Set(["admin"]));
    const none = await admin.client.rpc("list_users", { term: attacker.email, with_role: "admin" });
    expect(expectData(none)).toEqual([]);
  });

  test("pages through all users without a gap or a repetition", async () => {
    const all = expectData(await admin.client.rpc("list_users", { max_results: 100 }));
    const pages = [];
    for (let offset = 0; offset < all.length; offset += 3) {
      pages.push(
        ...expectData(
          await admin.client.rpc("list_users", { page_offset: offset, max_results: 3 }),
        ),
      );
    }
    const ids = pages.map(({ id }: { id: string }) => id).slice(0, all.length);

    expect(ids).toEqual(all.map(({ id }: { id: string }) => id));
  });
});

describe("admin_overview", () => {
  test("counts the outfits of users that wait, and not those of others", async () => {
    const before = expectData(await admin.client.rpc("admin_overview"));
    await makeOutfit(attacker, "pending");
    await makeOutfit(attacker, "rejected");
    const after = expectData(await admin.client.rpc("admin_overview"));

    expect(after.pending - before.pending).toBe(1);
    expect(after.combines - before.combines).toBe(2);
  });
});

describe("admin_figures", () => {
  test("reports versions, sizes, and the files of every bucket", async () => {
    const figures = expectData(await admin.client.rpc("admin_figures"));

    expect(figures).toMatchObject({
      postgres: expect.stringMatching(/^1[5-9]/),
      migration: expect.stringMatching(/^2026\d{10}$/),
    });
    expect(figures.database_bytes).toBeGreaterThan(1_000_000);
    expect(figures.tables).toContainEqual({
      name: "combines",
      rows: expect.any(Number),
      bytes: expect.any(Number),
    });
    const images = figures.buckets.find(({ name }: { name: string }) => name === "images");
    expect(images.files).toBeGreaterThan(50);
    expect(images.bytes).toBeGreaterThan(images.files * 1000);
  });
});

describe("picture_is_used", () => {
  test("tells whether any row shows the picture", async () => {
    const item = await makeItem();
    const url = `/storage/v1/object/public/images/items/${item.id}.webp`;

    const before = expectData(await admin.client.rpc("picture_is_used", { url }));
    expectData(await owner().from("items").update({ image: url }).eq("id", item.id));
    const after = expectData(await admin.client.rpc("picture_is_used", { url }));

    expect([before, after]).toEqual([false, true]);
  });
});

describe("product_number", () => {
  test("finds items by a part of the retailer's number", async () => {
    const item = await makeItem();
    const number = 7_000_000_000 + Math.floor(Math.random() * 1_000_000_000);
    expectData(await owner().from("items").update({ product_id: number }).eq("id", item.id));

    const found = expectData(
      await admin.client
        .from("items")
        .select("id")
        .or(`name.ilike.%no such name%,product_number.ilike.%${`${number}`.slice(2)}%`),
    );

    expect(found).toContainEqual({ id: item.id });
    expect(await fetchRows("items", "id", item.id)).toHaveLength(1);
  });
});

describe("list_outfits", () => {
  test("finds outfits of every status by a part of the name, with wildcards taken literally", async () => {
    const outfits = [];
    for (const status of ["pending", "approved", "rejected"]) {
      outfits.push(await makeOutfit(attacker, status));
    }
    const word = `100%_${attacker.username}`;
    for (const [index, { id }] of outfits.entries()) {
      expectData(
        await owner()
          .from("combines")
          .update({ name: `${word} ${index}` })
          .eq("id", id),
      );
    }
    const list = async (args: Record<string, unknown>) =>
      expectData(await admin.client.rpc("list_outfits", { term: word.toUpperCase(), ...args }));

    const byName = await list({ sort: "name", ascending: true });
    expect(byName.map(({ id }: { id: string }) => id)).toEqual(outfits.map(({ id }) => id));
    expect(byName[0]).toMatchObject({
      status: "pending",
      total: 3,
      creator_username: attacker.username,
      creator_full_name: "A Person",
    });
    const second = await list({ page_offset: 1, max_results: 1 });
    expect(second).toMatchObject([{ id: outfits[1]?.id, total: 3 }]);
    expect(await list({ review_status: "rejected" })).toMatchObject([{ id: outfits[2]?.id }]);
    expect(await list({ outfit_id: outfits[0]?.id })).toMatchObject([{ total: 1 }]);
    const change = { gender: "men" };
    expectData(
      await owner()
        .from("combines")
        .update(change)
        .eq("id", outfits[2]?.id ?? ""),
    );
    expect(await list({ outfit_gender: "men" })).toMatchObject([{ id: outfits[2]?.id, total: 1 }]);
    expect(await list({ creator: attacker.id })).toHaveLength(3);
    expect(await list({ creator: admin.id })).toEqual([]);
    expect(await list({ term: word.replace("%", "x") })).toEqual([]);
    // Any other sort key than the two columns is replaced by the time of creation, and never used as SQL.
    expect(await list({ sort: 'name"; drop table likes; --' })).toHaveLength(3);
    expectData(
      await owner()
        .from("combines")
        .delete()
        .eq("id", outfits[1]?.id ?? ""),
    );
  });
});
