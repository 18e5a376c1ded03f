// Tables and functions through the stock client, on Lookbook's data.

import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import { expectData, makeItem, makeOutfit, type Outfit, uniqueName } from "../support/catalogue.ts";
import { anonKey, client, owner, type Person, signUp, visitor } from "../support/clients.ts";

let creator: Person;
let fan: Person;
const outfits: Outfit[] = [];

beforeAll(async () => {
  creator = await signUp();
  fan = await signUp();
  for (let number = 0; number < 3; number += 1) {
    outfits.push(await makeOutfit(creator, "approved"));
  }
  expectData(
    await fan.client
      .from("likes")
      .insert([0, 1].map((index) => ({ user_id: fan.id, combine_id: outfits[index]?.id }))),
  );
});

test("rest_009 rest_016 rest_019 rows are filtered, ordered and paged", async () => {
  const { data } = await visitor()
    .from("combines")
    .select("id, name")
    .eq("user_id", creator.id)
    .order("created_at", { ascending: false })
    .range(1, 2);

  const newestFirst = outfits.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  expect(data).toEqual(newestFirst.slice(1).map(({ id, name }) => ({ id, name })));
});

test("rest_013 rest_015 lists, patterns and nested logic", async () => {
  const [first, second] = outfits;

  const { data } = await visitor()
    .from("combines")
    .select("id")
    .in(
      "id",
      outfits.map(({ id }) => id),
    )
    .or(`name.ilike.${first?.name},and(id.eq.${second?.id},status.eq.approved)`);

  expect(data?.map(({ id }) => id).sort()).toEqual([first?.id, second?.id].sort());
});

test("rest_023 rest_024 rest_031 to-one, to-many and counts are embedded", async () => {
  // Read as the fan, because likes are private.
  const { data } = await fan.client
    .from("combines")
    .select(
      "id, creator:profiles!combines_user_id_fkey(username), likes(user_id), total:likes(count)",
    )
    .eq("id", outfits[0]?.id ?? "")
    .single();

  expect(data).toEqual({
    id: outfits[0]?.id,
    creator: { username: creator.username },
    likes: [{ user_id: fan.id }],
    total: [{ count: 1 }],
  });
});

test("rest_027 an inner embed drops parents without a match", async () => {
  const { data } = await fan.client
    .from("combines")
    .select("id, likes!inner(user_id)")
    .eq("user_id", creator.id)
    .eq("likes.user_id", fan.id);

  expect(data?.map(({ id }) => id).sort()).toEqual([outfits[0]?.id, outfits[1]?.id].sort());
});

test("rest_057 rest_058 rest_059 counts, partial pages and pages beyond the end", async () => {
  const query = () =>
    visitor().from("combines").select("id", { count: "exact" }).eq("user_id", creator.id);

  const page = await query().range(0, 1);
  expect([page.status, page.count, page.data?.length]).toEqual([206, 3, 2]);
  const beyond = await query().range(10, 20);
  expect([beyond.status, beyond.error?.code]).toEqual([416, "PGRST103"]);
  const head = await visitor()
    .from("combines")
    .select("id", { count: "exact", head: true })
    .eq("user_id", creator.id);
  expect([head.count, head.data]).toEqual([3, null]);
});

test("rest_037 rest_038 rest_039 one row and many rows are inserted", async () => {
  const brand = (await makeItem()).brand_id;
  const names = [uniqueName("Bulk"), uniqueName("Bulk")];

  const silent = await owner()
    .from("colors")
    .insert({ name: uniqueName("Color"), hex_code: "#123456" });
  expect([silent.status, silent.data]).toEqual([201, null]);
  const many = await owner()
    .from("items")
    .insert(
      [
        { name: names[0], brand_id: brand, price: 10 },
        { name: names[1], brand_id: brand },
      ],
      { defaultToNull: false },
    )
    .select("name, price, brands(id)")
    .order("price", { ascending: false });

  expect(many.error).toBeNull();
  expect(many.data).toEqual([
    { name: names[0], price: 10, brands: { id: brand } },
    { name: names[1], price: 0, brands: { id: brand } },
  ]);
});

test("rest_045 rest_046 rows are upserted on a named key", async () => {
  const bookmark = { user_id: fan.id, combine_id: outfits[2]?.id };
  const key = { onConflict: "user_id,combine_id" };

  const made = await fan.client
    .from("bookmarks")
    .upsert(bookmark, { ...key, ignoreDuplicates: true })
    .select();
  const again = await fan.client
    .from("bookmarks")
    .upsert(bookmark, { ...key, ignoreDuplicates: true })
    .select();

  expect([made.status, made.data?.length]).toEqual([201, 1]);
  expect([again.status, again.data]).toEqual([201, []]);
});

test("rest_048 rest_050 rows are updated and deleted under row-level security", async () => {
  const bio = uniqueName("I like");
  const own = await fan.client.from("profiles").update({ bio }).eq("id", fan.id).select("bio");
  const foreign = await fan.client
    .from("profiles")
    .update({ bio })
    .eq("id", creator.id)
    .select("bio");
  expect([own.data, foreign.data]).toEqual([[{ bio }], []]);

  const gone = await fan.client
    .from("likes")
    .delete()
    .eq("user_id", fan.id)
    .eq("combine_id", outfits[1]?.id ?? "")
    .select("combine_id");
  expect(gone.data).toEqual([{ combine_id: outfits[1]?.id }]);
});

test("rest_054 single refuses zero rows and maybeSingle returns null", async () => {
  const outfit = () => visitor().from("combines").select("id").eq("id", randomUUID());
  const none = await outfit().single();
  const maybe = await outfit().maybeSingle();

  expect([none.status, none.error?.code]).toEqual([406, "PGRST116"]);
  expect([maybe.error, maybe.data]).toEqual([null, null]);
});

test("rest_063 rest_065 functions are called", async () => {
  expect((await creator.client.rpc("is_admin_role")).data).toBe(false);
  expect((await creator.client.rpc("is_admin_role", undefined, { get: true })).data).toBe(false);
});

test("rest_022 rest_066 rest_044 errors have PostgREST's and PostgreSQL's codes", async () => {
  const table = await visitor().from("combine").select();
  expect([table.status, table.error?.code]).toEqual([404, "PGRST205"]);
  const fn = await visitor().rpc("is_admin_rolle");
  expect([fn.status, fn.error?.code]).toEqual([404, "PGRST202"]);
  const like = { user_id: fan.id, combine_id: outfits[0]?.id };
  const twice = await fan.client.from("likes").insert(like);
  expect([twice.status, twice.error?.code]).toEqual([409, "23505"]);
});

test("gw_010 rest_007 a token signed with another secret is refused", async () => {
  const header = btoa('{"alg":"HS256","typ":"JWT"}').replaceAll("=", "");
  const body = btoa('{"role":"service_role"}').replaceAll("=", "");
  const forged = client(`${header}.${body}.c2lnbmF0dXJl`);

  const { status, error } = await forged.from("combines").select("id");

  expect([status, error?.code]).toEqual([401, "PGRST301"]);
});

test("gw_004 the query parameter apikey is not a filter", async () => {
  const response = await fetch(`${apiUrl()}/rest/v1/colors?select=id&limit=1&apikey=anything`);

  expect(response.status).toBe(200);
});

test("lists are compressed for clients that accept it", async () => {
  const list = `${apiUrl()}/rest/v1/items?select=*&limit=50`;
  const ask = (coding: string) =>
    fetch(list, { headers: { apikey: anonKey, "accept-encoding": coding } });

  const [plain, brotli, gzip] = await Promise.all(["identity", "br", "gzip"].map(ask));

  const codings = [plain, brotli, gzip].map((response) =>
    response?.headers.get("content-encoding"),
  );
  expect(codings).toEqual([null, "br", "gzip"]);
  const bodies = await Promise.all([plain, brotli, gzip].map((response) => response?.json()));
  expect(bodies[0]).toHaveLength(50);
  expect(bodies[1]).toEqual(bodies[0]);
  expect(bodies[2]).toEqual(bodies[0]);
});
