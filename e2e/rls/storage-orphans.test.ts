// Files that no row shows, as administrators find and delete them.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { expectData, makeItem, uploadTrainingPhotos } from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin } from "../support/clients.ts";
import { expectAllowed } from "../support/expectations.ts";
import { picture, png } from "../support/files.ts";

let admin: Person;
let user: Person;

beforeAll(async () => {
  admin = await signUpAdmin();
  user = await signUp();
});

interface Orphan {
  bucket: string;
  path: string;
  bytes: number;
  total: number;
  total_bytes: number;
}

/** Whether a file is among the orphans, whatever its age. */
async function isOrphan(bucket: string, path: string): Promise<boolean> {
  const rows: Orphan[] = expectData(
    await admin.client.rpc("storage_orphans", { min_age: "0 seconds" }),
  );
  return rows.some((row) => row.bucket === bucket && row.path === path);
}

async function upload(bucket: string, path: string): Promise<string> {
  const storage = admin.client.storage.from(bucket);
  expectAllowed(await storage.upload(path, picture(), png));
  return new URL(storage.getPublicUrl(path).data.publicUrl).pathname;
}

describe("storage_orphans", () => {
  test("lists a file until a row shows it, and again when none does", async () => {
    const path = `items/${randomUUID()}.png`;
    const url = await upload("images", path);
    const item = await makeItem();
    const show = async (image: string | null) =>
      expectData(await owner().from("items").update({ image }).eq("id", item.id).select("id"));

    expect(await isOrphan("images", path)).toBe(true);
    await show(url);
    expect(await isOrphan("images", path)).toBe(false);
    await show(`https://lookbook.example${url}?width=240`);
    expect(await isOrphan("images", path)).toBe(false);
    await show(null);
    expect(await isOrphan("images", path)).toBe(true);
    expectAllowed(await admin.client.storage.from("images").remove([path]));
    expect(await isOrphan("images", path)).toBe(false);
  });

  test("reads names with spaces and signs out of addresses", async () => {
    const path = `${randomUUID()} 50 + (1).png`;
    const url = await upload("brand-logos", path);
    const item = await makeItem();

    expect(url).toContain("%20");
    expect(await isOrphan("brand-logos", path)).toBe(true);
    expectData(await owner().from("brands").update({ logo: url }).eq("id", item.brand_id));
    expect(await isOrphan("brand-logos", path)).toBe(false);
  });

  test("knows training photos in all forms of their address, and avatars", async () => {
    await uploadTrainingPhotos(user);
    const photo = (slot: number) => `training-images/${user.id}/photo-${slot}.png`;
    const prefixes = ["", "profile-avatars/", "/storage/v1/object/authenticated/profile-avatars/"];
    for (const [index, prefix] of prefixes.entries()) {
      expectData(
        await owner()
          .from("user_training_images")
          .update({ image_url: `${prefix}${photo(index + 1)}` })
          .eq("user_id", user.id)
          .eq("image_order", index + 1)
          .select(),
      );
    }
    const avatar = `${user.id}/me.png`;
    const url = await upload("avatars", avatar);
    expectData(await owner().from("profiles").update({ avatar_url: url }).eq("id", user.id));

    for (const slot of [1, 2, 3]) {
      expect(await isOrphan("profile-avatars", photo(slot))).toBe(false);
    }
    expect(await isOrphan("avatars", avatar)).toBe(false);
    expectData(
      await owner()
        .from("user_training_images")
        .delete()
        .eq("user_id", user.id)
        .eq("image_order", 2)
        .select(),
    );
    expect(await isOrphan("profile-avatars", photo(2))).toBe(true);
  });

  test("leaves young files out, counts all, and names the files of the demo data never", async () => {
    const path = `style-images/${randomUUID()}.png`;
    await upload("images", path);

    const young = expectData(await admin.client.rpc("storage_orphans"));
    const all: Orphan[] = expectData(
      await admin.client.rpc("storage_orphans", { min_age: "0 seconds", max_results: 1 }),
    );
    const seeded: Orphan[] = expectData(
      await admin.client.rpc("storage_orphans", { min_age: "0 seconds" }),
    );

    expect(young).toEqual([]);
    expect(all).toHaveLength(1);
    expect(all[0]?.total).toBe(seeded.length);
    expect(all[0]?.total_bytes).toBe(seeded.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(seeded.map((row) => row.path)).not.toContain("items/camel-overcoat.webp");
    expectAllowed(await admin.client.storage.from("images").remove([path]));
  });
});
