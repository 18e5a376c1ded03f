// Reviews of several outfits in one step.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  makeItem,
  makeOutfit,
  type Outfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectRefused } from "../support/expectations.ts";

let creator: Person;
let admin: Person;

beforeAll(async () => {
  creator = await signUp();
  admin = await signUpAdmin();
});

/** The status of an outfit as it is stored. */
async function statusOf({ id }: Outfit): Promise<string | undefined> {
  const [row] = await fetchRows<Outfit>("combines", "id", id);
  return row?.status;
}

describe("review_combines", () => {
  test("is refused to visitors and users, and decides nothing", async () => {
    const outfit = await makeOutfit(creator, "pending");
    const call = { decisions: [{ id: outfit.id, approve: true }] };

    expectRefused(
      await visitor().rpc("review_combines", call),
      401,
      "42501",
      /permission denied for function/,
    );
    expectRefused(
      await creator.client.rpc("review_combines", call),
      403,
      "42501",
      /Only an administrator/,
    );
    expect(await statusOf(outfit)).toBe("pending");
  });

  test("decides what waits, and reports what was decided or changed meanwhile", async () => {
    const [approved, rejected, decided, changed] = [
      await makeOutfit(creator, "pending"),
      await makeOutfit(creator, "pending"),
      await makeOutfit(creator, "rejected"),
      await makeOutfit(creator, "pending"),
    ];
    const unknown = randomUUID();

    const answers = expectData(
      await admin.client.rpc("review_combines", {
        decisions: [
          { id: approved.id, approve: true },
          { id: decided.id, approve: true },
          { id: changed.id, approve: true, seen: "2026-01-01T00:00:00Z" },
          { id: unknown, approve: true },
          { id: rejected.id, approve: false, reason: "Too dark" },
        ],
      }),
    );

    expect(answers).toHaveLength(5);
    expect(answers).toEqual(
      expect.arrayContaining([
        { combine_id: approved.id, error: null },
        { combine_id: decided.id, error: "No outfit with this id is waiting for review." },
        { combine_id: changed.id, error: expect.stringContaining("changed or reviewed after") },
        { combine_id: unknown, error: "No outfit with this id is waiting for review." },
        { combine_id: rejected.id, error: null },
      ]),
    );
    expect(await Promise.all([approved, rejected, decided, changed].map(statusOf))).toEqual([
      "approved",
      "rejected",
      "rejected",
      "pending",
    ]);
    expect(await fetchRows("combines", "id", rejected.id)).toMatchObject([
      { rejection_reason: "Too dark", approved_by: admin.id },
    ]);
  });

  test("two administrators at once never decide twice", async () => {
    const outfits: Outfit[] = [];
    for (let count = 0; count < 5; count += 1) {
      outfits.push(await makeOutfit(creator, "pending"));
    }
    const other = await signUpAdmin();
    const decide = (person: Person, approve: boolean) =>
      person.client.rpc("review_combines", {
        decisions: outfits.map(({ id }) => ({ id, approve })),
      });

    const [first, second] = await Promise.all([decide(admin, true), decide(other, false)]);
    const refusals = [...expectData(first), ...expectData(second)].filter(
      ({ error }) => error !== null,
    );

    expect(refusals).toHaveLength(outfits.length);
  });

  test("refuses more than 100 decisions", async () => {
    const response = await admin.client.rpc("review_combines", {
      decisions: Array(101).fill({ id: randomUUID(), approve: true }),
    });

    expectRefused(response, 400, "22023", /at most 100/);
  });
});

describe("change_review", () => {
  test("takes a published outfit offline and publishes it again, tells the creator, and keeps both in the history", async () => {
    const outfit = await makeOutfit(creator, "approved");
    const change = (approve: boolean, more = {}) =>
      admin.client.rpc("change_review", { combine_id: outfit.id, approve, ...more });
    const visible = async () =>
      expectData(await visitor().from("combines").select("id").eq("id", outfit.id));

    expectData(await change(false, { reason: "Not their photo" }));
    expect([await statusOf(outfit), await visible()]).toEqual(["rejected", []]);
    const told = await fetchRows<{ kind: string; reason: string | null }>(
      "notifications",
      "combine_id",
      outfit.id,
    );
    expect(told).toContainEqual(
      expect.objectContaining({ kind: "rejected", reason: "Not their photo" }),
    );
    expectRefused(await change(false), 404, "PT404", /no such decision/);

    expectData(await change(true));
    expect(await statusOf(outfit)).toBe("approved");
    const seen = "2020-01-01T00:00:00Z";
    expectRefused(await change(false, { seen }), 409, "PT409", /Look at it again/);
    const history = await fetchRows<{ decision: string }>(
      "combine_reviews",
      "combine_id",
      outfit.id,
    );
    const decisions = history.map(({ decision }) => decision);
    expect(decisions).toContain("rejected");
    expect(decisions).toContain("approved");
  });

  test("is refused to others, and leaves what waits", async () => {
    const [published, waiting] = [
      await makeOutfit(creator, "approved"),
      await makeOutfit(creator, "pending"),
    ];
    const call = { combine_id: published.id, approve: false };
    expectRefused(
      await creator.client.rpc("change_review", call),
      403,
      "42501",
      /Only an administrator/,
    );
    const decision = await admin.client.rpc("change_review", { ...call, combine_id: waiting.id });
    expectRefused(decision, 404, "PT404", /no such decision/);
    expect([await statusOf(published), await statusOf(waiting)]).toEqual(["approved", "pending"]);
  });
});

describe("withdraw_reviews", () => {
  const withdraw = (person: Person, ...outfits: Outfit[]) =>
    person.client.rpc("withdraw_reviews", { combine_ids: outfits.map(({ id }) => id) });
  const decide = async (person: Person, outfit: Outfit, approve: boolean) =>
    expectData(await person.client.rpc("review_combine", { combine_id: outfit.id, approve }));

  test("makes outfits wait again and takes the notifications away", async () => {
    const approved = await makeOutfit(creator, "pending");
    const rejected = await makeOutfit(creator, "pending");
    await decide(admin, approved, true);
    await decide(admin, rejected, false);
    expect(await fetchRows("notifications", "combine_id", approved.id)).toHaveLength(1);

    const ids = expectData(await withdraw(admin, approved, rejected));

    expect(ids.toSorted()).toEqual([approved.id, rejected.id].toSorted());
    for (const { id } of [approved, rejected]) {
      expect(await fetchRows("combines", "id", id)).toMatchObject([
        { status: "pending", approved_by: null, approved_at: null, rejection_reason: null },
      ]);
      expect(await fetchRows("notifications", "combine_id", id)).toEqual([]);
    }
  });

  test("leaves decisions of others, older ones, and what is not a submission", async () => {
    const other = await signUpAdmin();
    const [theirs, old, own] = [
      await makeOutfit(creator, "pending"),
      await makeOutfit(creator, "pending"),
      await makeOutfit(creator, "pending"),
    ];
    await decide(other, theirs, true);
    await decide(admin, old, true);
    const approved_at = new Date(Date.now() - 6 * 60_000).toISOString();
    expectData(await owner().from("combines").update({ approved_at }).eq("id", old.id).select());
    await decide(admin, own, true);
    const made = { created_by_admin: true, main_image: "/a.png" };
    expectData(await owner().from("combines").update(made).eq("id", own.id).select());

    expect(expectData(await withdraw(admin, theirs, old, own))).toEqual([]);
    expect(await Promise.all([theirs, old, own].map(statusOf))).toEqual(Array(3).fill("approved"));
    expectData(
      await owner()
        .from("combines")
        .delete()
        .in(
          "id",
          [theirs, old, own].map(({ id }) => id),
        ),
    );
  });

  test("is refused to visitors and users, and changes nothing", async () => {
    const outfit = await makeOutfit(creator, "pending");
    await decide(admin, outfit, false);

    expectRefused(
      await visitor().rpc("withdraw_reviews", { combine_ids: [outfit.id] }),
      401,
      "42501",
      /permission denied for function/,
    );
    expectRefused(await withdraw(creator, outfit), 403, "42501", /Only an administrator/);
    expect(await statusOf(outfit)).toBe("rejected");
  });
});

describe("combine_reviews", () => {
  const history = async (outfit: Outfit) =>
    expectData(
      await owner()
        .from("combine_reviews")
        .select("decision, reason, decided_by, name, item_ids")
        .eq("combine_id", outfit.id)
        .order("decided_at"),
    );
  const decide = async (outfit: Outfit, approve: boolean, reason?: string) =>
    expectData(
      await admin.client.rpc("review_combine", { combine_id: outfit.id, approve, reason }),
    );

  test("keeps every decision with the outfit as it was decided about", async () => {
    const resubmitter = await signUp();
    await uploadTrainingPhotos(resubmitter);
    const item = await makeItem();
    const outfit = await makeOutfit(resubmitter, "pending");
    await decide(outfit, false, "Too dark");
    const changed = { name: `${outfit.name} II`, item_ids: [item.id] };
    const own = resubmitter.client.from("combines");
    expectData(await own.update(changed).eq("id", outfit.id).select());
    expect(await statusOf(outfit)).toBe("pending");
    await decide(outfit, true);

    const { name, item_ids } = outfit;
    const seen = { decided_by: admin.id };
    expect(await history(outfit)).toEqual([
      { ...seen, decision: "rejected", reason: "Too dark", name, item_ids },
      { ...seen, decision: "approved", reason: null, ...changed },
    ]);
    expectData(await owner().from("combines").delete().eq("id", outfit.id).select());
    expect(await history(outfit)).toEqual([]);
  });

  test("loses a decision that is withdrawn, and that one only", async () => {
    const outfit = await makeOutfit(creator, "pending");
    await decide(outfit, false, "First");
    const again = { status: "pending" };
    expectData(await owner().from("combines").update(again).eq("id", outfit.id).select());
    await decide(outfit, false, "Second");

    expectData(await admin.client.rpc("withdraw_reviews", { combine_ids: [outfit.id] }));

    expect(await history(outfit)).toMatchObject([{ reason: "First" }]);
  });

  test("has no entry for what administrators publish themselves", async () => {
    const made = expectData(
      await admin.client
        .from("combines")
        .insert({ name: uniqueName("Own"), main_image: "/a.png" })
        .select()
        .single<Outfit>(),
    );
    await admin.client.from("combines").update({ status: "rejected" }).eq("id", made.id);

    expect(await history(made)).toEqual([]);
    expectData(await owner().from("combines").delete().eq("id", made.id).select());
  });

  test("is written by nobody, and read by administrators alone", async () => {
    const outfit = await makeOutfit(creator, "pending");
    await decide(outfit, false, "Blurred");
    const forged = { combine_id: outfit.id, decision: "approved", name: "Forged", gender: "men" };
    const lists = { item_ids: [], outfit_styles: [], colors: [] };

    for (const { client } of [creator, admin]) {
      const table = () => client.from("combine_reviews");
      for (const attempt of [
        await table().insert({ ...forged, ...lists }),
        await table().update({ reason: "Fine" }).eq("combine_id", outfit.id),
        await table().delete().eq("combine_id", outfit.id),
      ]) {
        expectRefused(attempt, 403, "42501", /permission denied for table/);
      }
    }
    const read = (client: Person["client"]) =>
      client.from("combine_reviews").select("reason").eq("combine_id", outfit.id);
    expect(expectData(await read(creator.client))).toEqual([]);
    expectRefused(await read(visitor()), 401, "42501", /permission denied for table/);
    expect(expectData(await read(admin.client))).toEqual([{ reason: "Blurred" }]);
  });
});
