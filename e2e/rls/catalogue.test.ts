// Row-level security of the catalogue: everybody may read, but only administrators may write.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { expectData, fetchRows, makeItem, uniqueName } from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectNoRows, expectRefused } from "../support/expectations.ts";

let attacker: Person;
let admin: Person;
let brandId: string;
let categoryId: string;

beforeAll(async () => {
  attacker = await signUp();
  admin = await signUpAdmin();
  brandId = (await makeItem()).brand_id;
  const category = expectData(
    await owner()
      .from("categories")
      .insert({ name: uniqueName("Category") })
      .select("id")
      .single(),
  );
  categoryId = category.id;
});

const tables: [table: string, row: () => Record<string, unknown>][] = [
  ["brands", () => ({ name: uniqueName("Brand") })],
  ["categories", () => ({ name: uniqueName("Category") })],
  ["subcategories", () => ({ name: uniqueName("Subcategory"), category_id: categoryId })],
  ["colors", () => ({ name: uniqueName("Color"), hex_code: "#FF5733" })],
  ["styles", () => ({ name: uniqueName("Style") })],
  ["outfit_styles", () => ({ name: uniqueName("Outfit style") })],
  ["items", () => ({ name: uniqueName("Item"), brand_id: brandId })],
];

describe.each(tables)("%s", (table, row) => {
  test("are not created by users or visitors", async () => {
    const attempt = row();

    const byUser = await attacker.client.from(table).insert(attempt).select();
    const byVisitor = await visitor().from(table).insert(attempt).select();

    expectRefused(byUser, 403, "42501", /row-level security policy/);
    expectRefused(byVisitor, 401, "42501", /permission denied for table/);
    expect(await fetchRows(table, "name", String(attempt.name))).toEqual([]);
  });

  test("are not changed or deleted by users or visitors", async () => {
    const made = expectData(await owner().from(table).insert(row()).select().single());

    const updated = await attacker.client
      .from(table)
      .update({ name: "Defaced" })
      .eq("id", made.id)
      .select();
    const upserted = await attacker.client
      .from(table)
      .upsert({ ...made, name: "Defaced" })
      .select();
    const deleted = await attacker.client.from(table).delete().eq("id", made.id).select();
    const byVisitor = await visitor().from(table).delete().eq("id", made.id).select();

    expectNoRows(updated);
    expectRefused(upserted, 403, "42501", /row-level security policy/);
    expectNoRows(deleted);
    expectRefused(byVisitor, 401, "42501", /permission denied for table/);
    expect(await fetchRows(table, "id", made.id)).toEqual([made]);
  });

  test("are maintained by administrators and read by visitors", async () => {
    const made = expectData(await admin.client.from(table).insert(row()).select().single());
    const name = uniqueName("Renamed");

    expectData(await admin.client.from(table).update({ name }).eq("id", made.id).select().single());
    const seen = expectData(await visitor().from(table).select("name").eq("id", made.id).single());
    expectData(await admin.client.from(table).delete().eq("id", made.id).select().single());

    expect(seen.name).toBe(name);
    expect(await fetchRows(table, "id", made.id)).toEqual([]);
  });
});

describe("values that the catalogue refuses to administrators too", () => {
  test.each([
    ["a negative price", "items", { price: -0.01 }, 400, "23514", /items_price_not_negative/],
    ["an invented gender", "items", { gender: "kids" }, 400, "23514", /items_gender_known/],
    [
      "a script as source",
      "items",
      { source_url: "javascript:0" },
      400,
      "23514",
      /source_url_http/,
    ],
    ["an unknown color", "items", { colors: [randomUUID()] }, 409, "23503", /The list "colors"/],
    ["an unknown brand", "items", { brand_id: randomUUID() }, 409, "23503", /items_brand_id_fkey/],
    ["a color that is none", "colors", { hex_code: "red" }, 400, "23514", /hex_code_format/],
    ["a name of one letter", "brands", { name: "X" }, 400, "23514", /brands_name_length/],
  ])("%s", async (_, table, change, status, code, message) => {
    const row = tables.find(([name]) => name === table)?.[1]() ?? {};

    const response = await admin.client
      .from(table)
      .insert({ ...row, ...change })
      .select();

    expectRefused(response, status, code, message);
  });

  test("a second brand of the same name in another case", async () => {
    const name = uniqueName("Brand");
    expectData(await admin.client.from("brands").insert({ name }));

    const response = await admin.client
      .from("brands")
      .insert({ name: name.toUpperCase() })
      .select();

    expectRefused(response, 409, "23505", /brands_name_key/);
  });

  test("a slug without its accents, which stand in the name", async () => {
    const { brand_id } = await makeItem();
    const mark = uniqueName("x").toLowerCase().replace(" ", "-");

    const response = await admin.client
      .from("items")
      .insert({ name: `Chloé Große Œillets ${mark}`, brand_id })
      .select("slug")
      .single<{ slug: string }>();

    expect(expectData(response).slug).toBe(`chloe-grosse-oeillets-${mark}`);
  });

  test("a slug that another item has", async () => {
    const item = await makeItem();

    const response = await admin.client
      .from("items")
      .insert({ name: uniqueName("Item"), brand_id: item.brand_id, slug: item.slug })
      .select();

    expectRefused(response, 409, "23505", /items_slug_key/);
  });

  test("deleting a brand that items still name", async () => {
    const item = await makeItem();

    const response = await admin.client.from("brands").delete().eq("id", item.brand_id).select();

    expectRefused(response, 409, "23503", /items_brand_id_fkey/);
    expect(await fetchRows("brands", "id", item.brand_id)).toHaveLength(1);
  });
});

describe("edit_items", () => {
  test("changes what is given of all items, adds colors once, and leaves out a subcategory of another category", async () => {
    const make = async () => (await makeItem()).id;
    const ids = [await make(), await make()];
    const color = expectData(
      await owner()
        .from("colors")
        .insert({ name: uniqueName("Color"), hex_code: "#102030" })
        .select("id")
        .single(),
    );
    const subcategory = expectData(
      await owner()
        .from("subcategories")
        .insert({
          name: uniqueName("Subcategory"),
          category_id: expectData(
            await owner()
              .from("categories")
              .insert({ name: uniqueName("Category") })
              .select("id")
              .single(),
          ).id,
        })
        .select("id, category_id")
        .single(),
    );
    const { error } = await owner()
      .from("items")
      .update({ category: subcategory.category_id, subcategory_id: subcategory.id })
      .eq("id", ids[0]);
    expect(error).toBeNull();

    const change = { ids, price: 19.9, category: categoryId, add_colors: [color.id] };
    for (const wanted of [change, { ids, gender: "men" }, change]) {
      expect(expectData(await admin.client.rpc("edit_items", wanted))).toHaveLength(2);
    }
    for (const id of ids) {
      expect(await fetchRows("items", "id", id)).toMatchObject([
        {
          price: 19.9,
          category: categoryId,
          subcategory_id: null,
          colors: [color.id],
          gender: "men",
        },
      ]);
    }
  });

  test("leaves items alone that somebody else has changed since they were read", async () => {
    const ids = [(await makeItem()).id, (await makeItem()).id];
    const read = await Promise.all(
      ids.map(async (id) => (await fetchRows<{ version: number }>("items", "id", id))[0]?.version),
    );
    expectData(await owner().from("items").update({ price: 7 }).eq("id", ids[1]).select("id"));

    const change = { ids, price: 19.9, versions: read };
    expect(expectData(await admin.client.rpc("edit_items", change))).toEqual([ids[0]]);
    expect(await fetchRows("items", "id", ids[1] ?? "")).toMatchObject([{ price: 7 }]);
    const unequal = { ids, price: 1, versions: [1] };
    expectRefused(await admin.client.rpc("edit_items", unequal), 400, "22023", /one version/);
  });

  test("nothing of it is changed, deleted or counted by others, or for more than 1000", async () => {
    const { id } = await makeItem();
    const calls = [
      ["edit_items", { ids: [id], price: 1 }],
      ["delete_items", { ids: [id] }],
      ["count_wearing", { ids: [id] }],
    ] as const;
    for (const [name, args] of calls) {
      expectRefused(
        await attacker.client.rpc(name, args),
        403,
        "42501",
        /Only an administrator may do this/,
      );
    }
    const ids = Array.from({ length: 1001 }, () => randomUUID());
    expectRefused(await admin.client.rpc("delete_items", { ids }), 400, "22023", /At most 1000/);

    expect(expectData(await admin.client.rpc("count_wearing", { ids: [id] }))).toBe(0);
    expect(expectData(await admin.client.rpc("delete_items", { ids: [id] }))).toBe(1);
    expect(await fetchRows("items", "id", id)).toEqual([]);
  });
});
