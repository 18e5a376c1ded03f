// Pictures of outfits on people: generated from the photos of the requesting person, and visible to that person only.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { apiUrl } from "../support/address.ts";
import { expectData, fetchRows, makeOutfit, uploadTrainingPhotos } from "../support/catalogue.ts";
import { anonKey, owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { runSql } from "../support/database.ts";
import { expectNoRows, expectRefused } from "../support/expectations.ts";
import { storedFiles } from "../support/files.ts";

const bucket = "profile-avatars";
const columns = "id, user_id, status, progress, error, result_name, result_is_preview";

interface Row {
  id: string;
  status: string;
  error: string | null;
  result_name: string | null;
  result_is_preview: boolean | null;
  input: { sources: { role: string; bucket: string; name: string }[] };
}

let attacker: Person;
let victim: Person;
let admin: Person;
/** A published outfit whose items have pictures. */
let outfit: { id: string; item_ids: string[] };
let finished: Row;

async function readRow(id: string): Promise<Row> {
  const [row] = await fetchRows<Row>("generated_pictures", "id", id);
  if (row === undefined) throw new Error("the picture is gone");
  return row;
}

function waitFor(id: string, status: string): Promise<Row> {
  const look = async () => {
    const row = await readRow(id);
    expect(row.status).toBe(status);
    return row;
  };
  return vi.waitFor(look, { timeout: 60_000, interval: 100 });
}

async function request(person: Person, outfitId: string): Promise<string> {
  return expectData(
    await person.client.rpc("request_generated_picture", { outfit_id: outfitId }),
  ) as string;
}

/** Inserts a job that no worker takes, because it is not due. */
async function insertWaiting(person: Person): Promise<string> {
  const row = {
    user_id: person.id,
    title: "Waiting",
    input: { sources: [] },
    result_bucket: bucket,
    result_folder: `${person.id}/generated`,
    run_after: "2999-01-01T00:00:00Z",
  };
  return expectData(await owner().from("generated_pictures").insert(row).select("id").single()).id;
}

beforeAll(async () => {
  [attacker, victim, admin] = await Promise.all([signUp(), signUp(), signUpAdmin()]);
  await uploadTrainingPhotos(victim);
  // Not by users, whose outfits other tests make from items without pictures.
  outfit = expectData(
    await owner()
      .from("combines")
      .select("id, item_ids")
      .eq("status", "approved")
      .like("main_image", "%/combine-images/%")
      .order("created_at")
      .limit(1)
      .single(),
  );
  finished = await waitFor(await request(victim, outfit.id), "succeeded");
}, 90_000);

describe("a picture", () => {
  test("is made from the photos of its owner and the items of the outfit", () => {
    const names = (role: string) =>
      finished.input.sources.filter((source) => source.role === role).map(({ name }) => name);

    expect(names("person")).toEqual(
      [1, 2, 3].map((slot) => `training-images/${victim.id}/photo-${slot}.png`),
    );
    expect(names("item")).toHaveLength(outfit.item_ids.length);
    expect(finished.result_is_preview).toBe(true);
    expect(finished.result_name).toBe(`${victim.id}/generated/${finished.id}.jpg`);
  });

  test("is seen by its owner alone", async () => {
    const read = (person: Person) =>
      person.client.from("generated_pictures").select(columns).eq("id", finished.id);

    expect(expectData(await read(victim))).toHaveLength(1);
    expectNoRows(await read(attacker));
    expectNoRows(await read(admin));
    const anonymous = await visitor().from("generated_pictures").select(columns);
    expectRefused(anonymous, 401, "42501", /permission denied for table generated_pictures/);
  });

  test("has a file that only its owner, and administrators of the bucket, can read", async () => {
    const sign = (person: Person) =>
      person.client.storage.from(bucket).createSignedUrl(finished.result_name ?? "", 60);

    expect((await sign(attacker)).data).toBeNull();
    const signed = await sign(victim);
    const response = await fetch(signed.data?.signedUrl ?? "");
    expect(response.headers.get("content-type")).toBe("image/jpeg");
    const direct = `${apiUrl()}/storage/v1/object/public/${bucket}/${finished.result_name}`;
    expect((await fetch(direct)).ok).toBe(false);
  });

  test.each(["input", "callback_token_hash", "lease_until", "*"])(
    "does not show its column %s to its owner",
    async (column) => {
      const response = await victim.client
        .from("generated_pictures")
        .select(column)
        .eq("id", finished.id);

      expectRefused(response, 403, "42501", /permission denied for table generated_pictures/);
    },
  );
});

describe("somebody else's picture", () => {
  test("can be neither cancelled, tried again nor deleted", async () => {
    const waiting = await insertWaiting(victim);
    for (const name of ["cancel_generated_picture", "retry_generated_picture"]) {
      for (const picture_id of [waiting, finished.id]) {
        const { error } = await attacker.client.rpc(name, { picture_id });
        expect(error?.code, name).toBe("P0002");
      }
    }
    for (const person of [attacker, admin]) {
      const deleted = await person.client
        .from("generated_pictures")
        .delete({ count: "exact" })
        .in("id", [waiting, finished.id]);
      expect(deleted.count).toBe(0);
    }

    expect((await readRow(waiting)).status).toBe("queued");
    expect(await storedFiles(bucket, `${victim.id}/generated`)).toEqual([`${finished.id}.jpg`]);
    expectData(await victim.client.rpc("cancel_generated_picture", { picture_id: waiting }));
  });

  test("is announced on a channel that others cannot join", async () => {
    await attacker.client.realtime.setAuth();
    const status = await new Promise<string>((done) => {
      attacker.client
        .channel(`generated-pictures:${victim.id}`, { config: { private: true } })
        .subscribe((state) => done(state));
    });
    await attacker.client.removeAllChannels();

    expect(status).toBe("CHANNEL_ERROR");
  });
});

describe("jobs", () => {
  test("are written by functions only, so that nobody names the files to be read", async () => {
    const stolen = {
      role: "person",
      bucket,
      name: `training-images/${victim.id}/photo-1.png`,
    };
    const inserted = await attacker.client.from("generated_pictures").insert({
      user_id: attacker.id,
      title: "Stolen",
      input: { sources: [stolen] },
      result_bucket: "avatars",
      result_folder: attacker.id,
    });
    expectRefused(inserted, 403, "42501", /permission denied for table generated_pictures/);

    const own = await insertWaiting(attacker);
    for (const change of [
      { input: { sources: [stolen] } },
      { result_bucket: "avatars" },
      { status: "succeeded" },
      { run_after: "2020-01-01T00:00:00Z" },
    ]) {
      const updated = await attacker.client.from("generated_pictures").update(change).eq("id", own);
      expectRefused(updated, 403, "42501", /permission denied for table generated_pictures/);
    }
    await attacker.client.from("generated_pictures").delete().eq("id", own);
  });

  test("do not use the photo of another person that a row of the attacker names", async () => {
    const { error } = await attacker.client.from("user_training_images").insert({
      user_id: attacker.id,
      image_url: `training-images/${victim.id}/photo-1.png`,
      image_order: 1,
    });

    expect(error?.message).toMatch(/user_training_images_own_folder/);
  });

  test("read no private file that the picture of an item names", async () => {
    const person = await signUp();
    await uploadTrainingPhotos(person);
    const own = await makeOutfit(person, "pending");
    const image = `/storage/v1/object/public/${bucket}/training-images/${victim.id}/photo-1.png`;
    expectData(await owner().from("items").update({ image }).eq("id", own.item_ids[0]).select());

    const { input } = await readRow(await request(person, own.id));

    expect(input.sources.map(({ name }) => name)).toEqual(
      [1, 2, 3].map((slot) => `training-images/${person.id}/photo-${slot}.png`),
    );
  });

  test("need the files of the photos, and not their rows alone", async () => {
    const person = await signUp();
    await uploadTrainingPhotos(person);
    await runSql(`
      set storage.allow_delete_query = 'true'; set session_replication_role = replica;
      delete from storage.objects where name = 'training-images/${person.id}/photo-2.png';
      reset session_replication_role; reset storage.allow_delete_query;`);
    expect(await fetchRows("user_training_images", "user_id", person.id)).toHaveLength(3);

    const { error } = await person.client.rpc("request_generated_picture", {
      outfit_id: outfit.id,
    });

    expect(error?.message).toBe("Upload your three training photos first.");
    expect(await storedFiles(bucket, `${person.id}/generated`)).toEqual([]);
  });

  test("need all three photos, and an outfit that the person may see", async () => {
    const withoutPhotos = await attacker.client.rpc("request_generated_picture", {
      outfit_id: outfit.id,
    });
    expect(withoutPhotos.error).toMatchObject({
      code: "23514",
      message: "Upload your three training photos first.",
    });
    const hidden = await makeOutfit(attacker, "pending");
    for (const outfit_id of [hidden.id, randomUUID()]) {
      const { error } = await victim.client.rpc("request_generated_picture", { outfit_id });
      expect(error).toMatchObject({ code: "P0002", message: "There is no such outfit." });
    }
  });

  test("are limited to three at a time, also for requests at the same moment", async () => {
    const person = await signUp();
    await uploadTrainingPhotos(person);
    const outfits = expectData(
      await owner().from("combines").select("id").eq("status", "approved").limit(6),
    );
    await insertWaiting(person);
    await insertWaiting(person);

    const answers = await Promise.all(
      outfits.map(({ id }) => person.client.rpc("request_generated_picture", { outfit_id: id })),
    );

    // A picture that is finished meanwhile makes room for the next, so only the waiting ones are certain.
    const refused = answers.filter(({ error }) => error?.code === "23514");
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.error?.message).toMatch(/Three of your pictures are being made/);
  });

  test("are asked for once, however often somebody clicks", async () => {
    const person = await signUp();
    await uploadTrainingPhotos(person);
    const own = await makeOutfit(person, "pending");
    const waiting = await insertWaiting(person);
    expectData(
      await owner().from("generated_pictures").update({ combine_id: own.id }).eq("id", waiting),
    );

    expect(await request(person, own.id)).toBe(waiting);
    expect(await request(person, own.id)).toBe(waiting);
  });
});

describe("a picture that cannot be made", () => {
  test("fails with a text for its owner, who tries again or deletes it", async () => {
    const person = await signUp();
    await uploadTrainingPhotos(person);
    // The item of this outfit has no picture.
    const bare = await makeOutfit(person, "pending");
    const id = await request(person, bare.id);

    const failed = await waitFor(id, "failed");
    expect(failed.error).toBe("None of the item pictures can be used.");
    const item = { image: "/storage/v1/object/public/images/items/nothing.webp" };
    expectData(await owner().from("items").update(item).eq("id", bare.item_ids[0]).select());
    expectData(await person.client.rpc("retry_generated_picture", { picture_id: id }));
    await waitFor(id, "failed");
    const again = await readRow(id);
    expect(again.input.sources.at(-1)).toMatchObject({ role: "item", name: "items/nothing.webp" });

    expectData(await person.client.from("generated_pictures").delete().eq("id", id).select("id"));
    expect(await fetchRows("generated_pictures", "id", id)).toEqual([]);
  });
});

describe("a picture that took long", () => {
  test.each([
    ["succeeded", 120, ["picture_ready"]],
    ["failed", 120, ["picture_failed"]],
    ["failed", 5, []],
  ])("and %s after %i seconds notifies its owner of %j", async (status, seconds, kinds) => {
    const person = await signUp();
    const id = await insertWaiting(person);
    const now = Date.now();
    const isMade = status === "succeeded";
    const made = isMade ? { result_name: "a.jpg", result_is_preview: false } : {};
    const outcome = {
      status,
      combine_id: outfit.id,
      started_at: new Date(now - seconds * 1000).toISOString(),
      finished_at: new Date(now).toISOString(),
      ...made,
    };
    expectData(await owner().from("generated_pictures").update(outcome).eq("id", id));

    const told = expectData(await person.client.from("notifications").select("kind, combine_id"));
    expect(told).toEqual(kinds.map((kind) => ({ kind, combine_id: outfit.id })));
  });
});

describe("the calls of a generator", () => {
  test.each(["picture", "progress", "failure"])(
    "%s is refused without the token of the job",
    async (action) => {
      const waiting = await insertWaiting(victim);
      for (const id of [waiting, finished.id, randomUUID()]) {
        for (const token of ["0".repeat(64), anonKey, ""]) {
          const response = await fetch(`${apiUrl()}/generator/v1/jobs/${id}/${action}`, {
            method: "POST",
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
            body: JSON.stringify({ progress: 50, message: "forged" }),
          });
          expect(response.status).toBe(401);
        }
      }
      expect(await readRow(waiting)).toMatchObject({ status: "queued", error: null });
      await victim.client.from("generated_pictures").delete().eq("id", waiting);
    },
  );
});

describe("deletion", () => {
  test("of a picture deletes its file, and the export names what is there", async () => {
    const person = await signUp();
    await uploadTrainingPhotos(person);
    const { id } = await waitFor(await request(person, outfit.id), "succeeded");
    const folder = `${person.id}/generated`;
    expect(await storedFiles(bucket, folder)).toEqual([`${id}.jpg`]);
    const exported = expectData(await person.client.rpc("export_my_data"));
    expect(exported.generated_pictures).toMatchObject([{ id, status: "succeeded" }]);
    expect(exported.files).toContainEqual({ bucket, name: `${folder}/${id}.jpg` });

    expectData(await person.client.from("generated_pictures").delete().eq("id", id).select("id"));

    expect(await storedFiles(bucket, folder)).toEqual([]);
  });
});
