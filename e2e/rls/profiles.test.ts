// Row-level security of profiles and roles. profiles.role alone decides who is an administrator.

import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { expectData, fetchRows } from "../support/catalogue.ts";
import { owner, type Person, password, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectAllowed, expectNoRows, expectRefused } from "../support/expectations.ts";

interface Profile {
  id: string;
  username: string | null;
  full_name: string | null;
  bio: string | null;
  role: string;
  created_at: string;
}

let attacker: Person;
let victim: Person;
let admin: Person;

beforeAll(async () => {
  attacker = await signUp();
  victim = await signUp();
  admin = await signUpAdmin();
});

async function profile(person: Person): Promise<Profile> {
  const [row] = await fetchRows<Profile>("profiles", "id", person.id);
  if (!row) {
    throw new Error("the profile is gone");
  }
  return row;
}

describe("raising the caller's own role", () => {
  test("by update is refused", async () => {
    const response = await attacker.client
      .from("profiles")
      .update({ role: "admin" })
      .eq("id", attacker.id)
      .select();

    expectRefused(response, 403, "42501", /role of a profile cannot be changed/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("by upsert is refused", async () => {
    const response = await attacker.client
      .from("profiles")
      .upsert({ id: attacker.id, username: attacker.username, role: "admin" })
      .select();

    expectRefused(response, 403, "42501", /starts with the role "user"/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("by inserting a fresh profile is refused", async () => {
    const fresh = await signUp();
    expectData(await owner().from("profiles").delete().eq("id", fresh.id).select().single());

    const response = await fresh.client
      .from("profiles")
      .insert({ id: fresh.id, username: fresh.username, role: "admin" })
      .select();

    expectRefused(response, 403, "42501", /starts with the role "user"/);
    expect(await fetchRows("profiles", "id", fresh.id)).toEqual([]);
  });

  test("by sign-up metadata has no effect", async () => {
    const person = await signUp({ role: "admin", is_admin: true });

    const isAdmin = expectData(await person.client.rpc("is_admin_role"));

    expect(isAdmin).toBe(false);
    expect((await profile(person)).role).toBe("user");
  });

  test("by changed metadata has no effect", async () => {
    const person = await signUp();
    const updated = await person.client.auth.updateUser({ data: { role: "admin" } });
    await person.client.auth.refreshSession();

    const isAdmin = expectData(await person.client.rpc("is_admin_role"));

    expectAllowed(updated);
    expect(isAdmin).toBe(false);
  });

  test("by set_user_role is refused", async () => {
    const response = await attacker.client.rpc("set_user_role", {
      user_id: attacker.id,
      new_role: "admin",
    });

    expectRefused(response, 403, "42501", /Only an administrator may change roles/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("by set_user_role_by_email is refused", async () => {
    const response = await attacker.client.rpc("set_user_role_by_email", {
      user_email: attacker.email,
      new_role: "admin",
    });

    expectRefused(response, 403, "42501", /Only an administrator may change roles/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("is refused to visitors, whatever user they name", async () => {
    const response = await visitor().rpc("set_user_role", {
      user_id: attacker.id,
      new_role: "admin",
    });

    expectRefused(response, 401, "42501", /permission denied for function set_user_role/);
  });

  test("to an unknown role is refused to administrators too", async () => {
    const response = await admin.client.rpc("set_user_role", {
      user_id: victim.id,
      new_role: "owner",
    });

    expectRefused(response, 400, "23514", /profiles_role_known/);
    expect((await profile(victim)).role).toBe("user");
  });
});

describe("calls that the site makes", () => {
  test("the upsert at sign-in with role user updates the caller's profile", async () => {
    const response = await attacker.client
      .from("profiles")
      .upsert({
        id: attacker.id,
        username: attacker.username,
        full_name: "Renamed",
        avatar_url: "",
        role: "user",
      })
      .select()
      .single();

    expectAllowed(response);
    expect(await profile(attacker)).toMatchObject({ full_name: "Renamed", role: "user" });
  });

  test("the upsert at sign-in does not demote an administrator", async () => {
    const response = await admin.client
      .from("profiles")
      .upsert({ id: admin.id, username: admin.username, role: "user" })
      .select()
      .single();

    expectAllowed(response);
    expect((await profile(admin)).role).toBe("admin");
  });

  test("an administrator grants and revokes the role by id and by e-mail", async () => {
    const person = await signUp();

    const raised = expectData(
      await admin.client.rpc("set_user_role_by_email", {
        user_email: ` ${person.email.toUpperCase()} `,
        new_role: "admin",
      }),
    );
    const isAdmin = expectData(await person.client.rpc("is_admin_role"));
    const lowered = expectData(
      await admin.client.rpc("set_user_role", { user_id: person.id, new_role: "user" }),
    );
    const isStillAdmin = expectData(await person.client.rpc("is_admin_role"));

    expect([raised.role, isAdmin, lowered.role, isStillAdmin]).toEqual([
      "admin",
      true,
      "user",
      false,
    ]);
  });

  test("sign-up with a taken username succeeds with the next free one", async () => {
    const person = await signUp({ username: victim.username.toUpperCase() });

    expect((await profile(person)).username).toBe(`${victim.username.toUpperCase()}1`);
  });

  test.each([
    ["a reserved word", "admin"],
    ["path tricks", "../../etc"],
    ["one letter", "x"],
    ["six hundred letters", "a".repeat(600)],
    ["no text at all", { nested: ["object"] }],
  ])("sign-up survives %s as username", async (_, username) => {
    const person = await signUp({ username });

    const { username: given } = await profile(person);
    expect(given).toMatch(/^[A-Za-z0-9_][A-Za-z0-9._-]{2,49}$/);
    expect(given).not.toBe("admin");
  });
});

describe("other people's profiles", () => {
  test("cannot be updated", async () => {
    const response = await attacker.client
      .from("profiles")
      .update({ bio: "defaced" })
      .eq("id", victim.id)
      .select();

    expectNoRows(response);
    expect((await profile(victim)).bio).toBeNull();
  });

  test("cannot be overwritten by upsert", async () => {
    const response = await attacker.client
      .from("profiles")
      .upsert({ id: victim.id, username: victim.username, full_name: "Defaced", role: "user" })
      .select();

    expectRefused(response, 403, "42501", /row-level security policy/);
    expect((await profile(victim)).full_name).toBe("A Person");
  });

  test("cannot be taken over by changing the caller's id", async () => {
    const response = await attacker.client
      .from("profiles")
      .update({ id: victim.id })
      .eq("id", attacker.id)
      .select();

    expectRefused(response, 403, "42501", /row-level security policy/);
  });

  test("cannot be deleted, and neither can the caller's own", async () => {
    const response = await attacker.client.from("profiles").delete().eq("id", victim.id).select();

    expectRefused(response, 403, "42501", /permission denied for table profiles/);
    expect((await profile(victim)).id).toBe(victim.id);
  });

  test("cannot be written by visitors", async () => {
    const response = await visitor()
      .from("profiles")
      .update({ bio: "defaced" })
      .eq("id", victim.id)
      .select();

    expectRefused(response, 401, "42501", /permission denied for table profiles/);
  });

  test("are not edited by administrators either", async () => {
    const response = await admin.client
      .from("profiles")
      .update({ bio: "moderated" })
      .eq("id", victim.id)
      .select();

    expectNoRows(response);
  });

  test("keep their username: the same name in another case is refused", async () => {
    const response = await attacker.client
      .from("profiles")
      .update({ username: victim.username.toUpperCase() })
      .eq("id", attacker.id)
      .select();

    expectRefused(response, 409, "23505", /profiles_username_key/);
  });
});

describe("what a profile may hold", () => {
  test.each([
    [
      "a script address as link",
      { website_url: "javascript:alert(1)" },
      /profiles_website_url_http/,
    ],
    ["a script address as avatar", { avatar_url: "javascript:alert(1)" }, /own folder/],
    ["a page of the site as username", { username: "Discovery" }, /username_not_reserved/],
    ["two letters as username", { username: "ab" }, /username_length/],
    ["a path as username", { username: "a/../b" }, /username_format/],
  ])("%s is refused", async (_, change, constraint) => {
    const response = await attacker.client
      .from("profiles")
      .update(change)
      .eq("id", attacker.id)
      .select();

    expectRefused(response, 400, "23514", constraint);
  });

  test.each([
    ["another host", () => "https://tracker.example/pixel.gif"],
    ["somebody else's folder", () => `/storage/v1/object/public/avatars/${victim.id}/me.webp`],
    ["a folder left by dots", () => `/storage/v1/object/public/avatars/${attacker.id}/../x.webp`],
    [
      "a folder left by backslashes",
      () => `/storage/v1/object/public/avatars/${attacker.id}/..\\x`,
    ],
    [
      "a file with a name that is too long",
      () => `/storage/v1/object/public/avatars/${attacker.id}/${"語".repeat(1900)}`,
    ],
    ["a file with a query", () => `/storage/v1/object/public/avatars/${attacker.id}/x.webp?a`],
    ["a file with a fragment", () => `/storage/v1/object/public/avatars/${attacker.id}/x.webp#a`],
    [
      "a folder left by encoded dots",
      () => `/storage/v1/object/public/avatars/${attacker.id}/%2e%2e/x.webp`,
    ],
  ])("an avatar on %s is refused", async (_, address) => {
    const response = await attacker.client
      .from("profiles")
      .update({ avatar_url: address() })
      .eq("id", attacker.id)
      .select();

    expectRefused(response, 400, "23514", /own folder/);
  });

  test("an avatar in the owner's folder is accepted, one of the sign-up metadata is not", async () => {
    const avatar_url = `/storage/v1/object/public/avatars/${attacker.id}/me.webp`;
    const own = await attacker.client
      .from("profiles")
      .update({ avatar_url })
      .eq("id", attacker.id)
      .select("avatar_url");
    const newcomer = await signUp({ avatar_url: "https://tracker.example/pixel.gif" });

    expect(expectData(own)).toEqual([{ avatar_url }]);
    expect(await fetchRows("profiles", "id", newcomer.id)).toMatchObject([{ avatar_url: null }]);
  });

  test.each([
    ["<script>alert(1)</script>Tailor", "Tailor"],
    ["a<script>1</script>b<script src=x>2</script>c", "abc"],
    ["<scr<script>x</script>ipt>alert(1)</script> Tailor", "alert(1) Tailor"],
    ['<a href="javascript:alert(1)">me</a>', '<a href="alert(1)">me</a>'],
    ['<img src=x onerror="alert(1)">', "<img src=x >"],
    ["  Linen, wool & 5 > 3  ", "Linen, wool & 5 > 3"],
  ])("scripts are removed: %s", async (bio, cleaned) => {
    const response = await attacker.client
      .from("profiles")
      .update({ bio, full_name: bio })
      .eq("id", attacker.id)
      .select("bio, full_name");

    expect(expectData(response)).toEqual([{ bio: cleaned, full_name: cleaned }]);
  });

  test("is found by its username in any case, and only by the whole name", async () => {
    const find = (name: string) =>
      visitor().rpc("profile_by_username", { name }).select("id").maybeSingle();

    expect(expectData(await find(victim.username.toUpperCase()))).toEqual({ id: victim.id });
    expect(expectData(await find(victim.username.slice(0, -1)))).toBeNull();
    expect(expectData(await find("person%"))).toBeNull();
  });

  test("cannot take a first path segment of the site or the name of one of its files", async () => {
    const repository = resolve(import.meta.dirname, "../..");
    const router = readFileSync(join(repository, "frontend/src/app/router.tsx"), "utf8");
    const segments = [...router.matchAll(/path: "([a-z][^/":*]*)/g)].map(([, segment]) => segment);
    const files = readdirSync(join(repository, "frontend/dist")).map((file) =>
      file.replace(/\.(br|gz)$/, ""),
    );
    expect(segments).toContain("look");
    expect(files).toContain("index.html");

    for (const candidate of [...segments, ...files]) {
      const response = await visitor().rpc("username_available", { candidate });
      expect(expectData(response), candidate).toBe(false);
    }
  });

  test("its creation time cannot be changed by the owner", async () => {
    const response = await attacker.client
      .from("profiles")
      .update({ created_at: "2000-01-01T00:00:00Z" })
      .eq("id", attacker.id)
      .select();

    expectRefused(response, 403, "42501", /created_at/);
  });
});

describe("enumerating e-mail addresses", () => {
  test("profiles have no e-mail column to select or filter", async () => {
    const selected = await attacker.client.from("profiles").select("email");
    const filtered = await attacker.client.from("profiles").select("id").eq("email", victim.email);

    expectRefused(selected, 400, "42703", /email does not exist/);
    expectRefused(filtered, 400, "42703", /email does not exist/);
  });

  test("the schema of auth is not exposed", async () => {
    const response = await attacker.client.schema("auth").from("users").select("email");

    expectRefused(response, 406, "PGRST106", /Invalid schema/);
  });

  test("set_user_role_by_email responds alike to known and unknown addresses", async () => {
    const [known, unknown] = await Promise.all(
      [victim.email, "nobody@lookbook.test"].map((user_email) =>
        attacker.client.rpc("set_user_role_by_email", { user_email, new_role: "user" }),
      ),
    );

    expect(known?.error).not.toBeNull();
    expect(unknown?.error).toEqual(known?.error);
    expect(unknown?.status).toBe(known?.status);
  });

  test("signing up with a taken address looks like any sign-up", async () => {
    const attempt = (email: string) => visitor().auth.signUp({ email, password });
    const fresh = `person-${randomUUID()}@lookbook.test`;

    const taken = await attempt(victim.email);
    const free = await attempt(fresh);

    expect([taken.error, free.error]).toEqual([null, null]);
    expect(taken.data.session).toBeNull();
    expect(Object.keys(taken.data.user ?? {}).sort()).toEqual(
      Object.keys(free.data.user ?? {}).sort(),
    );
    expect(taken.data.user?.id).not.toBe(victim.id);
  });

  test("an administrator is told when nobody has the address", async () => {
    const response = await admin.client.rpc("set_user_role_by_email", {
      user_email: "nobody@lookbook.test",
      new_role: "admin",
    });

    expectRefused(response, 404, "PT404", /No user has this e-mail address/);
  });
});
