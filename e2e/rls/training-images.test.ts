// Row-level security of training images, which are private photos of people: readable by their owner and
// administrators.

import { beforeAll, describe, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { expectData, fetchRows } from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import {
  expectAllowed,
  expectNoRows,
  expectRefused,
  expectStorageRefused,
} from "../support/expectations.ts";
import { picture, png, storedFiles } from "../support/files.ts";

const bucket = "profile-avatars";

let attacker: Person;
let victim: Person;
let admin: Person;
let victimPhoto: string;

beforeAll(async () => {
  attacker = await signUp();
  victim = await signUp();
  admin = await signUpAdmin();
  victimPhoto = `training-images/${victim.id}/photo-1.png`;

  const uploaded = await victim.client.storage.from(bucket).upload(victimPhoto, picture(), png);
  expectAllowed(uploaded);
  const { publicUrl } = victim.client.storage.from(bucket).getPublicUrl(victimPhoto).data;
  expectData(
    await victim.client
      .from("user_training_images")
      .upsert(
        {
          user_id: victim.id,
          image_url: new URL(publicUrl).pathname,
          image_order: 1,
          updated_at: new Date().toISOString(),
        },
        { onConflict: "user_id,image_order" },
      )
      .select()
      .single(),
  );
});

describe("rows of other people", () => {
  test("are readable by administrators, not by users or visitors", async () => {
    const read = (person: Person) =>
      person.client.from("user_training_images").select().eq("user_id", victim.id);

    expectNoRows(await read(attacker));
    expectRefused(
      await visitor().from("user_training_images").select(),
      401,
      "42501",
      /permission denied for table user_training_images/,
    );
    expect(expectData(await read(victim))).toHaveLength(1);
    expect(expectData(await read(admin))).toHaveLength(1);
  });

  test("cannot be embedded from their profile", async () => {
    const profile = expectData(
      await attacker.client
        .from("profiles")
        .select("id, user_training_images(image_url)")
        .eq("id", victim.id)
        .single<{ user_training_images: unknown[] }>(),
    );

    expect(profile.user_training_images).toEqual([]);
  });

  test("cannot be written", async () => {
    const row = {
      user_id: victim.id,
      image_url: `training-images/${victim.id}/other.png`,
      image_order: 1,
    };

    const inserted = await attacker.client
      .from("user_training_images")
      .insert({ ...row, image_order: 2 })
      .select();
    const upserted = await attacker.client
      .from("user_training_images")
      .upsert(row, { onConflict: "user_id,image_order" })
      .select();
    const deleted = await attacker.client
      .from("user_training_images")
      .delete()
      .eq("user_id", victim.id)
      .select();

    expectRefused(inserted, 403, "42501", /row-level security policy/);
    expectRefused(upserted, 403, "42501", /row-level security policy/);
    expectNoRows(deleted);
    const rows = await fetchRows<{ image_url: string }>(
      "user_training_images",
      "user_id",
      victim.id,
    );
    expect(rows.map(({ image_url }) => image_url.endsWith(victimPhoto))).toEqual([true]);
  });
});

describe("the caller's own rows", () => {
  test.each([
    ["a fourth slot", { image_order: 4 }, /user_training_images_order_range/],
    ["a foreign host", { image_url: "https://elsewhere.test/x.png" }, /own_folder/],
    [
      "a host before its own path",
      (id: string) => ({
        image_url: `https://elsewhere.test/storage/v1/object/sign/profile-avatars/training-images/${id}/x.png`,
      }),
      /own_folder/,
    ],
    ["a lookalike path", { image_url: "//elsewhere.test/training-images/" }, /own_folder/],
  ])("take no %s", async (_, change, constraint) => {
    const response = await attacker.client
      .from("user_training_images")
      .insert({
        user_id: attacker.id,
        image_url: `training-images/${attacker.id}/x.png`,
        image_order: 1,
        ...(typeof change === "function" ? change(attacker.id) : change),
      })
      .select();

    expectRefused(response, 400, "23514", constraint);
  });

  test.each([
    [
      "a query",
      (id: string) => `training-images/${id}/x?/storage/v1/object/public/profile-avatars/`,
    ],
    ["a fragment", (id: string) => `training-images/${id}/x#/storage/v1/object/public/`],
    ["a backslash", (id: string) => `training-images/${id}/x\\..\\y`],
    ["an encoded slash", (id: string) => `training-images/${id}/..%2f..%2fx`],
    ["an encoded folder above", (id: string) => `training-images/${id}/%2e%2e/x.png`],
    ["a path after another one", (id: string) => `/x/training-images/${id}/x.png`],
    ["two folders", (id: string) => `training-images/${id}/deeper/x.png`],
  ])("take no address with %s", async (_, address) => {
    const response = await attacker.client
      .from("user_training_images")
      .insert({ user_id: attacker.id, image_url: address(attacker.id), image_order: 1 })
      .select();

    expectRefused(response, 400, "23514", /own_folder/);
  });

  test("hold the name of the file, whatever address of it was sent", async () => {
    const person = await signUp();
    const folder = `training-images/${person.id}`;
    for (const name of ["photo.png", "my photo.png"]) {
      const [plain, encoded] = [`${folder}/${name}`, `${folder}/${encodeURIComponent(name)}`];
      expectAllowed(await person.client.storage.from(bucket).upload(plain, picture(), png));
      for (const image_url of [
        plain,
        `/${bucket}/${encoded}`,
        `/storage/v1/object/public/${bucket}/${encoded}`,
        `/storage/v1/object/sign/${bucket}/${encoded}`,
      ]) {
        const stored = await person.client
          .from("user_training_images")
          .upsert({ user_id: person.id, image_url, image_order: 1 })
          .select("image_url")
          .single();
        expect(expectData(stored).image_url, image_url).toBe(plain);
      }
    }
  });

  test("name a file that is there, once", async () => {
    const person = await signUp();
    const name = `training-images/${person.id}/photo.png`;
    const insert = (image_order: number) =>
      person.client
        .from("user_training_images")
        .insert({ user_id: person.id, image_url: name, image_order })
        .select();

    expectRefused(await insert(1), 400, "23514", /There is no such photo/);
    expectAllowed(await person.client.storage.from(bucket).upload(name, picture(), png));
    expectAllowed(await insert(1));
    expectRefused(await insert(2), 409, "23505", /user_training_images_different/);
    // The row goes with the file, and the slot is free again.
    expectAllowed(await person.client.storage.from(bucket).remove([name]));
    expect(await fetchRows("user_training_images", "user_id", person.id)).toEqual([]);
  });

  test("cannot point into another user's folder", async () => {
    const response = await attacker.client
      .from("user_training_images")
      .insert({ user_id: attacker.id, image_url: victimPhoto, image_order: 1 })
      .select();

    expectRefused(response, 400, "23514", /own_folder/);
  });
});

describe("the files of other people", () => {
  test("cannot be downloaded", async () => {
    const response = await attacker.client.storage.from(bucket).download(victimPhoto);

    expect(response.data).toBeNull();
    expect(response.error?.message).toBeTruthy();
  });

  test("cannot be signed", async () => {
    const one = await attacker.client.storage.from(bucket).createSignedUrl(victimPhoto, 3600);
    const many = await attacker.client.storage.from(bucket).createSignedUrls([victimPhoto], 3600);

    expectStorageRefused(one, "404", "Object not found");
    expect(many.data?.map(({ signedUrl }) => signedUrl || null)).toEqual([null]);
  });

  test("have no public URL", async () => {
    const { publicUrl } = visitor().storage.from(bucket).getPublicUrl(victimPhoto).data;

    const response = await fetch(publicUrl);

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ statusCode: "404", error: "Bucket not found" });
  });

  test("cannot be read with a signature for another file", async () => {
    const own = `training-images/${attacker.id}/own.png`;
    expectAllowed(await attacker.client.storage.from(bucket).upload(own, picture(), png));
    const signed = await attacker.client.storage.from(bucket).createSignedUrl(own, 60);
    const token = new URL(signed.data?.signedUrl ?? "").searchParams.get("token");

    const stolen = await fetch(
      `${apiUrl()}/storage/v1/object/sign/${bucket}/${victimPhoto}?token=${token}`,
    );

    expect(stolen.status).toBe(400);
  });

  test("cannot be listed", async () => {
    const listed = await attacker.client.storage.from(bucket).list(`training-images/${victim.id}`);
    const byVisitor = await visitor().storage.from(bucket).list(`training-images/${victim.id}`);

    expect([listed.data, byVisitor.data]).toEqual([[], []]);
  });

  test("cannot be copied or moved into the caller's folder", async () => {
    const storage = attacker.client.storage.from(bucket);
    const target = `training-images/${attacker.id}/stolen.png`;

    const copied = await storage.copy(victimPhoto, target);
    const moved = await storage.move(victimPhoto, target);

    expectStorageRefused(copied, "404", "Object not found");
    expectStorageRefused(moved, "404", "Object not found");
    expect(await storedFiles(bucket, `training-images/${victim.id}`)).toEqual(["photo-1.png"]);
  });

  test("cannot be replaced or added to", async () => {
    const storage = attacker.client.storage.from(bucket);

    const replaced = await storage.upload(victimPhoto, picture(), { ...png, upsert: true });
    const updated = await storage.update(victimPhoto, picture(), png);
    const added = await storage.upload(`training-images/${victim.id}/new.png`, picture(), png);

    for (const response of [replaced, updated, added]) {
      expectStorageRefused(response, "403", "new row violates row-level security policy");
    }
    expect(await storedFiles(bucket, `training-images/${victim.id}`)).toEqual(["photo-1.png"]);
  });

  test("are not deleted", async () => {
    const response = await attacker.client.storage.from(bucket).remove([victimPhoto]);

    expect(response.data).toEqual([]);
    expect(await storedFiles(bucket, `training-images/${victim.id}`)).toEqual(["photo-1.png"]);
  });

  test("are readable by their owner and administrators, directly and by signed URL", async () => {
    for (const person of [victim, admin]) {
      const signed = await person.client.storage.from(bucket).createSignedUrl(victimPhoto, 3600);
      const downloaded = await person.client.storage.from(bucket).download(victimPhoto);

      expectAllowed(signed);
      expectAllowed(downloaded);
      const response = await fetch(signed.data?.signedUrl ?? "");
      expect(Buffer.from(await response.arrayBuffer())).toEqual(picture());
    }
  });

  test("are readable with the service key", async () => {
    const response = await owner().storage.from(bucket).download(victimPhoto);

    expectAllowed(response);
  });
});
