// The settings of the site: who changes them, and that the auth service and the database enforce them.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  type Item,
  makeItem,
  makeOutfit,
  type Outfit,
  readOutfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, type Person, password, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectNoRows, expectRefused } from "../support/expectations.ts";

interface Settings {
  site_name: string;
  registration_open: boolean;
  review_required: boolean;
}

let user: Person;
let admin: Person;
let demoted: Person;
let item: Item;

beforeAll(async () => {
  user = await signUp();
  admin = await signUpAdmin();
  demoted = await signUpAdmin();
  // The token was given to an administrator and is still valid.
  expectData(await owner().from("profiles").update({ role: "user" }).eq("id", demoted.id));
  item = await makeItem();
  await uploadTrainingPhotos(user);
});

const columns = "site_name, registration_open, review_required";

async function readSettings(): Promise<Settings> {
  return expectData(await owner().from("site_settings").select(columns).single<Settings>());
}

function change(person: Person, values: Partial<Settings>) {
  return person.client.from("site_settings").update(values).eq("id", true).select(columns);
}

/** Runs a test under other settings, which an administrator sets, and brings the former ones back. */
async function withSettings(values: Partial<Settings>, run: () => Promise<void>): Promise<void> {
  const before = await readSettings();
  expect(expectData(await change(admin, values))).toMatchObject([values]);
  try {
    await run();
  } finally {
    expectData(await owner().from("site_settings").update(before).eq("id", true));
  }
}

function submit(person: Person, extra: Record<string, unknown> = {}) {
  return person.client
    .from("combines")
    .insert({ user_id: person.id, name: uniqueName("Outfit"), item_ids: [item.id], ...extra })
    .select()
    .single<Outfit>();
}

describe("site_settings", () => {
  test("are read by everybody and changed by administrators only", async () => {
    const before = await readSettings();
    const values = { site_name: "Taken over", registration_open: false, review_required: false };

    expect(expectData(await visitor().from("site_settings").select(columns))).toEqual([before]);
    expectRefused(
      await visitor().from("site_settings").update(values).eq("id", true).select(),
      401,
      "42501",
      /permission denied for table site_settings/,
    );
    expectNoRows(await change(user, values));
    expectNoRows(await change(demoted, values));
    expect(await readSettings()).toEqual(before);
  });

  test("stay one row, with a time that the server sets", async () => {
    const added = await admin.client.from("site_settings").insert({ id: true }).select();
    const deleted = await admin.client.from("site_settings").delete().eq("id", true).select();
    const dated = await admin.client
      .from("site_settings")
      .update({ updated_at: "2020-01-01T00:00:00Z" })
      .eq("id", true)
      .select();
    const second = await owner().from("site_settings").insert({ id: false }).select();

    for (const response of [added, deleted, dated]) {
      expectRefused(response, 403, "42501", /permission denied for table site_settings/);
    }
    expectRefused(second, 400, "23514", /site_settings_one_row/);
    expect(expectData(await owner().from("site_settings").select("id"))).toEqual([{ id: true }]);
  });

  test.each(["A", "x".repeat(41), " Spaced ", "Two\nlines"])(
    "refuse %j as name of the site",
    async (site_name) => {
      expectRefused(await change(admin, { site_name }), 400, "23514", /site_settings_site_name/);
    },
  );

  test("name the pages, without changing names that rows have", async () => {
    const read = async (path: string) => expectData(await visitor().rpc("page_meta", { path }));
    const outfit = await makeOutfit(user, "approved");
    expectData(await owner().from("combines").update({ name: "A Lookbook" }).eq("id", outfit.id));
    const path = `/look/${outfit.id}`;
    expect(await read("/auth")).not.toHaveProperty("data");

    await withSettings({ site_name: "Wardrobe & Co" }, async () => {
      expect(await read("/")).toMatchObject({
        title: "Wardrobe & Co · Pre-made outfits for you",
        data: { site: { name: "Wardrobe & Co", registration_open: true } },
      });
      expect((await read(path)).title).toBe("A Lookbook · Wardrobe & Co");
      expect((await read("/look/no-such-outfit")).title).toBe("Outfit not found · Wardrobe & Co");
      expect(await read("/robots.txt")).not.toHaveProperty("data");
    });

    expect((await read("/")).title).toBe("Lookbook · Pre-made outfits for you");
    expectData(await owner().from("combines").delete().eq("id", outfit.id));
  });
});

describe("while registration is closed", () => {
  test("nobody makes an account, by password or by mailed link", async () => {
    await withSettings({ registration_open: false }, async () => {
      const email = `closed-${randomUUID()}@lookbook.test`;

      const byPassword = await visitor().auth.signUp({ email, password });
      const byLink = await visitor().auth.signInWithOtp({ email });
      const invited = await owner().auth.admin.inviteUserByEmail(email);

      for (const { error } of [byPassword, byLink, invited]) {
        expect(error).toMatchObject({
          status: 403,
          message: "Registration is closed at the moment.",
        });
      }
      const found = expectData(await admin.client.rpc("list_users", { term: email }));
      expect(found).toEqual([]);
    });
  });

  test("people with an account sign in, and the service key still makes accounts", async () => {
    await withSettings({ registration_open: false }, async () => {
      const again = await visitor().auth.signInWithPassword({ email: user.email, password });
      const made = await owner().auth.admin.createUser({
        email: `made-${randomUUID()}@lookbook.test`,
        password,
        email_confirm: true,
      });

      expect(again.data.user?.id).toBe(user.id);
      expect(made.error).toBeNull();
    });
    expect((await signUp()).id).toBeTruthy();
  });
});

describe("while no review is required", () => {
  test("submissions are published at once, in the creator's own name only", async () => {
    await withSettings({ review_required: false }, async () => {
      const outfit = expectData(await submit(user, { status: "pending", created_by_admin: true }));
      const forged = await submit(user, { user_id: admin.id });
      const incomplete = await submit(demoted);

      expect(outfit).toMatchObject({
        status: "approved",
        created_by_admin: false,
        approved_by: null,
      });
      expect(outfit.approved_at).not.toBeNull();
      expectRefused(forged, 403, "42501", /row-level security/);
      expectRefused(incomplete, 400, "23514", /exactly three training photos/);
      const seen = expectData(await visitor().from("combines").select("id").eq("id", outfit.id));
      expect(seen).toHaveLength(1);
      expectData(await owner().from("combines").delete().eq("id", outfit.id));
    });

    const waiting = expectData(await submit(user, { status: "approved" }));
    expect(waiting.status).toBe("pending");
  });

  test("what waits goes on waiting, and a rejected outfit waits again", async () => {
    const waiting = expectData(await submit(user));
    const rejected = await makeOutfit(user, "rejected");

    await withSettings({ review_required: false }, async () => {
      for (const { id } of [waiting, rejected]) {
        expectData(
          await user.client
            .from("combines")
            .update({ name: uniqueName("Edited") })
            .eq("id", id)
            .select()
            .single(),
        );
        expect((await readOutfit(id)).status).toBe("pending");
      }
    });
  });
});
