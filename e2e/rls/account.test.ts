// Exporting and deleting an account: no user reaches another one's, and nothing private of a deleted one remains.

import { beforeAll, describe, expect, test } from "vitest";
import { expectData, fetchRows, makeItem, makeOutfit } from "../support/catalogue.ts";
import { owner, type Person, password, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { ageSignIns, runSql } from "../support/database.ts";
import { expectAllowed, expectRefused } from "../support/expectations.ts";
import { picture, png, storedFiles } from "../support/files.ts";

let victim: Person;
let attacker: Person;

beforeAll(async () => {
  victim = await signUp();
  attacker = await signUp();
});

/** Fills an account: files in every bucket of users, training photos, a like, outfits of every status. */
async function fillAccount(person: Person) {
  const training = `training-images/${person.id}/one.png`;
  const files = [
    ["avatars", `${person.id}/me.png`],
    ["user-outfit-images", `${person.id}/look.png`],
    ["profile-avatars", `${person.id}/other.png`],
    ["profile-avatars", training],
  ] as const;
  for (const [bucket, name] of files) {
    expectAllowed(await person.client.storage.from(bucket).upload(name, picture(), png));
  }
  expectAllowed(
    await person.client
      .from("user_training_images")
      .insert({ user_id: person.id, image_url: training, image_order: 1 }),
  );
  const published = await makeOutfit(person, "approved");
  const waiting = await makeOutfit(person, "pending");
  const main_image = `/storage/v1/object/public/user-outfit-images/${person.id}/look.png`;
  expectData(
    await owner().from("combines").update({ main_image }).eq("id", published.id).select().single(),
  );
  expectAllowed(
    await person.client.from("likes").insert({ user_id: person.id, combine_id: published.id }),
  );
  return { published, waiting };
}

async function filesOf(person: Person): Promise<string[]> {
  const folders = [
    ["avatars", person.id],
    ["user-outfit-images", person.id],
    ["profile-avatars", person.id],
    ["profile-avatars", `training-images/${person.id}`],
  ] as const;
  return (await Promise.all(folders.map(([bucket, folder]) => storedFiles(bucket, folder)))).flat();
}

describe("deleting an account", () => {
  test("is refused to visitors", async () => {
    const response = await visitor().rpc("delete_my_account", { confirmation: victim.username });

    expectRefused(response, 401, "42501", /Sign in to delete your account/);
  });

  test.each([
    ["a wrong word", () => "delete"],
    ["nothing", () => ""],
    ["null", () => null],
    ["another person's username", () => victim.username],
  ])("is refused with %s", async (_, confirmation) => {
    const response = await attacker.client.rpc("delete_my_account", {
      confirmation: confirmation(),
    });

    expectRefused(response, 400, "23514", /confirmation is not the username/);
    expect(await fetchRows("profiles", "id", attacker.id)).toHaveLength(1);
    expect(await fetchRows("profiles", "id", victim.id)).toHaveLength(1);
  });

  test("needs a sign-in of the last minutes: neither an old one nor a renewed token is enough", async () => {
    const person = await signUp();
    const remove = () => person.client.rpc("delete_my_account", { confirmation: person.username });
    await ageSignIns(person.email);

    expectRefused(await remove(), 403, "PT403", /Sign in again to delete your account/);
    expectAllowed(await person.client.auth.refreshSession());
    expectRefused(await remove(), 403, "PT403", /Sign in again to delete your account/);
    expect(await fetchRows("profiles", "id", person.id)).toHaveLength(1);

    expectAllowed(await person.client.auth.signInWithPassword({ email: person.email, password }));
    expectAllowed(await remove());
    expect(await fetchRows("profiles", "id", person.id)).toEqual([]);
  });

  test("is not possible with what a found token alone can set", async () => {
    const person = await signUp();
    await ageSignIns(person.email);

    const changed = await person.client.auth.updateUser({ password: "Attacker-2026" });
    expect(changed.error?.code).toBe("current_password_required");

    // An account of an identity provider has no password that could be asked for.
    const guest = await signUp();
    await runSql(`delete from auth.identities where user_id = '${guest.id}'`);
    const response = await guest.client.rpc("delete_my_account", { confirmation: guest.username });
    expectRefused(response, 403, "PT403", /Sign in again to delete your account/);
  });

  test.each([
    ["removed", false],
    ["marked as deleted", true],
  ])("by the service key, %s, takes the files and the private rows, too", async (_, isSoft) => {
    const person = await signUp();
    const { published, waiting } = await fillAccount(person);
    const shown = await makeItem();
    const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
    expectData(await owner().from("items").update({ image }).eq("id", shown.id).select().single());
    expectData(
      await owner()
        .from("combines")
        .update({ item_ids: [shown.id] })
        .eq("id", published.id)
        .select(),
    );

    expectAllowed(await owner().auth.admin.deleteUser(person.id, isSoft));

    expect(await filesOf(person)).toEqual([]);
    expect(await fetchRows("profiles", "id", person.id)).toEqual([]);
    expect(await fetchRows("user_training_images", "user_id", person.id)).toEqual([]);
    expect(await fetchRows("combines", "id", waiting.id)).toEqual([]);
    expect(await fetchRows("combines", "id", published.id)).toMatchObject([
      { user_id: null, main_image: image },
    ]);
  });

  test("removes rows, files and sessions, and leaves everybody else's", async () => {
    const person = await signUp();
    const bystander = await signUp();
    const { published, waiting } = await fillAccount(person);
    await fillAccount(bystander);
    const { data } = await person.client.auth.getSession();
    const refreshToken = data.session?.refresh_token ?? "";

    expectAllowed(
      await person.client.rpc("delete_my_account", {
        confirmation: ` ${person.username.toUpperCase()} `,
      }),
    );

    expect(await fetchRows("profiles", "id", person.id)).toEqual([]);
    expect(await fetchRows("likes", "user_id", person.id)).toEqual([]);
    expect(await fetchRows("user_training_images", "user_id", person.id)).toEqual([]);
    expect(await fetchRows("combines", "id", waiting.id)).toEqual([]);
    expect(await filesOf(person)).toEqual([]);
    const refreshed = await visitor().auth.refreshSession({ refresh_token: refreshToken });
    expect(refreshed.error).not.toBeNull();
    const user = await owner().auth.admin.getUserById(person.id);
    expect(user.error?.status).toBe(404);

    // Published outfits remain, without creator and without pictures of the deleted folder.
    const [outfit] = await fetchRows<{ user_id: string | null; main_image: string | null }>(
      "combines",
      "id",
      published.id,
    );
    expect(outfit?.user_id).toBeNull();

    expect(await fetchRows("profiles", "id", bystander.id)).toHaveLength(1);
    expect(await filesOf(bystander)).toHaveLength(4);
  });

  test("gives published outfits the picture of an item", async () => {
    const person = await signUp();
    const { published } = await fillAccount(person);
    const plain = await makeItem();
    const shown = await makeItem();
    const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
    expectData(await owner().from("items").update({ image }).eq("id", shown.id).select().single());
    expectData(
      await owner()
        .from("combines")
        .update({ item_ids: [plain.id, shown.id] })
        .eq("id", published.id)
        .select()
        .single(),
    );

    expectAllowed(await person.client.rpc("delete_my_account", { confirmation: person.username }));

    const [outfit] = await fetchRows<{ main_image: string }>("combines", "id", published.id);
    expect(outfit?.main_image).toBe(image);
  });

  test("leaves the access token without rights to write", async () => {
    const person = await signUp();
    expectAllowed(await person.client.rpc("delete_my_account", { confirmation: person.username }));

    const uploaded = await person.client.storage
      .from("avatars")
      .upload(`${person.id}/again.png`, picture(), png);
    const profile = await person.client
      .from("profiles")
      .insert({ id: person.id, username: person.username })
      .select();
    const again = await person.client.rpc("delete_my_account", { confirmation: person.username });

    expect(uploaded.error).not.toBeNull();
    expect(profile.error).not.toBeNull();
    expectRefused(again, 403, "42501", /Sign in to delete your account/);
    expect(await filesOf(person)).toEqual([]);
  });
});

describe("exporting an account", () => {
  interface Export {
    profile: { id: string };
    outfits: { user_id: string }[];
    likes: { user_id: string }[];
    training_images: { user_id: string }[];
    files: { name: string }[];
  }

  test("is refused to visitors", async () => {
    const response = await visitor().rpc("export_my_data");

    expectRefused(response, 401, "42501", /Sign in to export your data/);
  });

  test("holds everything of the caller and nothing of others, for administrators too", async () => {
    await fillAccount(victim);
    const admin = await signUpAdmin();
    for (const person of [victim, admin]) {
      const exported = expectData(await person.client.rpc("export_my_data")) as Export;

      const count = person === victim ? 1 : 0;
      expect(exported.profile.id).toBe(person.id);
      expect(exported.outfits).toHaveLength(2 * count);
      expect(exported.likes).toHaveLength(count);
      expect(exported.training_images).toHaveLength(count);
      expect(exported.files).toHaveLength(4 * count);
      for (const row of [...exported.outfits, ...exported.likes, ...exported.training_images]) {
        expect(row.user_id).toBe(person.id);
      }
      expect(exported.files.every(({ name }) => name.includes(person.id))).toBe(true);
    }
  });
});
