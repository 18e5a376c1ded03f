// What one person may ask of the others and of the server: submissions, generated pictures, files.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  type Item,
  makeItem,
  makeOutfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { type Person, signUp, signUpAdmin } from "../support/clients.ts";
import { runSql } from "../support/database.ts";
import { expectAllowed, expectRefused } from "../support/expectations.ts";
import { picture, png } from "../support/files.ts";

let item: Item;

beforeAll(async () => {
  item = await makeItem();
});

async function personWithPhotos(): Promise<Person> {
  const person = await signUp();
  await uploadTrainingPhotos(person);
  return person;
}

function outfits(person: Person, number: number) {
  return Array.from({ length: number }, () => ({
    user_id: person.id,
    name: uniqueName("Flood"),
    item_ids: [item.id],
  }));
}

describe("submissions", () => {
  test("of one person wait in a number that can be reviewed, in one request or in many", async () => {
    const person = await personWithPhotos();
    const submit = (number: number) =>
      person.client.from("combines").insert(outfits(person, number)).select("id");

    expectRefused(await submit(2000), 400, "23514", /Thirty of your outfits wait for review/);
    expect(await fetchRows("combines", "user_id", person.id)).toEqual([]);
    expectData(await submit(30));
    expectRefused(await submit(1), 400, "23514", /Thirty of your outfits wait for review/);
  });

  test("are limited for a day, although they are deleted again", async () => {
    const person = await personWithPhotos();
    for (const number of [30, 20]) {
      expectData(await person.client.from("combines").insert(outfits(person, number)).select("id"));
      expectAllowed(await person.client.from("combines").delete().eq("user_id", person.id));
    }

    const more = await person.client.from("combines").insert(outfits(person, 1)).select("id");

    expectRefused(more, 400, "23514", /50 outfits within a day/);
    await runSql(
      `update private.asked_for set asked_at = now() - interval '25 hours' where user_id = '${person.id}'`,
    );
    expectData(await person.client.from("combines").insert(outfits(person, 1)).select("id"));
  });

  test("of administrators are not counted", async () => {
    const admin = await signUpAdmin();
    const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
    const rows = outfits(admin, 60).map((row) => ({ ...row, main_image: image }));

    expectData(await admin.client.from("combines").insert(rows).select("id"));
    expectAllowed(await admin.client.from("combines").delete().eq("user_id", admin.id));
  });
});

test("pictures of a person are limited for a day, although they are deleted again", async () => {
  const person = await personWithPhotos();
  const outfit = await makeOutfit(person, "pending");
  await runSql(
    `insert into private.asked_for (user_id, kind) select '${person.id}', 'picture' from generate_series(1, 29)`,
  );
  const request = () => person.client.rpc("request_generated_picture", { outfit_id: outfit.id });

  const last = expectData(await request()) as string;
  expectAllowed(await person.client.from("generated_pictures").delete().eq("id", last));

  const refused = await request();
  expectRefused(refused, 400, "23514", /30 pictures within a day/);
});

describe("files", () => {
  const filled: string[] = [];

  // The search for orphaned files, which other tests try, would find a thousand rows without a file.
  afterAll(async () => {
    await runSql(`
      set storage.allow_delete_query = 'true';
      delete from storage.objects
      where bucket_id = 'user-outfit-images' and owner_id = any ('{${filled.join()}}');
      reset storage.allow_delete_query;`);
  });

  const upload = (person: Person, name: string, options = {}) =>
    person.client.storage
      .from("avatars")
      .upload(`${person.id}/${name}`, picture(), { ...png, ...options });

  /** Fills the caller's folders, with rows alone: their bytes do not matter. */
  async function fill(person: Person, number: number, bytes: number) {
    filled.push(person.id);
    await runSql(`
      insert into storage.objects (bucket_id, name, owner_id, metadata)
      select 'user-outfit-images', '${person.id}/' || n || '.png', '${person.id}',
        jsonb_build_object('size', ${bytes}, 'mimetype', 'image/png')
      from generate_series(1, ${number}) as n`);
  }

  test.each([
    ["a thousand", 999, 10],
    ["a gibibyte", 1, 1_073_741_800],
  ])(
    "of one person are at most %s, and one that is there is replaced",
    async (_, number, bytes) => {
      const [person, other] = await Promise.all([signUp(), signUp()]);
      await fill(person, number, bytes);
      expectAllowed(await upload(person, "last.png"));

      const refused = await upload(person, "more.png");

      expect(refused.error?.message).toMatch(/row-level security/);
      expectAllowed(await upload(person, "last.png", { upsert: true }));
      expectAllowed(await upload(other, "first.png"));
    },
  );
});
