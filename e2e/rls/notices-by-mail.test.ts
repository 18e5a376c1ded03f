// Notices by mail: what is unread is told once, in one mail, unless its person has switched that off. The queue itself is tested in
// crates/mail-queue.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { expectData, makeOutfit, type Outfit } from "../support/catalogue.ts";
import { type Person, signUp, signUpAdmin } from "../support/clients.ts";
import { runSql } from "../support/database.ts";
import { listMails, newestHeaders } from "../support/inbox.ts";

const patience = { timeout: 60_000, interval: 100 };

let fan: Person;
let admin: Person;

beforeAll(async () => {
  [fan, admin] = await Promise.all([signUp(), signUpAdmin()]);
});

const like = async (outfit: Outfit, person = fan) =>
  expectData(
    await person.client.from("likes").insert({ user_id: person.id, combine_id: outfit.id }),
  );

interface QueuedMail {
  minutes: number;
  last_error: string | null;
  is_done: boolean;
}

/** The mails of a person, the latest due first, with the minutes until they are due. */
const mailsOf = ({ id }: Person) =>
  runSql<QueuedMail>(
    `select round(extract(epoch from next_try_at - now()) / 60)::int as minutes, last_error, done_at is not null as is_done
     from private.notice_mails where user_id = '${id}' order by next_try_at desc`,
  );

/** Makes the mail of a person due, and waits until the server has taken it. */
async function deliver({ id }: Person): Promise<void> {
  await runSql(
    `update private.notice_mails set next_try_at = now() where user_id = '${id}' and done_at is null;
     select pg_notify('selvedge_mails', '')`,
  );
  await vi.waitFor(async () => {
    const open = `select 1 from private.notice_mails where user_id = '${id}' and done_at is null`;
    expect(await runSql(open)).toEqual([]);
  }, patience);
}

async function noticesTo(person: Person): Promise<{ Subject: string; Text: string }[]> {
  const mails = await listMails(person.email);
  return mails.filter(({ Subject }) => Subject.includes("news on") || Subject.includes("News on"));
}

describe("a notice by mail", () => {
  test("tells everything unread at once, a quarter of an hour later, and nothing twice", async () => {
    const creator = await signUp();
    const [first, second] = [
      await makeOutfit(creator, "approved"),
      await makeOutfit(creator, "approved"),
    ];
    await like(first);
    await like(second);
    expect(await mailsOf(creator)).toMatchObject([{ minutes: 15, is_done: false }]);

    await deliver(creator);
    const [mail, ...others] = await noticesTo(creator);
    expect(others).toEqual([]);
    expect(mail?.Subject).toBe("2 news on Lookbook");
    for (const { name } of [first, second]) {
      expect(mail?.Text).toContain(`likes your outfit "${name}".`);
    }
    expect(mail?.Text).toMatch(/http\S+\/notifications/);
    expect(mail?.Text).toMatch(/http\S+\/profile-settings#mails/);

    // Likes once a day; and the next mail does not repeat the first.
    await like(await makeOutfit(creator, "approved"), admin);
    const [next] = await mailsOf(creator);
    expect(next?.minutes).toBeGreaterThan(23 * 60);
    await deliver(creator);
    const mails = await noticesTo(creator);
    expect(mails.map(({ Subject }) => Subject).sort()).toEqual([
      "2 news on Lookbook",
      "News on Lookbook",
    ]);
  });

  test("of a decision does not wait for the day, and says why", async () => {
    const creator = await signUp();
    await like(await makeOutfit(creator, "approved"));
    await deliver(creator);
    const outfit = await makeOutfit(creator, "pending");
    expectData(
      await admin.client.rpc("review_combine", {
        combine_id: outfit.id,
        approve: false,
        reason: "The shoes\nare cut off.",
      }),
    );

    const [next] = await mailsOf(creator);
    expect(next).toMatchObject({ minutes: 15, is_done: false });
    await deliver(creator);
    const texts = (await noticesTo(creator)).map(({ Text }) => Text);
    expect(texts.some((text) => text.includes("was not accepted: The shoes are cut off."))).toBe(
      true,
    );
  });

  test("is one for all who like at the same moment, and earlier when there is a decision", async () => {
    const creator = await signUp();
    const outfits = await Promise.all([1, 2, 3].map(() => makeOutfit(creator, "approved")));
    const fans = await Promise.all(outfits.map(() => signUp()));
    await Promise.all(outfits.map((outfit, place) => like(outfit, fans[place])));
    expect(await mailsOf(creator)).toHaveLength(1);
    await deliver(creator);
    expect(await noticesTo(creator)).toHaveLength(1);

    const open = async () => (await mailsOf(creator)).filter(({ is_done }) => !is_done);
    await like(await makeOutfit(creator, "approved"));
    expect((await open())[0]?.minutes).toBeGreaterThan(23 * 60);
    const { id: combine_id } = await makeOutfit(creator, "pending");
    expectData(await admin.client.rpc("review_combine", { combine_id, approve: true }));
    expect(await open()).toMatchObject([{ minutes: 15 }]);
  });

  test("follows for what came while one was on its way, and keeps no text", async () => {
    const creator = await signUp();
    const mine = `where user_id = '${creator.id}' and done_at is null`;
    await like(await makeOutfit(creator, "approved"));
    // As a server takes it, and stores later that it was sent.
    await runSql(
      `update private.notice_mails set tries = 1, next_try_at = now() + interval '1 hour' ${mine}`,
    );
    await like(await makeOutfit(creator, "approved"));
    expect(await mailsOf(creator)).toMatchObject([{ is_done: false }]);
    await runSql(`update private.notice_mails set done_at = now(), last_error = null ${mine}`);

    expect(await mailsOf(creator)).toMatchObject([{ is_done: false }, { is_done: true }]);
    const kept = `select 1 from private.notice_mails
      where user_id = '${creator.id}' and coalesce(recipient, subject, body) is not null`;
    expect(await runSql(kept)).toEqual([]);
    await deliver(creator);
    expect(await noticesTo(creator)).toMatchObject([{ Subject: "News on Lookbook" }]);
  });

  test("has no names that strangers choose freely", async () => {
    const [creator, stranger] = await Promise.all([signUp(), signUp()]);
    const name = { full_name: "Confirm at https://evil.example -" };
    expectData(await stranger.client.from("profiles").update(name).eq("id", stranger.id).select());
    await like(await makeOutfit(creator, "approved"), stranger);

    await deliver(creator);
    const [mail] = await noticesTo(creator);
    expect(mail?.Text).toMatch(/^- @\S+ likes your outfit/);
    expect(mail?.Text).not.toContain("evil.example");
  });

  test("is not sent about what was read meanwhile", async () => {
    const creator = await signUp();
    await like(await makeOutfit(creator, "approved"));
    const read = creator.client.from("notifications").update({ read_at: new Date().toISOString() });
    expectData(await read.eq("user_id", creator.id));

    await deliver(creator);
    expect(await mailsOf(creator)).toMatchObject([{ last_error: "nothing to tell" }]);
    expect(await noticesTo(creator)).toEqual([]);
  });

  test("is switched off by its person, also one that waits, and on again", async () => {
    const creator = await signUp();
    const set = async (notices: boolean) => {
      const row = { user_id: creator.id, notices };
      expectData(await creator.client.from("mail_settings").upsert(row));
    };
    await like(await makeOutfit(creator, "approved"));
    await set(false);
    await like(await makeOutfit(creator, "approved"));
    await deliver(creator);
    expect(await noticesTo(creator)).toEqual([]);
    expect(await mailsOf(creator)).toMatchObject([{ last_error: "nothing to tell" }]);

    await set(true);
    await like(await makeOutfit(creator, "approved"));
    await deliver(creator);
    expect(await noticesTo(creator)).toHaveLength(1);
  });

  test("is ended by one request without a session, of its own person alone", async () => {
    const [creator, other] = await Promise.all([signUp(), signUp()]);
    for (const person of [creator, other]) {
      await like(await makeOutfit(person, "approved"));
      await deliver(person);
    }
    const headers = await newestHeaders(creator.email);
    expect(headers["List-Unsubscribe-Post"]).toEqual(["List-Unsubscribe=One-Click"]);
    const address = headers["List-Unsubscribe"]?.[0]?.replace(/^<|>$/g, "") ?? "";
    expect((await noticesTo(creator))[0]?.Text).toContain(`Unsubscribe: ${address}\n`);
    const settings = () =>
      runSql(
        `select user_id, notices from public.mail_settings where user_id in ('${creator.id}', '${other.id}')`,
      );
    // As a virus scanner opens the link.
    const page = await fetch(address);
    expect([page.status, page.headers.get("referrer-policy")]).toEqual([200, "no-referrer"]);
    expect(await page.text()).toContain('<form method="post">');
    expect(await settings()).toEqual([]);

    // As mail services send it, in either form; and nothing happens the second time.
    const form = new FormData();
    form.set("List-Unsubscribe", "One-Click");
    for (const body of [new URLSearchParams("List-Unsubscribe=One-Click"), form]) {
      expect((await fetch(address, { method: "POST", body })).status).toBe(200);
    }
    expect(await settings()).toEqual([{ user_id: creator.id, notices: false }]);
    await like(await makeOutfit(creator, "approved"), admin);
    expect(await mailsOf(creator)).toMatchObject([{ is_done: true }]);

    // A token with another person in it, and one with a single letter changed, are none.
    const token = new URL(address).searchParams.get("token") ?? "";
    expect(token).toMatch(/^[A-Za-z0-9_-]{64}$/);
    const theirs = Buffer.from(token, "base64url");
    Buffer.from(other.id.replaceAll("-", ""), "hex").copy(theirs);
    const last = token.endsWith("A") ? "B" : "A";
    for (const forged of [theirs.toString("base64url"), token.slice(0, -1) + last, `${token}A`]) {
      const answer = await fetch(address.replace(token, forged), { method: "POST" });
      expect(answer.status, forged).toBe(404);
    }
    expect(await settings()).toEqual([{ user_id: creator.id, notices: false }]);
    const kept = `select 1 from private.notice_mails where unsubscribe_token is not null and done_at is not null`;
    expect(await runSql(kept)).toEqual([]);
  });

  test("of a deleted account is ended without an error", async () => {
    const creator = await signUp();
    await like(await makeOutfit(creator, "approved"));
    await deliver(creator);
    const headers = await newestHeaders(creator.email);
    const address = headers["List-Unsubscribe"]?.[0]?.replace(/^<|>$/g, "") ?? "";
    await runSql(`delete from auth.users where id = '${creator.id}'`);

    expect((await fetch(address, { method: "POST" })).status).toBe(200);
    expect(
      await runSql(`select 1 from public.mail_settings where user_id = '${creator.id}'`),
    ).toEqual([]);
  });

  test("is not sent to an address that nobody has confirmed, nor for a deleted account", async () => {
    const creator = await signUp();
    await like(await makeOutfit(creator, "approved"));
    await runSql(`update auth.users set email_confirmed_at = null where id = '${creator.id}'`);
    await deliver(creator);
    expect(await noticesTo(creator)).toEqual([]);

    await like(await makeOutfit(creator, "approved"));
    await runSql(`delete from auth.users where id = '${creator.id}'`);
    expect(await mailsOf(creator)).toEqual([]);
  });
});

test("nobody reads or writes the queue, and the setting is in the export", async () => {
  const person = await signUp();
  expectData(
    await person.client.from("mail_settings").insert({ user_id: person.id, notices: false }),
  );
  const data = expectData(await person.client.rpc("export_my_data"));
  expect(data).toMatchObject({ mail_settings: { user_id: person.id, notices: false } });

  for (const { client } of [person, admin]) {
    const queue = client.schema("private" as "public").from("notice_mails" as "likes");
    expect((await queue.select()).error?.code).toBe("PGRST106");
    const mail = { id: randomUUID(), user_id: person.id } as never;
    expect((await queue.insert(mail)).error?.code).toBe("PGRST106");
  }
  const rights = await runSql<{ role: string }>(
    `select role from unnest(array['anon', 'authenticated']) as role
     where has_table_privilege(role, 'private.notice_mails', 'select, insert, update, delete')`,
  );
  expect(rights).toEqual([]);
  // Whoever read the key or made tokens would end the mails of all people.
  const makers = await runSql(
    `select role from unnest(array['anon', 'authenticated', 'service_role']) as role
     where has_table_privilege(role, 'private.mail_key', 'select, insert, update, delete')
       or has_function_privilege(role, 'private.unsubscribe_token(uuid)', 'execute')
       or (role <> 'service_role' and has_function_privilege(role, 'private.unsubscribe(text)', 'execute'))`,
  );
  expect(makers).toEqual([]);
});
