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
