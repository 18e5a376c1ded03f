// Two people at one row: an update that sends the version which it has read is refused when the row has another one by now.

import { beforeAll, describe, expect, test } from "vitest";
import {
  expectData,
  fetchRows,
  makeItem,
  makeOutfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { owner, type Person, signUp, signUpAdmin } from "../support/clients.ts";
import { runSql } from "../support/database.ts";

let admin: Person;
let person: Person;

beforeAll(async () => {
  [admin, person] = await Promise.all([signUpAdmin(), signUp()]);
  await uploadTrainingPhotos(person);
});

interface Versioned {
  id: string;
  version: number;
}

/** Makes a row of the table. */
async function made(table: string, row: Record<string, unknown>): Promise<string> {
  const inserted = await owner().from(table).insert(row).select("id").single<{ id: string }>();
  return expectData(inserted).id;
}

const category = () => made("categories", { name: uniqueName("Category") });

/** Each table whose rows people edit: who edits it, a row, and two columns. */
const edited: Record<string, () => Promise<[Person, string, string, string]>> = {
  brands: async () => [
    admin,
    await made("brands", { name: uniqueName("Brand") }),
    "description",
    "meta_description",
  ],
  categories: async () => [admin, await category(), "name", "icon"],
  subcategories: async () => {
    const row = { name: uniqueName("Sub"), category_id: await category() };
    return [admin, await made("subcategories", row), "name", "name"];
  },
  colors: async () => [
    admin,
    await made("colors", { name: uniqueName("Color"), hex_code: "#102030" }),
    "description",
    "meta_description",
  ],
  styles: async () => [
    admin,
    await made("styles", { name: uniqueName("Style") }),
    "description",
    "meta_description",
  ],
  outfit_styles: async () => [
    admin,
    await made("outfit_styles", { name: uniqueName("Style") }),
    "description",
    "meta_description",
  ],
  items: async () => [admin, (await makeItem()).id, "description", "meta_description"],
  combines: async () => [person, (await makeOutfit(person, "pending")).id, "name", "description"],
  profiles: async () => [person, person.id, "bio", "full_name"],
};

test("every table whose rows people edit in a form compares versions before anything else", async () => {
  const rows = await runSql<{ name: string; is_first: boolean }>(`
    select distinct on (c.relname) c.relname as name, t.tgname = c.relname || '_a_check_version' as is_first
    from pg_trigger t join pg_class c on c.oid = t.tgrelid
    where c.relnamespace = 'public'::regnamespace and not t.tgisinternal
      -- Before, for each row, on update.
      and t.tgtype & 2 = 2 and t.tgtype & 1 = 1 and t.tgtype & 16 = 16
      and c.relname in (select relname from pg_class k join pg_trigger v on v.tgrelid = k.oid where v.tgname like '%check_version')
    order by c.relname, t.tgname`);

  expect(rows).toEqual(
    [...Object.keys(edited), "site_settings"].sort().map((name) => ({ name, is_first: true })),
  );
});

describe.each(Object.keys(edited))("a row of %s", (table) => {
  const read = async (who: Person, id: string): Promise<Versioned> =>
    expectData(await who.client.from(table).select("id, version").eq("id", id).single<Versioned>());

  test("is saved by the first of two people, and the second is told that there is a newer version", async () => {
    const [who, id, column, other] = await (edited[table] ?? (() => Promise.reject()))();
    const { version } = await read(who, id);
    const save = (values: object) =>
      who.client.from(table).update(values).eq("id", id).select("version").maybeSingle<Versioned>();
    const value = table === "categories" && column === "icon" ? "" : uniqueName("First");

    const first = expectData(await save({ [column]: value, version }));
    const second = await save({ [other]: uniqueName("Second"), version });

    expect(first?.version).toBe(version + 1);
    expect(second.status).toBe(409);
    expect(second.error?.code).toBe("PT409");
    expect(second.error?.hint).toContain('leave out "version"');
    // Nothing of the row: PostgreSQL writes the details of an error into its log.
    expect(JSON.parse(second.error?.details ?? "")).toEqual({ version: version + 1 });
    expect(await fetchRows(table, "id", id)).toMatchObject([{ [column]: value }]);

    // A writer that knows nothing of versions.
    expectData(
      await owner()
        .from(table)
        .update({ [column]: uniqueName("Third") })
        .eq("id", id)
        .select("id"),
    );
    expect((await read(who, id)).version).toBe(version + 2);
  });
});

test("settings of the site are saved with their version by administrators", async () => {
  const read = () => admin.client.from("site_settings").select("site_name, version").single();
  const settings = expectData(await read());
  const save = () =>
    admin.client.from("site_settings").update(settings).eq("id", true).select("id");

  expect((await save()).data).toHaveLength(1);
  const again = await save();

  expect(again.status).toBe(409);
  const { version } = expectData(await read());
  expect(JSON.parse(again.error?.details ?? "")).toEqual({ version });
});

test("a save of a row that the person may not change is told nothing of its version", async () => {
  const { id } = await makeOutfit(person, "pending");
  await owner().from("combines").update({ status: "approved", approved_by: admin.id }).eq("id", id);
  const stranger = await signUp();

  const approved = await person.client
    .from("combines")
    .update({ name: "Mine", version: -1 })
    .eq("id", id)
    .select("id");
  const foreign = await stranger.client
    .from("profiles")
    .update({ bio: "Theirs", version: -1 })
    .eq("id", person.id)
    .select("id");

  // Neither may be updated by them, so there is nothing to compare.
  expect([approved.data, approved.error]).toEqual([[], null]);
  expect([foreign.data, foreign.error]).toEqual([[], null]);
});

test("a version that a client has chosen leaves a row that can be changed", async () => {
  const id = crypto.randomUUID();
  const row = { id, name: uniqueName("Brand"), version: 2_147_483_647 };
  expectData(await admin.client.from("brands").insert(row).select("id"));

  const saved = await admin.client
    .from("brands")
    .update({ description: "Changed", version: 2_147_483_647 })
    .eq("id", id)
    .select("version");

  expect(saved.data).toEqual([{ version: 1 }]);
});

test("two saves at the same moment: one of them wins, the other is told", async () => {
  const id = await made("brands", { name: uniqueName("Brand") });
  const save = (description: string) =>
    admin.client.from("brands").update({ description, version: 1 }).eq("id", id).select("id");

  const answers = await Promise.all([save("One"), save("Two"), save("Three")]);

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
});
