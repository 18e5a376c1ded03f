// Search and filters of outfits and items, by the functions that the site calls.

import { randomBytes, randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { expectData } from "../support/catalogue.ts";
import { owner, signUp, visitor } from "../support/clients.ts";

interface Named {
  id: string;
  name: string;
}

/** A word of letters that chance makes like no other. */
function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => "bcdfghjkmnpqrtvwxz"[byte % 18]).join("");
}

/** A word that no other row holds, and the word as addresses write it. */
function uniqueWord(): string {
  return `w${randomUUID().replaceAll("-", "").slice(0, 14)}`;
}

async function insert<Row>(table: string, row: Record<string, unknown>): Promise<Row> {
  return expectData(await owner().from(table).insert(row).select().single()) as Row;
}

/** An outfit of two items whose brand, color and style have a unique word in their names. */
async function makeSearchable() {
  const word = {
    brand: uniqueWord(),
    color: uniqueWord(),
    style: uniqueWord(),
    name: uniqueWord(),
  };
  const brand = await insert<Named>("brands", { name: `Brand & ${word.brand}` });
  const color = await insert<Named>("colors", { name: `Color ${word.color}`, hex_code: "#AA5500" });
  const style = await insert<Named>("outfit_styles", { name: `Style ${word.style}` });
  const category = await insert<Named>("categories", { name: `Category ${uniqueWord()}` });
  const item = await insert<Named & { slug: string }>("items", {
    name: `Item ${word.name}`,
    brand_id: brand.id,
    category: category.id,
    price: 100,
    gender: "women",
    colors: [color.id],
  });
  const other = await insert<Named>("items", { name: "Other item", brand_id: brand.id, price: 50 });
  const outfit = await insert<Named>("combines", {
    name: `Outfit ${word.name}`,
    gender: "women",
    status: "approved",
    item_ids: [item.id, other.id],
    outfit_styles: [style.id],
  });
  return { word, brand, color, style, category, item, other, outfit };
}

async function foundOutfits(filter: Record<string, unknown>): Promise<string[]> {
  const rows = expectData(await visitor().rpc("search_outfits", filter).select("id")) as Named[];
  return rows.map(({ id }) => id);
}

async function foundItems(filter: Record<string, unknown>): Promise<string[]> {
  const rows = expectData(await visitor().rpc("search_items", filter).select("id")) as Named[];
  return rows.map(({ id }) => id);
}

describe("search_outfits", () => {
  test("finds names, brands, colors and styles, ignoring case", async () => {
    const made = await makeSearchable();
    for (const term of Object.values(made.word)) {
      expect(await foundOutfits({ term: term.toUpperCase() }), term).toEqual([made.outfit.id]);
    }
  });

  test("lists outfits with the term in their name before those that match by a color", async () => {
    const made = await makeSearchable();
    const older = await insert<Named>("combines", {
      name: `Called ${made.word.color}`,
      status: "approved",
      created_at: "2020-01-01T00:00:00Z",
    });

    expect(await foundOutfits({ term: made.word.color })).toEqual([older.id, made.outfit.id]);
    expect(await foundOutfits({ term: made.word.color, page_offset: 1, max_results: 1 })).toEqual([
      made.outfit.id,
    ]);
  });

  test("finds what the items, categories and creator of an outfit are called, by all words in any order and form", async () => {
    const made = await makeSearchable();
    const creator = uniqueWord();
    const { id: userId } = await signUp({ full_name: `Mira ${creator}` });
    const worn = await insert<Named>("items", {
      name: `Gowns of ${made.word.name}x`,
      brand_id: made.brand.id,
      category: made.category.id,
      price: 1,
    });
    const outfit = await insert<Named>("combines", {
      name: "Hood Up, World Off",
      status: "approved",
      user_id: userId,
      item_ids: [worn.id],
    });
    const word = `${made.word.name}x`;

    expect(await foundOutfits({ term: `gown ${word}` })).toEqual([outfit.id]);
    expect(await foundOutfits({ term: `${word} hood world` })).toEqual([outfit.id]);
    expect(await foundOutfits({ term: creator })).toEqual([outfit.id]);
    expect(await foundOutfits({ term: `${word} nowhere` })).toEqual([]);
    await owner()
      .from("categories")
      .update({ name: `Robes ${word}c` })
      .eq("id", made.category.id);
    expect(await foundOutfits({ term: `robe ${word}c` })).toContain(outfit.id);
  });

  test("finds a word that is written a little wrong", async () => {
    const letters = randomLetters(9);
    const outfit = await insert<Named>("combines", { name: `Look ${letters}`, status: "approved" });
    const wrong = `${letters.slice(0, 5)}${letters.slice(6)}`;

    expect(await foundOutfits({ term: wrong })).toEqual([outfit.id]);
    expect(await foundOutfits({ term: randomLetters(12) })).toEqual([]);
  });

  test("takes signs of patterns literally", async () => {
    const made = await makeSearchable();
    expect(await foundOutfits({ term: `${made.word.name}%` })).toEqual([]);
    expect(await foundOutfits({ term: made.word.name.replace(/.$/, "_") })).toEqual([]);
  });

  test("combines filters by gender, category, brand, style, color and total price", async () => {
    const made = await makeSearchable();
    const filter = {
      term: made.word.name,
      genders: ["women"],
      categories: [made.category.name.toLowerCase().replace(" ", "-")],
      brands: [`brand-${made.word.brand}`],
      styles: [made.style.id],
      colors: [`color-${made.word.color}`],
      min_price: 150,
      max_price: 150,
    };
    expect(await foundOutfits(filter)).toEqual([made.outfit.id]);
    for (const miss of [
      { genders: ["men"] },
      { categories: ["no-such-category"] },
      { brands: [] },
      { styles: ["no-such-style"] },
      { colors: [randomUUID()] },
      { min_price: 151 },
      { max_price: 149 },
    ]) {
      expect(await foundOutfits({ ...filter, ...miss }), JSON.stringify(miss)).toEqual([]);
    }
  });

  test("follows changes of items and of the outfit's review", async () => {
    const made = await makeSearchable();
    const term = made.word.name;

    await owner().from("items").update({ price: 400 }).eq("id", made.item.id);
    expect(await foundOutfits({ term, min_price: 450, max_price: 450 })).toEqual([made.outfit.id]);

    await owner().from("items").delete().eq("id", made.item.id);
    expect(await foundOutfits({ term, min_price: 50, max_price: 50 })).toEqual([made.outfit.id]);
    expect(await foundOutfits({ term: made.word.color })).toEqual([]);

    await owner().from("combines").update({ status: "rejected" }).eq("id", made.outfit.id);
    expect(await foundOutfits({ term })).toEqual([]);
    await owner().from("combines").update({ status: "approved" }).eq("id", made.outfit.id);
    expect(await foundOutfits({ term })).toEqual([made.outfit.id]);
    await owner().from("combines").delete().eq("id", made.outfit.id);
    expect(await foundOutfits({ term })).toEqual([]);
  });
});

describe("count_found", () => {
  test("counts outfits and items that match the same search", async () => {
    const made = await makeSearchable();
    const count = async (filter: Record<string, unknown>) =>
      expectData(await visitor().rpc("count_found", filter).single());

    expect(await count({ term: made.word.brand })).toEqual({ outfits: 1, items: 2 });
    expect(await count({ term: made.word.brand, min_price: 140 })).toEqual({
      outfits: 1,
      items: 0,
    });
  });
});

describe("search_items", () => {
  test("finds the words of name, brand, category and color in any order and form", async () => {
    const made = await makeSearchable();
    const { brand, color, name } = made.word;
    expect(await foundItems({ term: `${brand} items ${color}` })).toEqual([made.item.id]);
    expect(await foundItems({ term: `${name} ${made.category.name}` })).toEqual([made.item.id]);
    await owner()
      .from("brands")
      .update({ name: `Renamed ${name}` })
      .eq("id", made.brand.id);
    const ofBrand = [made.item.id, made.other.id].sort();
    expect((await foundItems({ term: `items renamed ${name}` })).sort()).toEqual(ofBrand);
  });

  test("finds names first, then brands by name or id, and colors", async () => {
    const made = await makeSearchable();
    expect(await foundItems({ term: made.word.name })).toEqual([made.item.id]);
    expect(await foundItems({ term: made.word.color })).toEqual([made.item.id]);
    const ofBrand = [made.item.id, made.other.id].sort();
    expect((await foundItems({ term: made.word.brand })).sort()).toEqual(ofBrand);
    expect((await foundItems({ term: made.brand.id })).sort()).toEqual(ofBrand);
  });

  test("combines filters by gender, category, brand, color and price", async () => {
    const made = await makeSearchable();
    const filter = {
      genders: ["women"],
      categories: [made.category.id],
      brands: [made.brand.id],
      colors: [made.color.id],
      min_price: 100,
      max_price: 100,
    };
    expect(await foundItems(filter)).toEqual([made.item.id]);
    for (const miss of [
      { genders: ["men"] },
      { categories: [] },
      { colors: [] },
      { min_price: 101 },
    ]) {
      expect(await foundItems({ ...filter, ...miss }), JSON.stringify(miss)).toEqual([]);
    }
  });
});
