// Lists of outfits by what they contain: they state the public policy themselves, so nothing unpublished may be in them.

import { beforeAll, expect, test } from "vitest";
import {
  expectData,
  type Item,
  makeItem,
  makeOutfit,
  type Outfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, visitor } from "../support/clients.ts";

let creator: Person;
let other: Person;

beforeAll(async () => {
  [creator, other] = await Promise.all([signUp(), signUp()]);
});

/** Inserts an outfit of this person with this item and status. */
async function outfitWith(person: Person, item: Item, status: string): Promise<Outfit> {
  return expectData(
    await owner()
      .from("combines")
      .insert({ user_id: person.id, name: uniqueName("Outfit"), item_ids: [item.id], status })
      .select()
      .single<Outfit>(),
  );
}

test("outfits with an item or of a brand are the approved ones, for everybody", async () => {
  const item = await makeItem();
  const approved = await outfitWith(creator, item, "approved");
  await outfitWith(creator, item, "pending");
  await outfitWith(creator, item, "rejected");

  for (const client of [visitor(), creator.client, other.client]) {
    const withItem = expectData(
      await client.rpc("outfits_with_item", { item_id: item.id }).select("id"),
    );
    const withBrand = expectData(
      await client.rpc("outfits_with_brand", { brand_id: item.brand_id }).select("id"),
    );
    expect(withItem).toEqual([{ id: approved.id }]);
    expect(withBrand).toEqual([{ id: approved.id }]);
  }
});

test("related outfits share items, are approved, and are by others", async () => {
  const item = await makeItem();
  const subject = await outfitWith(creator, item, "approved");
  const related = await outfitWith(other, item, "approved");
  const pending = await outfitWith(other, item, "pending");
  const own = await outfitWith(creator, item, "approved");

  const rows = expectData(
    await visitor().rpc("related_outfits", { outfit_id: subject.id }).select("id"),
  ) as { id: string }[];
  const listed = rows.map(({ id }) => id);

  expect(listed).toContain(related.id);
  for (const hidden of [subject, pending, own]) {
    expect(listed).not.toContain(hidden.id);
  }
});

test("nothing is related to an outfit that is not public", async () => {
  const outfit = await makeOutfit(creator, "pending");

  expect(expectData(await visitor().rpc("related_outfits", { outfit_id: outfit.id }))).toEqual([]);
});

test("a submission takes the color of the item whose picture it shows, and loses it with the picture", async () => {
  const item = await makeItem();
  const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
  expectData(
    await owner()
      .from("items")
      .update({ image, image_color: "#b78a56" })
      .eq("id", item.id)
      .select("id"),
  );
  await uploadTrainingPhotos(creator);
  const submitted = expectData(
    await creator.client
      .from("combines")
      .insert({ name: uniqueName("Outfit"), item_ids: [item.id], main_image: image })
      .select("id, main_image_color")
      .single(),
  );
  expect(submitted.main_image_color).toBe("#b78a56");

  const changed = expectData(
    await creator.client
      .from("combines")
      .update({ main_image: null })
      .eq("id", submitted.id)
      .select("main_image_color")
      .single(),
  );

  expect(changed.main_image_color).toBeNull();
});

test("a color that is none is refused", async () => {
  const { error } = await owner()
    .from("items")
    .update({ image_color: "red;background:url(//x)" })
    .eq("id", (await makeItem()).id);

  expect(error?.code).toBe("23514");
});
