// Columns: which of those with a default a client may write, who sets times, and what visitors do not read. A migration that adds
// a column with a default, a time or a function of whole rows fails here until somebody has decided about it.

import { beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  makeItem,
  makeOutfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { runSql } from "../support/database.ts";
import { expectRefused } from "../support/expectations.ts";
import { picture, png } from "../support/files.ts";

let person: Person;
let admin: Person;

beforeAll(async () => {
  [person, admin] = await Promise.all([signUp(), signUpAdmin()]);
  await uploadTrainingPhotos(person);
});

/** Columns of signed-in people that have a default or hold a time, and what decides about a value that was sent. */
const writable: Record<string, string> = {
  "blocks.blocker_id": "a policy",
  "bookmarks.created_at": "the server",
  "bookmarks.id": "the client",
  "bookmarks.user_id": "a policy",
  "brands.created_at": "the server",
  "brands.id": "the client",
  "brands.updated_at": "the server",
  "brands.version": "the server",
  "categories.created_at": "the server",
  "categories.id": "the client",
  "categories.version": "the server",
  "collected_outfits.user_id": "a policy",
  "collections.id": "the client",
  "collections.is_shared": "the client",
  "collections.user_id": "a policy",
  "colors.created_at": "the server",
  "colors.id": "the client",
  "colors.version": "the server",
  "combines.approved_at": "the server",
  "combines.colors": "the client",
  "combines.created_at": "the server",
  "combines.created_by_admin": "the server",
  "combines.gender": "the client",
  "combines.id": "the client",
  "combines.item_ids": "the client",
  "combines.outfit_styles": "the client",
  "combines.slug": "the client",
  "combines.status": "the server",
  "combines.updated_at": "the server",
  "combines.user_id": "a policy",
  "combines.version": "the server",
  "follows.follower_id": "a policy",
  "items.colors": "the client",
  "items.created_at": "the server",
  "items.gender": "the client",
  "items.id": "the client",
  "items.price": "the client",
  "items.slug": "the client",
  "items.updated_at": "the server",
  "items.version": "the server",
  "liked_styles.user_id": "a policy",
  "mail_settings.user_id": "a policy",
  "likes.created_at": "the server",
  "likes.id": "the client",
  "likes.user_id": "a policy",
  "notifications.read_at": "the server",
  "outfit_styles.created_at": "the server",
  "outfit_styles.id": "the client",
  "outfit_styles.name": "the client",
  "outfit_styles.version": "the server",
  "profiles.created_at": "the server",
  "profiles.role": "the server",
  "profiles.updated_at": "the server",
  "profiles.version": "the server",
  "reports.reporter_id": "a policy",
  "reports.state": "the client",
  "site_settings.registration_open": "the client",
  "site_settings.review_required": "the client",
  "site_settings.site_name": "the client",
  "site_settings.version": "the server",
  "styles.created_at": "the server",
  "styles.id": "the client",
  "styles.version": "the server",
  "subcategories.created_at": "the server",
  "subcategories.id": "the client",
  "subcategories.version": "the server",
  "user_training_images.updated_at": "the server",
  "user_training_images.user_id": "a policy",
};

test("columns that clients may leave out or that hold a time are all decided about", async () => {
  const rows = await runSql<{ name: string }>(`
    select c.relname || '.' || a.attname as name
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and (a.atthasdef or a.atttypid in ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype))
      and (has_column_privilege('authenticated', c.oid, a.attnum, 'INSERT')
        or has_column_privilege('authenticated', c.oid, a.attnum, 'UPDATE')
        or has_column_privilege('anon', c.oid, a.attnum, 'INSERT')
        or has_column_privilege('anon', c.oid, a.attnum, 'UPDATE'))`);

  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(writable).sort());
});

test("no time of a table can be infinite, whoever writes it", async () => {
  const unguarded = await runSql<{ name: string }>(`
    select c.relname || '.' || a.attname as name
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
      and a.atttypid = 'timestamptz'::regtype
      and not exists (
        select from pg_constraint k where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
          and pg_get_constraintdef(k.oid) like '%isfinite%')`);

  expect(unguarded).toEqual([]);
});

/** What a client sends for a table with times, and who sends it. */
const timed: Record<string, () => Promise<[Person, Record<string, unknown>]>> = {
  brands: async () => [admin, { name: uniqueName("Brand") }],
  categories: async () => [admin, { name: uniqueName("Category") }],
  subcategories: async () => {
    const name = uniqueName("Category");
    const made = expectData(
      await owner().from("categories").insert({ name }).select("id").single(),
    );
    return [admin, { name: uniqueName("Sub"), category_id: made.id }];
  },
  colors: async () => [admin, { name: uniqueName("Color"), hex_code: "#102030" }],
  styles: async () => [admin, { name: uniqueName("Style") }],
  outfit_styles: async () => [admin, { name: uniqueName("Style") }],
  items: async () => [admin, { name: uniqueName("Item"), brand_id: (await makeItem()).brand_id }],
  combines: async () => [
    person,
    { user_id: person.id, name: uniqueName("Outfit"), item_ids: [(await makeItem()).id] },
  ],
  likes: async () => [person, { user_id: person.id, product_id: (await makeItem()).id }],
  bookmarks: async () => [
    person,
    { user_id: person.id, combine_id: (await makeOutfit(admin, "approved")).id },
  ],
  user_training_images: async () => {
    const other = await signUp();
    const image_url = `training-images/${other.id}/one.png`;
    await other.client.storage.from("profile-avatars").upload(image_url, picture(), png);
    return [other, { user_id: other.id, image_url, image_order: 1 }];
  },
};

function rowOf(table: string): Promise<[Person, Record<string, unknown>]> {
  const make = timed[table];
  if (make === undefined) throw new Error(`no row of ${table}`);
  return make();
}

describe("a time that a client sends", () => {
  const tables = Object.keys(writable).flatMap((name) =>
    name.endsWith("_at") ? [name.split(".")] : [],
  );

  test.each(tables.filter(([table, column]) => timed[table ?? ""] && column !== "approved_at"))(
    "to insert into %s.%s is not stored",
    async (table = "", column = "") => {
      for (const sent of ["infinity", "294276-12-31T23:59:59.999999Z", "2001-01-01T00:00:00Z"]) {
        const [who, row] = await rowOf(table);
        const stored = expectData(
          await who.client
            .from(table)
            .insert({ ...row, [column]: sent })
            .select(column)
            .single<Record<string, string>>(),
        );

        const age = Date.now() - Date.parse(stored[column] ?? "");
        expect(Math.abs(age), `${sent} became ${stored[column]}`).toBeLessThan(600_000);
      }
    },
  );

  test.each(["brands", "items", "combines", "colors", "styles", "subcategories"])(
    "does not replace when a row of %s was made or changed",
    async (table) => {
      const [, row] = await rowOf(table);
      const made = expectData(
        await owner().from(table).insert(row).select("id, created_at").single(),
      );

      for (const sent of ["infinity", "294276-12-31T23:59:59.999999Z"]) {
        const moved = await admin.client
          .from(table)
          .update({ created_at: sent })
          .eq("id", made.id)
          .select("id");
        expectRefused(moved, 403, "42501", /cannot be changed/);
      }
      expect(await fetchRows(table, "id", made.id)).toMatchObject([
        { created_at: made.created_at },
      ]);
    },
  );

  test("of the far future leaves an outfit that can be reviewed and deleted all the same", async () => {
    const outfit = await makeOutfit(person, "pending");
    // As such rows were stored before times were the server's.
    await runSql(`
      alter table public.combines disable trigger user;
      update public.combines set updated_at = '294276-12-31T23:59:59.999999Z' where id = '${outfit.id}';
      alter table public.combines enable trigger user;`);

    const reviewed = await admin.client.rpc("review_combines", {
      decisions: [{ id: outfit.id, approve: false, reason: "Too dark" }],
    });

    expect(reviewed.data).toEqual([{ combine_id: outfit.id, error: null }]);
    const [row] = await fetchRows<{ updated_at: string }>("combines", "id", outfit.id);
    expect(Date.parse(row?.updated_at ?? "")).toBeLessThan(Date.now() + 60_000);
  });
});

describe("decisions about several rows", () => {
  test("are carried out one by one, although one row cannot be changed at all", async () => {
    const [good, bad] = [await makeOutfit(person, "pending"), await makeOutfit(person, "pending")];
    const refuse = `refuse_${bad.id.replaceAll("-", "")}`;
    await runSql(`
      create function private.${refuse}() returns trigger language plpgsql as
        $$ begin raise exception 'secret detail' using errcode = 'XX001'; end $$;
      create trigger ${refuse} before update on public.combines for each row
        when (old.id = '${bad.id}') execute function private.${refuse}();`);

    const decided = await admin.client.rpc("review_combines", {
      decisions: [good, bad].map(({ id }) => ({ id, approve: true })),
    });
    await runSql(`drop function private.${refuse}() cascade;`);

    const answers = expectData(decided) as { combine_id: string; error: string | null }[];
    expect(new Map(answers.map((row) => [row.combine_id, row.error]))).toEqual(
      new Map([
        [good.id, null],
        [bad.id, "This outfit could not be reviewed."],
      ]),
    );
    expect(await fetchRows("combines", "id", good.id)).toMatchObject([{ status: "approved" }]);
    expect(await fetchRows("combines", "id", bad.id)).toMatchObject([{ status: "pending" }]);
  });
});

describe("a slug", () => {
  test("is not the id of another row, sent or made from a name", async () => {
    const victim = await makeOutfit(admin, "approved");
    const row = { user_id: person.id, item_ids: victim.item_ids };

    const sent = await person.client
      .from("combines")
      .insert({ ...row, name: "Shadow", slug: victim.id })
      .select("id");
    const named = await person.client
      .from("combines")
      .insert({ ...row, name: victim.id })
      .select("slug")
      .single();

    expectRefused(sent, 400, "23514", /combines_slug_no_id/);
    expect(expectData(named).slug).toBe(`outfit-${victim.id}`);
  });
});

describe("visitors", () => {
  test.each([
    ["profiles", "role"],
    ["combines", "approved_by"],
  ])("do not read or filter by %s.%s", async (table, column) => {
    const read = await visitor().from(table).select(`id, ${column}`);
    const filtered = await visitor().from(table).select("id").not(column, "is", null);
    const sorted = await visitor().from(table).select("id").order(column);

    for (const response of [read, filtered, sorted]) {
      expectRefused(response, 401, "42501", /permission denied/);
    }
  });

  test("do not get them from functions that answer whole rows", async () => {
    const outfit = await makeOutfit(person, "approved");
    const related = await makeOutfit(admin, "approved");
    const share = { item_ids: outfit.item_ids, approved_by: admin.id };
    expectData(
      await owner().from("combines").update(share).in("id", [outfit.id, related.id]).select("id"),
    );
    const unlisted = await makeOutfit(admin, "unlisted");
    const asked = await admin.client.rpc("unlisted_link", { outfit_id: unlisted.id });
    const link = expectData(asked);
    const review = { approved_by: admin.id };
    expectData(await owner().from("combines").update(review).eq("id", unlisted.id).select("id"));
    const mark = { user_id: person.id, combine_id: outfit.id };
    expectData(await owner().from("bookmarks").insert(mark).select());
    const shelf = { user_id: person.id, name: uniqueName("Collection"), is_shared: true };
    const made = await owner().from("collections").insert(shelf).select("id").single();
    const { id: collection_id } = expectData(made);
    expectData(
      await owner()
        .from("collected_outfits")
        .insert({ ...mark, collection_id })
        .select(),
    );
    const [item] = await fetchRows<{ brand_id: string }>("items", "id", outfit.item_ids[0] ?? "");
    const calls: Record<string, Record<string, unknown>> = {
      outfits_with_brand: { brand_id: item?.brand_id },
      outfits_with_item: { item_id: outfit.item_ids[0] },
      profile_by_username: { name: admin.username },
      related_outfits: { outfit_id: outfit.id },
      search_outfits: { term: outfit.name },
      shared_collection_outfits: { collection_id },
      top_outfits: { max_results: 100 },
      unlisted_outfit: { link },
    };

    const functions = await runSql<{ proname: string }>(`
      select proname from pg_proc
      where prorettype in ('public.combines'::regtype, 'public.profiles'::regtype)
        and pronamespace = 'public'::regnamespace and has_function_privilege('anon', oid, 'EXECUTE')`);
    expect(functions.map(({ proname }) => proname).sort()).toEqual(Object.keys(calls));
    for (const [name, args] of Object.entries(calls)) {
      const rows = expectData(await visitor().rpc(name, args)) as Record<string, unknown>[];
      expect(rows.length, name).toBeGreaterThan(0);
      expect(
        rows.filter((row) => row.role ?? row.approved_by),
        name,
      ).toEqual([]);
    }
  });

  test("get pages without them", async () => {
    const outfit = await makeOutfit(admin, "approved");
    expectData(
      await owner().from("combines").update({ approved_by: admin.id }).eq("id", outfit.id).select(),
    );
    const { slug } = (await fetchRows<{ slug: string }>("combines", "id", outfit.id))[0] ?? {};
    for (const path of ["/", `/look/${slug}`, `/${admin.username}`]) {
      const page = expectData(await visitor().rpc("page_meta", { path }));
      expect(page.data, path).toBeTruthy();
      expect(JSON.stringify(page), path).not.toMatch(/approved_by|"role"/);
    }
  });
});
