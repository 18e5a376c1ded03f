// The permissions on every table, function and bucket, tried by a visitor, a user, another creator, an administrator, a
// former administrator and an administrator whose token has expired. A table, function or bucket that is missing here fails
// the test, so a migration that adds one must be listed here.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import {
  type Actor,
  type Attackers,
  actors,
  admins,
  everybody,
  inOrder,
  makeAttackers,
  nobody,
  signedIn,
  whoSucceeds,
} from "../support/attackers.ts";
import {
  expectData,
  fetchRows,
  type Item,
  makeItem,
  makeOutfit,
  type Outfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { anonKey, localKey, owner, type Person, signUp } from "../support/clients.ts";
import { expectAllowed } from "../support/expectations.ts";
import { picture, png, storedFiles } from "../support/files.ts";

let clients: Attackers["clients"];
let ids: Attackers["ids"];
let victim: Person;
let item: Item;
let published: Outfit;
let waiting: Outfit;
let rejectedBefore: Outfit;

beforeAll(async () => {
  ({ clients, ids } = await makeAttackers());
  victim = await signUp();
  item = await makeItem();
  published = await makeOutfit(victim, "approved");
  waiting = await makeOutfit(victim, "pending");
  rejectedBefore = await makeOutfit(victim, "pending");
  const rejected = owner()
    .from("combines")
    .update({ status: "rejected" })
    .eq("id", rejectedBefore.id);
  expectData(await rejected.select());
  expectData(
    await owner()
      .from("combines")
      .insert({
        user_id: ids.creator,
        name: uniqueName("Own"),
        item_ids: [item.id],
        status: "approved",
      })
      .select(),
  );
  await uploadTrainingPhotos(victim);
  for (const table of ["likes", "bookmarks"]) {
    expectData(
      await owner().from(table).insert({ user_id: victim.id, combine_id: published.id }).select(),
    );
  }
  [collectionId, styleId] = [await makeCollection(), await makeStyle()];
  const told = { user_id: victim.id, combine_id: waiting.id, kind: "rejected" };
  expectData(await owner().from("notifications").insert(told).select());
});

interface TableRule {
  table: string;
  /** Distinguishes the row when a table has several. */
  about?: string;
  /** Makes a row, or names one that the preparation made: column and value that find it. */
  row: () => Promise<[column: string, value: string]>;
  /** A row of the victim, or without owner. */
  insert: () => Record<string, unknown>;
  update: Record<string, unknown>;
  may: Record<"read" | "insert" | "update" | "delete", readonly Actor[]>;
}

const changedByAdmins = { read: everybody, insert: admins, update: admins, delete: admins };
const untouchable = { read: nobody, insert: nobody, update: nobody, delete: nobody };

/** A table of the catalogue whose rows need a name only, or the named columns beside it. */
function catalogueRule(
  table: string,
  columns: () => Record<string, unknown> = () => ({}),
): TableRule {
  const insert = () => ({ name: uniqueName("Row"), ...columns() });
  const row = async (): Promise<[string, string]> => {
    const made = expectData(await owner().from(table).insert(insert()).select("id").single());
    return ["id", made.id];
  };
  return { table, row, insert, update: { name: uniqueName("Changed") }, may: changedByAdmins };
}

async function makeCategory(): Promise<string> {
  const name = uniqueName("Category");
  const made = expectData(await owner().from("categories").insert({ name }).select("id").single());
  return made.id;
}

let categoryId: string;
let collectionId: string;
let styleId: string;

async function makeCollection(): Promise<string> {
  const row = { user_id: victim.id, name: uniqueName("Collection"), is_shared: true };
  return expectData(await owner().from("collections").insert(row).select("id").single()).id;
}

async function makeStyle(): Promise<string> {
  const row = { name: uniqueName("Style") };
  return expectData(await owner().from("outfit_styles").insert(row).select("id").single()).id;
}

const outfitInsert = () => ({
  user_id: victim.id,
  name: uniqueName("Forged"),
  item_ids: [item.id],
});

const generatedPicture = () => ({
  user_id: victim.id,
  title: uniqueName("Picture"),
  input: { sources: [] },
  result_bucket: "profile-avatars",
  result_folder: `${victim.id}/generated`,
});

const tableRules: readonly TableRule[] = [
  catalogueRule("brands"),
  catalogueRule("categories"),
  catalogueRule("subcategories", () => ({ category_id: categoryId })),
  catalogueRule("colors", () => ({ hex_code: "#102030" })),
  catalogueRule("styles"),
  catalogueRule("outfit_styles"),
  catalogueRule("items", () => ({ brand_id: item.brand_id, price: 1 })),
  {
    table: "combines",
    about: "published by somebody else",
    row: async () => ["id", (await makeOutfit(victim, "approved")).id],
    insert: outfitInsert,
    update: { name: "Changed by another" },
    may: { read: everybody, insert: nobody, update: admins, delete: admins },
  },
  {
    table: "combines",
    about: "somebody else's that waits",
    row: async () => ["id", (await makeOutfit(victim, "pending")).id],
    insert: outfitInsert,
    update: { status: "approved" },
    may: { read: admins, insert: nobody, update: admins, delete: admins },
  },
  {
    table: "combines",
    about: "somebody else's that was rejected",
    row: async () => ["id", (await makeOutfit(victim, "rejected")).id],
    insert: outfitInsert,
    update: { rejection_reason: "Changed by another" },
    may: { read: admins, insert: nobody, update: admins, delete: admins },
  },
  {
    table: "combines",
    about: "somebody else's that is unlisted",
    row: async () => {
      const { id } = await makeOutfit(victim, "approved");
      const change = owner().from("combines").update({ status: "unlisted" }).eq("id", id);
      expectData(await change.select("id"));
      return ["id", id];
    },
    insert: outfitInsert,
    update: { status: "approved" },
    may: { read: admins, insert: nobody, update: admins, delete: admins },
  },
  {
    table: "profiles",
    row: async () => ["id", victim.id],
    insert: () => ({ id: randomUUID(), username: `forged_${randomUUID().slice(0, 8)}` }),
    update: { full_name: "Changed by another" },
    may: { read: everybody, insert: nobody, update: nobody, delete: nobody },
  },
  {
    table: "likes",
    row: async () => ["user_id", victim.id],
    insert: () => ({ user_id: victim.id, product_id: item.id }),
    update: { created_at: "2020-01-01T00:00:00Z" },
    may: { ...untouchable, read: admins },
  },
  {
    table: "combine_reviews",
    row: async () => ["combine_id", rejectedBefore.id],
    insert: () => ({
      combine_id: waiting.id,
      decision: "approved",
      name: "Forged",
      gender: "women",
      item_ids: [],
      outfit_styles: [],
      colors: [],
    }),
    update: { reason: "Changed by another" },
    may: { ...untouchable, read: admins },
  },
  {
    table: "like_counts",
    row: async () => ["combine_id", published.id],
    insert: () => ({ combine_id: waiting.id, likes: 1000 }),
    update: { likes: 1000 },
    may: { ...untouchable, read: everybody },
  },
  {
    table: "bookmarks",
    row: async () => ["user_id", victim.id],
    insert: () => ({ user_id: victim.id, combine_id: waiting.id }),
    update: { created_at: "2020-01-01T00:00:00Z" },
    may: untouchable,
  },
  {
    table: "user_training_images",
    row: async () => ["user_id", victim.id],
    insert: () => ({
      user_id: victim.id,
      image_url: `training-images/${victim.id}/forged.png`,
      image_order: 1,
    }),
    update: { image_url: "training-images/elsewhere.png" },
    may: { ...untouchable, read: admins },
  },
  {
    table: "follows",
    row: async () => {
      const followed_id = (await signUp()).id;
      const made = { follower_id: victim.id, followed_id };
      expectData(await owner().from("follows").insert(made).select());
      return ["followed_id", followed_id];
    },
    insert: () => ({ follower_id: victim.id, followed_id: ids.admin }),
    update: { created_at: "2020-01-01T00:00:00Z" },
    may: untouchable,
  },
  {
    table: "blocks",
    row: async () => {
      const blocked_id = (await signUp()).id;
      const made = { blocker_id: victim.id, blocked_id };
      expectData(await owner().from("blocks").insert(made).select());
      return ["blocked_id", blocked_id];
    },
    insert: () => ({ blocker_id: victim.id, blocked_id: ids.admin }),
    update: { created_at: "2020-01-01T00:00:00Z" },
    may: untouchable,
  },
  {
    table: "collections",
    about: "that is shared",
    row: async () => ["id", await makeCollection()],
    insert: () => ({ user_id: victim.id, name: uniqueName("Forged") }),
    update: { name: "Changed by another" },
    may: untouchable,
  },
  {
    table: "collected_outfits",
    row: async () => {
      const collection_id = await makeCollection();
      const made = { collection_id, user_id: victim.id, combine_id: published.id };
      expectData(await owner().from("collected_outfits").insert(made).select());
      return ["collection_id", collection_id];
    },
    insert: () => ({
      collection_id: collectionId,
      user_id: victim.id,
      combine_id: published.id,
    }),
    update: { created_at: "2020-01-01T00:00:00Z" },
    may: untouchable,
  },
  {
    table: "liked_styles",
    row: async () => {
      const style_id = await makeStyle();
      expectData(
        await owner().from("liked_styles").insert({ user_id: victim.id, style_id }).select(),
      );
      return ["style_id", style_id];
    },
    insert: () => ({ user_id: victim.id, style_id: styleId }),
    update: { created_at: "2020-01-01T00:00:00Z" },
    may: untouchable,
  },
  {
    table: "mail_settings",
    row: async () => {
      const made = { user_id: victim.id, notices: true };
      expectData(await owner().from("mail_settings").upsert(made).select());
      return ["user_id", victim.id];
    },
    insert: () => ({ user_id: victim.id, notices: false }),
    update: { notices: false },
    may: untouchable,
  },
  {
    table: "reports",
    row: async () => {
      const made = { reporter_id: victim.id, profile_id: (await signUp()).id, reason: "spam" };
      const { data } = await owner().from("reports").insert(made).select("id").single();
      return ["id", data?.id];
    },
    insert: () => ({ reporter_id: victim.id, profile_id: ids.admin, reason: "spam" }),
    update: { state: "done" },
    may: { read: admins, insert: nobody, update: admins, delete: nobody },
  },
  {
    table: "notifications",
    row: async () => ["user_id", victim.id],
    insert: () => ({ user_id: victim.id, kind: "approved", combine_id: waiting.id }),
    update: { read_at: "2020-01-01T00:00:00Z" },
    may: untouchable,
  },
  {
    table: "generated_pictures",
    row: async () => {
      const made = { ...generatedPicture(), status: "failed" };
      const { data } = await owner().from("generated_pictures").insert(made).select("id").single();
      return ["id", data?.id];
    },
    insert: generatedPicture,
    update: { title: "Changed by another" },
    may: untouchable,
  },
  {
    table: "site_settings",
    row: async () => ["id", "true"],
    insert: () => ({ id: true }),
    // The current value, because the other tests run with these settings.
    update: { review_required: true },
    may: { ...untouchable, read: everybody, update: admins },
  },
];

describe.each(tableRules.map((rule) => ({ ...rule, title: `${rule.table} ${rule.about ?? ""}` })))(
  "$title",
  ({ table, row, insert, update, may }) => {
    test("is read and changed by those who may, and by nobody else", async () => {
      categoryId ??= await makeCategory();
      const [column, value] = await row();
      const before = await fetchRows(table, column, value);
      const counted = { count: "exact" } as const;
      const from = (actor: Actor) => clients[actor].from(table);

      const readers = await whoSucceeds(async (actor) => {
        const { data } = await from(actor).select(column).eq(column, value);
        return (data ?? []).length > 0;
      });
      const inserters = await whoSucceeds(async (actor) => {
        const { error } = await from(actor).insert(insert());
        return error === null;
      });
      const updaters = await whoSucceeds(async (actor) => {
        const { count } = await from(actor).update(update, counted).eq(column, value);
        if (actor !== "admin") expect(await fetchRows(table, column, value)).toEqual(before);
        return (count ?? 0) > 0;
      });
      const deleters = await whoSucceeds(async (actor) => {
        const { count } = await from(actor).delete(counted).eq(column, value);
        return (count ?? 0) > 0;
      });

      expect({ readers, inserters, updaters, deleters }).toEqual({
        readers: inOrder(may.read),
        inserters: inOrder(may.insert),
        updaters: inOrder(may.update),
        deleters: inOrder(may.delete),
      });
      if (may.update.length === 0 && may.delete.length === 0) {
        expect(await fetchRows(table, column, value)).toEqual(before);
      }
    });
  },
);

/** Arguments of each function, and who may call it. None of the calls that succeed changes anything. */
const functionRules: Record<
  string,
  { may: readonly Actor[]; args?: (actor: Actor) => Record<string, unknown> }
> = {
  is_admin_role: { may: everybody },
  username_available: { may: everybody, args: () => ({ candidate: "somebody_new" }) },
  reserved_usernames: { may: everybody },
  profile_by_username: { may: everybody, args: () => ({ name: victim.username }) },
  top_outfits: { may: everybody },
  search_outfits: { may: everybody, args: () => ({ term: "a" }) },
  search_items: { may: everybody, args: () => ({ term: "a" }) },
  count_found: { may: everybody, args: () => ({ term: "a" }) },
  outfits_with_item: { may: everybody, args: () => ({ item_id: item.id }) },
  outfits_with_brand: { may: everybody, args: () => ({ brand_id: item.brand_id }) },
  related_outfits: { may: everybody, args: () => ({ outfit_id: published.id }) },
  profile_numbers: { may: everybody, args: () => ({ profile_id: victim.id }) },
  frequent_words: { may: everybody },
  suggested_outfits: { may: signedIn, args: () => ({ liked_id: published.id }) },
  followed_outfits: { may: signedIn },
  outfit_saves: { may: signedIn, args: () => ({ outfit_id: published.id }) },
  // The error must be that it is nobody's outfit, and not a missing privilege.
  set_outfit_listed: {
    may: signedIn,
    args: () => ({ outfit_id: published.id, listed: false }),
  },
  unlisted_outfit: { may: everybody, args: () => ({ link: published.id }) },
  unlisted_link: { may: signedIn, args: () => ({ outfit_id: published.id }) },
  shared_collection: { may: everybody, args: () => ({ collection_id: collectionId }) },
  shared_collection_outfits: { may: everybody, args: () => ({ collection_id: collectionId }) },
  page_meta: { may: everybody, args: () => ({ path: "/" }) },
  product_number: { may: everybody, args: () => ({ item: { product_id: 1 } }) },
  export_my_data: { may: signedIn },
  // Refused for the wrong confirmation, not for the missing right.
  delete_my_account: { may: signedIn, args: () => ({ confirmation: "not mine" }) },
  // The error must be that there is no such outfit or picture, and not a missing privilege.
  request_generated_picture: { may: signedIn, args: () => ({ outfit_id: randomUUID() }) },
  retry_generated_picture: { may: signedIn, args: () => ({ picture_id: randomUUID() }) },
  cancel_generated_picture: { may: signedIn, args: () => ({ picture_id: randomUUID() }) },
  set_user_role: { may: admins, args: (actor) => roleArgs(actor) },
  set_user_role_by_email: {
    may: admins,
    args: () => ({ user_email: victim.email, new_role: "user" }),
  },
  review_combine: { may: admins, args: () => ({ combine_id: randomUUID(), approve: true }) },
  change_review: { may: admins, args: () => ({ combine_id: randomUUID(), approve: true }) },
  review_combines: { may: admins, args: () => ({ decisions: [] }) },
  withdraw_reviews: { may: admins, args: () => ({ combine_ids: [] }) },
  check_product_import: {
    may: admins,
    args: () => ({ source_url: "https://shop.example/1", product_id: 1 }),
  },
  admin_overview: { may: admins },
  admin_figures: { may: admins },
  storage_orphans: { may: admins },
  list_users: { may: admins },
  list_outfits: { may: admins },
  picture_is_used: { may: admins, args: () => ({ url: "/a.png" }) },
  edit_items: { may: admins, args: () => ({ ids: [] }) },
  delete_items: { may: admins, args: () => ({ ids: [] }) },
  count_wearing: { may: admins, args: () => ({ ids: [] }) },
  import_rows: { may: admins, args: () => ({ target: "colors", entries: [] }) },
};

/** Every actor tries to become an administrator; the administrator confirms that the victim is not one. */
function roleArgs(actor: Actor): Record<string, unknown> {
  return actor === "admin"
    ? { user_id: victim.id, new_role: "user" }
    : { user_id: ids[actor] ?? victim.id, new_role: "admin" };
}

describe("functions", () => {
  test.each(Object.entries(functionRules))("%s", async (name, { may, args }) => {
    const callers = await whoSucceeds(async (actor) => {
      const { error, status } = await clients[actor].rpc(name, args?.(actor) ?? {});
      return status !== 401 && error?.code !== "42501";
    });

    expect(callers).toEqual(inOrder(may));
  });

  test("give nobody another role", async () => {
    const roles = expectData(
      await owner()
        .from("profiles")
        .select("id, role")
        .in("id", [victim.id, ...Object.values(ids)]),
    );
    const roleOf = (id: string | undefined) => roles.find((row) => row.id === id)?.role;

    expect(roleOf(victim.id)).toBe("user");
    expect(actors.map((actor) => roleOf(ids[actor]))).toEqual([
      undefined,
      "user",
      "user",
      "user",
      "admin",
      "admin",
    ]);
    const recognised = await whoSucceeds(
      async (actor) => (await clients[actor].rpc("is_admin_role")).data === true,
    );
    expect(recognised).toEqual(["admin"]);
  });
});

/** Folder of the file that is attacked in each bucket. */
const bucketFolders: Record<string, () => string> = {
  images: () => `items/${victim.id}`,
  "brand-logos": () => victim.id,
  "category-icons": () => victim.id,
  "combine-images": () => victim.id,
  avatars: () => victim.id,
  "user-outfit-images": () => victim.id,
  "profile-avatars": () => `training-images/${victim.id}`,
};

describe.each(Object.entries(bucketFolders))("bucket %s", (bucket, folder) => {
  test("is written by administrators only, besides the owner of a folder", async () => {
    const path = `${folder()}/matrix.png`;
    expectAllowed(await owner().storage.from(bucket).upload(path, picture(), png));
    const before = await storedFiles(bucket, folder());
    const files = (actor: Actor) => clients[actor].storage.from(bucket);

    const outcomes = {
      list: await whoSucceeds(async (actor) => {
        const { data } = await files(actor).list(folder());
        return (data ?? []).length > 0;
      }),
      download: await whoSucceeds(
        async (actor) => (await files(actor).download(path)).data !== null,
      ),
      sign: await whoSucceeds(
        async (actor) => (await files(actor).createSignedUrl(path, 60)).data !== null,
      ),
      upload: await whoSucceeds(async (actor) => {
        const { error } = await files(actor).upload(`${folder()}/planted.png`, picture(), png);
        return error === null;
      }),
      replace: await whoSucceeds(async (actor) => {
        const { error } = await files(actor).upload(path, picture(), { ...png, upsert: true });
        return error === null;
      }),
      move: await whoSucceeds(async (actor) => {
        const { error } = await files(actor).move(path, `${path}.moved.png`);
        return error === null;
      }),
      remove: await whoSucceeds(async (actor) => {
        const { data } = await files(actor).remove([
          `${folder()}/planted.png`,
          `${path}.moved.png`,
        ]);
        return (data ?? []).length > 0;
      }),
    };

    // Files of public buckets are sent to everybody, whatever the token is.
    const downloaders = bucket === "profile-avatars" ? ["admin"] : [...actors];
    expect(outcomes).toEqual({
      list: ["admin"],
      download: downloaders,
      sign: ["admin"],
      upload: ["admin"],
      replace: ["admin"],
      move: ["admin"],
      remove: ["admin"],
    });
    expect(await storedFiles(bucket, folder())).toEqual(
      before.filter((name) => name !== "matrix.png"),
    );
  });
});

describe("what belongs to the service key alone", () => {
  test("is closed to administrators of the site, too", async () => {
    const callers = await whoSucceeds(async (actor) => {
      const token =
        actor === "expired"
          ? ""
          : (await clients[actor].auth.getSession()).data.session?.access_token;
      const response = await fetch(`${apiUrl()}/auth/v1/admin/users`, {
        headers: { apikey: anonKey, authorization: `Bearer ${token || anonKey}` },
      });
      const made = await clients[actor].storage.createBucket(`bucket-${actor}-${victim.id}`);
      return response.ok || made.data !== null;
    });

    expect(callers).toEqual([]);
  });
});

describe("the matrix", () => {
  test("has every table, function and bucket", async () => {
    const key = localKey("service_role");
    const response = await fetch(`${apiUrl()}/rest/v1/`, {
      headers: { apikey: key, authorization: `Bearer ${key}` },
    });
    const { paths } = (await response.json()) as { paths: Record<string, unknown> };
    const names = Object.keys(paths).map((path) => path.slice(1));
    const buckets = await owner().storage.listBuckets();

    expect([...new Set(tableRules.map(({ table }) => table))].sort()).toEqual(
      names.filter((name) => name !== "" && !name.startsWith("rpc/")).sort(),
    );
    expect(Object.keys(functionRules).sort()).toEqual(
      names.flatMap((name) => (name.startsWith("rpc/") ? [name.slice(4)] : [])).sort(),
    );
    expect(Object.keys(bucketFolders).sort()).toEqual(buckets.data?.map(({ name }) => name).sort());
  });
});
