// What one person may ask of the others and of the server: submissions, generated pictures, files.

import http from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { apiUrl } from "../support/address.ts";
import {
  expectData,
  fetchRows,
  type Item,
  makeItem,
  makeOutfit,
  uniqueName,
  uploadTrainingPhotos,
} from "../support/catalogue.ts";
import { anonKey, owner, type Person, signUp, signUpAdmin } from "../support/clients.ts";
import { runSql } from "../support/database.ts";
import { expectAllowed, expectRefused } from "../support/expectations.ts";
import { picture, png } from "../support/files.ts";

let item: Item;

beforeAll(async () => {
  item = await makeItem();
});

async function personWithPhotos(): Promise<Person> {
  const person = await signUp();
  await uploadTrainingPhotos(person);
  return person;
}

function outfits(person: Person, number: number) {
  return Array.from({ length: number }, () => ({
    user_id: person.id,
    name: uniqueName("Flood"),
    item_ids: [item.id],
  }));
}

describe("submissions", () => {
  test("of one person wait in a number that can be reviewed, in one request or in many", async () => {
    const person = await personWithPhotos();
    const submit = (number: number) =>
      person.client.from("combines").insert(outfits(person, number)).select("id");

    expectRefused(await submit(500), 400, "23514", /Thirty of your outfits wait for review/);
    expect(await fetchRows("combines", "user_id", person.id)).toEqual([]);
    expectData(await submit(30));
    expectRefused(await submit(1), 400, "23514", /Thirty of your outfits wait for review/);
  });

  test("are limited for a day, although they are deleted again", async () => {
    const person = await personWithPhotos();
    for (const number of [30, 20]) {
      expectData(await person.client.from("combines").insert(outfits(person, number)).select("id"));
      expectAllowed(await person.client.from("combines").delete().eq("user_id", person.id));
    }

    const more = await person.client.from("combines").insert(outfits(person, 1)).select("id");

    expectRefused(more, 400, "23514", /50 outfits within a day/);
    await runSql(
      `update private.asked_for set asked_at = now() - interval '25 hours' where user_id = '${person.id}'`,
    );
    expectData(await person.client.from("combines").insert(outfits(person, 1)).select("id"));
  });

  test("of administrators are not counted", async () => {
    const admin = await signUpAdmin();
    const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";
    const rows = outfits(admin, 60).map((row) => ({ ...row, main_image: image }));

    expectData(await admin.client.from("combines").insert(rows).select("id"));
    expectAllowed(await admin.client.from("combines").delete().eq("user_id", admin.id));
  });
});

test("pictures of a person are limited for a day, although they are deleted again", async () => {
  const person = await personWithPhotos();
  const outfit = await makeOutfit(person, "pending");
  await runSql(
    `insert into private.asked_for (user_id, kind) select '${person.id}', 'picture' from generate_series(1, 29)`,
  );
  const request = () => person.client.rpc("request_generated_picture", { outfit_id: outfit.id });

  const last = expectData(await request()) as string;
  expectAllowed(await person.client.from("generated_pictures").delete().eq("id", last));

  const refused = await request();
  expectRefused(refused, 400, "23514", /30 pictures within a day/);
});

describe("files", () => {
  const filled: string[] = [];

  // The search for orphaned files, which other tests try, would find a thousand rows without a file.
  afterAll(async () => {
    await runSql(`
      set storage.allow_delete_query = 'true';
      delete from storage.objects
      where bucket_id = 'user-outfit-images' and owner_id = any ('{${filled.join()}}');
      reset storage.allow_delete_query;`);
  });

  const upload = (person: Person, name: string, options = {}) =>
    person.client.storage
      .from("avatars")
      .upload(`${person.id}/${name}`, picture(), { ...png, ...options });

  /** Fills the caller's folders, with rows alone: their bytes do not matter. */
  async function fill(person: Person, number: number, bytes: number) {
    filled.push(person.id);
    await runSql(`
      insert into storage.objects (bucket_id, name, owner_id, metadata)
      select 'user-outfit-images', '${person.id}/' || n || '.png', '${person.id}',
        jsonb_build_object('size', ${bytes}, 'mimetype', 'image/png')
      from generate_series(1, ${number}) as n`);
  }

  test.each([
    ["a thousand", 999, 10],
    ["a gibibyte", 1, 1_073_741_750],
  ])(
    "of one person are at most %s, and one that is there is replaced",
    async (_, number, bytes) => {
      const [person, other] = await Promise.all([signUp(), signUp()]);
      await fill(person, number, bytes);
      expectAllowed(await upload(person, "last.png"));

      const refused = await upload(person, "more.png");

      expect(refused.error?.message).toMatch(/Your folders are full/);
      expectAllowed(await upload(person, "last.png", { upsert: true }));
      expectAllowed(await upload(other, "first.png"));
    },
  );

  /** Begins an upload without the last bytes of its body. Returns a function that sends them and reads the status. */
  async function beginUpload(person: Person, name: string): Promise<() => Promise<number>> {
    const token = (await person.client.auth.getSession()).data.session?.access_token;
    const body = picture();
    const url = `${apiUrl()}/storage/v1/object/avatars/${person.id}/${name}`;
    const request = http.request(url, {
      method: "POST",
      agent: false,
      headers: {
        apikey: anonKey,
        authorization: `Bearer ${token}`,
        "content-type": "image/png",
        "content-length": body.length,
      },
    });
    const status = new Promise<number>((resolve, reject) => {
      request.on("error", reject);
      request.on("response", (response) => resolve(response.resume().statusCode ?? 0));
    });
    await new Promise<void>((sent) => request.write(body.subarray(0, 10), () => sent()));
    return () => {
      request.end(body.subarray(10));
      return status;
    };
  }

  test("are counted when they are stored: uploads that were begun together do not pass", async () => {
    const person = await signUp();
    await fill(person, 998, 10);
    const names = Array.from({ length: 8 }, (_, n) => `slow-${n}.png`);
    const uploads = await Promise.all(names.map((name) => beginUpload(person, name)));

    const statuses = await Promise.all(uploads.map((finish) => finish()));

    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    const [stored] = await runSql<{ count: number }>(
      `select count(*)::int as count from storage.objects where name like '${person.id}/%'`,
    );
    expect(stored?.count).toBe(1000);
  });

  test("are not stored for an account that was deleted while they were sent", async () => {
    const person = await signUp();
    const finish = await beginUpload(person, "ghost.png");

    expectAllowed(await owner().auth.admin.deleteUser(person.id));

    expect(await finish()).not.toBe(200);
    const ghost = `${apiUrl()}/storage/v1/object/public/avatars/${person.id}/ghost.png`;
    expect((await fetch(ghost)).ok).toBe(false);
  });
});

test("nothing of the site waits for a lock that every role may take and keep", async () => {
  const functions = await runSql<{ name: string }>(`
    select p.oid::regprocedure::text as name from pg_proc as p
    join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname in ('public', 'private') and p.prosrc ilike '%advisory%'
      and not exists (select from pg_depend as d where d.objid = p.oid and d.deptype = 'e')`);
  const rights = await runSql<{ role: string; name: string }>(`
    select r.rolname as role, c.relname as name
    from pg_class as c cross join pg_roles as r
    where c.oid in ('private.slug_locks'::regclass, 'private.person_locks'::regclass)
      and r.rolname in ('anon', 'authenticated', 'service_role', 'authenticator')
      and has_table_privilege(r.oid, c.oid, 'select, insert, update, delete, truncate')`);

  expect([functions, rights]).toEqual([[], []]);
});

test("outfits of one name that are made at once get slugs of their own", async () => {
  const admin = await signUpAdmin();
  const name = uniqueName("Same");
  const image = "/storage/v1/object/public/images/items/camel-overcoat.webp";

  const made = await Promise.all(
    Array.from({ length: 8 }, () =>
      admin.client
        .from("combines")
        .insert({ user_id: admin.id, name, item_ids: [item.id], main_image: image })
        .select("slug")
        .single(),
    ),
  );

  const slugs = made.map((answer) => (expectData(answer) as { slug: string }).slug);
  expect(new Set(slugs).size).toBe(8);
  expectAllowed(await admin.client.from("combines").delete().eq("user_id", admin.id));
});

/** Runs statements in one transaction that goes on to the second ones when other sessions wait for locks, or after ten seconds. */
function heldUp(first: string, second: string, waiting = 1): Promise<unknown> {
  return runSql(`do $$
    begin
      ${first};
      for turn in 1..500 loop
        exit when (select count(distinct l.pid) from pg_locks as l where not l.granted) >= ${waiting};
        perform pg_sleep(0.02);
      end loop;
      ${second};
    end $$`);
}

/** Waits until a statement of another session that contains the text is held up. */
async function untilHeldUp(text: string): Promise<void> {
  const sessions = () =>
    runSql(`
      select pid from pg_stat_activity
      where pid <> pg_backend_pid() and state = 'active' and wait_event is not null and query like '%${text}%'`);
  await expect.poll(sessions, { timeout: 20_000 }).not.toEqual([]);
}

/** Makes the rows with which requests of one person wait for each other, as earlier requests of that person do. */
async function makeLocks(person: Person): Promise<void> {
  for (const kind of ["files", "pictures", "asked_for"]) {
    await runSql(`select private.lock_person('${person.id}', '${kind}')`);
  }
}

describe("a deleted account", () => {
  test("waits for a request that counts, which then refers to the profile", async () => {
    const person = await signUp();
    await makeLocks(person);
    const request = heldUp(
      `perform private.lock_pictures('${person.id}')`,
      `perform private.count_daily('${person.id}', 'picture')`,
    );
    await untilHeldUp(`lock_pictures(''${person.id}`);

    expectAllowed(await owner().auth.admin.deleteUser(person.id));

    await request;
    const left = await runSql(`select from private.person_locks where person = '${person.id}'`);
    expect(left).toEqual([]);
  });

  test("waits for a file that is being replaced", async () => {
    const person = await signUp();
    const name = `${person.id}/face.png`;
    expectAllowed(await person.client.storage.from("avatars").upload(name, picture(), png));
    // What the storage service does at the end of an upload.
    const upload = heldUp(
      `perform from storage.objects where name = '${name}' for update`,
      `update storage.objects set metadata = metadata where name = '${name}'`,
    );
    await untilHeldUp(`name = ''${name}`);

    expectAllowed(await owner().auth.admin.deleteUser(person.id));

    await upload;
    expect(await runSql(`select from storage.objects where name = '${name}'`)).toEqual([]);
  });

  test("waits for the review of one of its outfits, which then tells its creator", async () => {
    const person = await personWithPhotos();
    const submission = { user_id: person.id, name: "Under review", item_ids: [item.id] };
    const { data: outfit } = await person.client
      .from("combines")
      .insert(submission)
      .select("id")
      .single();
    if (!outfit) throw new Error("the outfit was not stored");
    // What review_combine does, step by step.
    const review = heldUp(
      `perform from public.combines where id = '${outfit.id}' for update`,
      `insert into public.notifications (user_id, kind, combine_id) values ('${person.id}', 'approved', '${outfit.id}')`,
    );
    await untilHeldUp(`id = ''${outfit.id}`);

    expectAllowed(await owner().auth.admin.deleteUser(person.id));

    await review;
  });

  test("keeps no administrator's request waiting for a profile whose deletion waits for it", async () => {
    const admin = await signUpAdmin();
    await makeLocks(admin);
    const request = heldUp(
      `perform private.lock_pictures('${admin.id}')`,
      `perform private.count_daily('${admin.id}', 'picture')`,
    );
    await untilHeldUp(`lock_pictures(''${admin.id}`);

    expectAllowed(await admin.client.rpc("delete_my_account", { confirmation: admin.username }));

    await request;
  });

  test("and an outfit that waits for its turn end one after the other", async () => {
    const person = await personWithPhotos();
    await makeLocks(person);
    const asSubmission = `perform set_config('request.jwt.claims', '{"sub":"${person.id}"}', true)`;
    const holder = heldUp(`perform private.lock_person('${person.id}', 'asked_for')`, "null", 2);
    await untilHeldUp(`lock_person(''${person.id}`);
    const deletion = owner().auth.admin.deleteUser(person.id);
    await untilHeldUp("auth.users");
    const submission = runSql(`do $$ begin ${asSubmission};
      insert into public.combines (user_id, name, item_ids) values ('${person.id}', 'Late', '{${item.id}}'); end $$`);

    const [deleted, submitted] = await Promise.all([
      deletion,
      submission.then(
        () => "stored",
        (error: Error) => error.message,
      ),
    ]);

    await holder;
    expectAllowed(deleted);
    expect(submitted).not.toMatch(/deadlock/);
  });

  test("leaves no lock behind when it had no profile", async () => {
    const person = await signUp();
    expectAllowed(await owner().auth.admin.deleteUser(person.id, true));
    expectAllowed(await owner().auth.admin.deleteUser(person.id));

    const left = await runSql(`select from private.person_locks where person = '${person.id}'`);
    expect(left).toEqual([]);
  });
});
