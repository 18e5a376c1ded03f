// The requirements of a submission, submitting again after a rejection, and reviews of outfits that changed meanwhile.

import { beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  type Item,
  makeItem,
  makeOutfit,
  type Outfit,
  readOutfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { type Person, signUp, signUpAdmin } from "../support/clients.ts";
import { expectRefused } from "../support/expectations.ts";

let creator: Person;
let admin: Person;
let item: Item;

beforeAll(async () => {
  creator = await signUp();
  admin = await signUpAdmin();
  item = await makeItem();
  await uploadTrainingPhotos(creator);
});

function submit(person: Person, extra: Record<string, unknown> = {}) {
  return person.client
    .from("combines")
    .insert({ user_id: person.id, name: uniqueName("Outfit"), item_ids: [item.id], ...extra })
    .select()
    .single<Outfit>();
}

function edit(person: Person, id: string, change: Record<string, unknown>) {
  return person.client.from("combines").update(change).eq("id", id).select().single<Outfit>();
}

function review(id: string, rest: Record<string, unknown>) {
  return admin.client.rpc("review_combine", { combine_id: id, ...rest });
}

function deletePhoto(person: Person, slot: number) {
  return person.client
    .from("user_training_images")
    .delete()
    .eq("user_id", person.id)
    .eq("image_order", slot)
    .select()
    .single();
}

describe("training photos", () => {
  test("are needed for a submission: none, and two of three, are refused", async () => {
    const person = await signUp();

    const without = await submit(person);
    expectRefused(without, 400, "23514", /exactly three training photos/);
    expect(without.error?.details).toMatch(/combines_training_photos_complete: 0 of 3/);
    await uploadTrainingPhotos(person);
    expectData(await deletePhoto(person, 2));
    const withTwo = await submit(person);
    expectRefused(withTwo, 400, "23514", /exactly three training photos/);
    expect(withTwo.error?.details).toMatch(/combines_training_photos_complete: 2 of 3/);

    expect(await fetchRows("combines", "user_id", person.id)).toEqual([]);
  });

  test("of somebody else do not count", async () => {
    const person = await signUp();

    const forged = await submit(person, { user_id: creator.id });
    const own = await submit(person);

    expectRefused(forged, 403, "42501", /row-level security policy/);
    expectRefused(own, 400, "23514", /exactly three training photos/);
  });

  test("are needed for an upsert as well", async () => {
    const person = await signUp();

    const response = await person.client
      .from("combines")
      .upsert({ user_id: person.id, name: uniqueName("Outfit"), item_ids: [item.id] })
      .select();

    expectRefused(response, 400, "23514", /exactly three training photos/);
  });

  test("are not asked of administrators", async () => {
    expect(expectData(await submit(admin, { main_image: "/picture.webp" })).status).toBe(
      "approved",
    );
  });

  test("are needed when a rejected outfit is submitted again", async () => {
    const person = await signUp();
    await uploadTrainingPhotos(person);
    const rejected = await makeOutfit(person, "rejected");
    expectData(await deletePhoto(person, 3));

    const response = await edit(person, rejected.id, { name: "Once more" });

    expectRefused(response, 400, "23514", /exactly three training photos/);
    expect((await readOutfit(rejected.id)).status).toBe("rejected");
  });
});

describe("a rejected outfit", () => {
  async function makeRejected(): Promise<Outfit> {
    const { id } = expectData(await submit(creator));
    expectData(await review(id, { approve: false, reason: "The shoes are missing." }));
    return readOutfit(id);
  }

  test("carries who rejected it, when and why; only its creator and administrators read it", async () => {
    const rejected = await makeRejected();

    expect(rejected).toMatchObject({
      status: "rejected",
      approved_by: admin.id,
      rejection_reason: "The shoes are missing.",
    });
    const stranger = await signUp();
    const read = async (person: Person) =>
      expectData(
        await person.client.from("combines").select("rejection_reason").eq("id", rejected.id),
      ).length;
    expect([await read(stranger), await read(creator), await read(admin)]).toEqual([0, 1, 1]);
  });

  test("waits for review again after its creator's edit, without the old decision", async () => {
    const rejected = await makeRejected();

    const edited = expectData(await edit(creator, rejected.id, { name: "With shoes" }));

    expect(edited).toMatchObject({
      name: "With shoes",
      status: "pending",
      approved_by: null,
      approved_at: null,
      rejection_reason: null,
    });
    expectData(await review(rejected.id, { approve: true, seen: edited.updated_at }));
    expect((await readOutfit(rejected.id)).status).toBe("approved");
  });

  test("waits again after an edit that changes nothing, as the photos may be new", async () => {
    const rejected = await makeRejected();

    const edited = expectData(await edit(creator, rejected.id, { name: rejected.name }));

    expect(edited.status).toBe("pending");
  });

  test.each([
    ["approves itself", { status: "approved" }],
    ["gets another reason", { rejection_reason: "None." }],
    ["loses its reason alone", { rejection_reason: null }],
  ])("never %s by an update of its creator", async (_, change) => {
    const rejected = await makeRejected();

    expectRefused(await edit(creator, rejected.id, change), 403, "42501", /may review/);
    expect(await readOutfit(rejected.id)).toEqual(rejected);
  });

  test("keeps its decision when an administrator edits it", async () => {
    const rejected = await makeRejected();

    const edited = expectData(await edit(admin, rejected.id, { name: "Tidied" }));

    expect(edited).toMatchObject({
      status: "rejected",
      approved_by: admin.id,
      rejection_reason: "The shoes are missing.",
    });
  });

  test("loses its reason when an administrator approves it after all", async () => {
    const rejected = await makeRejected();

    const approved = expectData(await edit(admin, rejected.id, { status: "approved" }));

    expect(approved).toMatchObject({ status: "approved", rejection_reason: null });
  });
});

describe("a review of what was seen", () => {
  test("is refused with 409 after the creator's edit, and accepted for the new state", async () => {
    const seen = expectData(await submit(creator));

    const edited = expectData(await edit(creator, seen.id, { name: "Something else" }));
    const stale = await review(seen.id, { approve: true, seen: seen.updated_at });

    expect(edited.updated_at > seen.updated_at).toBe(true);
    expectRefused(stale, 409, "PT409", /changed or reviewed/);
    expect((await readOutfit(seen.id)).status).toBe("pending");
    expectData(await review(seen.id, { approve: true, seen: edited.updated_at }));
    expect((await readOutfit(seen.id)).status).toBe("approved");
  });

  test("is refused with 409 when another administrator was faster", async () => {
    const seen = expectData(await submit(creator));
    expectData(await review(seen.id, { approve: false, seen: seen.updated_at, reason: "  " }));

    const late = await review(seen.id, { approve: true, seen: seen.updated_at });

    expectRefused(late, 409, "PT409", /changed or reviewed/);
    expect(await readOutfit(seen.id)).toMatchObject({ status: "rejected", rejection_reason: null });
  });

  test("lets one of an edit and a review win when both arrive at once", async () => {
    const seen = expectData(await submit(creator));

    const [reviewed, edited] = await Promise.all([
      review(seen.id, { approve: true, seen: seen.updated_at }),
      creator.client.from("combines").update({ name: "At once" }).eq("id", seen.id).select(),
    ]);

    const row = await readOutfit(seen.id);
    // The edit came first and the review is refused, or the outfit was published and can no longer be edited.
    expect(reviewed.error === null).toBe(row.status === "approved");
    expect(edited.data?.length === 1).toBe(row.name === "At once");
    expect(row.status === "approved" && row.name === "At once").toBe(false);
  });

  test("answers 404 for an outfit that is gone", async () => {
    const seen = expectData(await submit(creator));
    expectData(await creator.client.from("combines").delete().eq("id", seen.id).select().single());

    const response = await review(seen.id, { approve: true, seen: seen.updated_at });

    expectRefused(response, 404, "PT404", /waiting for review/);
  });

  test("by the creator is refused", async () => {
    const seen = expectData(await submit(creator));

    const response = await creator.client.rpc("review_combine", {
      combine_id: seen.id,
      approve: true,
      seen: seen.updated_at,
    });

    expectRefused(response, 403, "42501", /Only an administrator may review/);
  });
});
