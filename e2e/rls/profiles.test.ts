// Attacks on profiles and roles. Who is an administrator is decided by profiles.role alone.

import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { must, stored } from "../support/catalogue.ts";
import { owner, type Person, password, signUp, signUpAdmin, visitor } from "../support/clients.ts";
import { expectAllowed, expectNoRows, expectRefused } from "../support/refusal.ts";

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
  const [row] = await stored<Profile>("profiles", "id", person.id);
  if (!row) {
    throw new Error("the profile is gone");
  }
  return row;
}

describe("raising one's own role", () => {
  test("by update is refused", async () => {
    const answer = await attacker.client
      .from("profiles")
      .update({ role: "admin" })
      .eq("id", attacker.id)
      .select();

    expectRefused(answer, 403, "42501", /role of a profile cannot be changed/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("by upsert is refused", async () => {
    const answer = await attacker.client
      .from("profiles")
      .upsert({ id: attacker.id, username: attacker.username, role: "admin" })
      .select();

    expectRefused(answer, 403, "42501", /starts with the role "user"/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("by inserting a fresh profile is refused", async () => {
    const fresh = await signUp();
    must(await owner().from("profiles").delete().eq("id", fresh.id).select().single());

    const answer = await fresh.client
      .from("profiles")
      .insert({ id: fresh.id, username: fresh.username, role: "admin" })
      .select();

    expectRefused(answer, 403, "42501", /starts with the role "user"/);
    expect(await stored("profiles", "id", fresh.id)).toEqual([]);
  });

  test("by sign-up metadata has no effect", async () => {
    const person = await signUp({ role: "admin", is_admin: true });

    const isAdmin = must(await person.client.rpc("is_admin_role"));

    expect(isAdmin).toBe(false);
    expect((await profile(person)).role).toBe("user");
  });

  test("by changed metadata has no effect", async () => {
    const person = await signUp();
    const updated = await person.client.auth.updateUser({ data: { role: "admin" } });
    await person.client.auth.refreshSession();

    const isAdmin = must(await person.client.rpc("is_admin_role"));

    expectAllowed(updated);
    expect(isAdmin).toBe(false);
  });

  test("by set_user_role is refused", async () => {
    const answer = await attacker.client.rpc("set_user_role", {
      user_id: attacker.id,
      new_role: "admin",
    });

    expectRefused(answer, 403, "42501", /Only an administrator may change roles/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("by set_user_role_by_email is refused", async () => {
    const answer = await attacker.client.rpc("set_user_role_by_email", {
      user_email: attacker.email,
      new_role: "admin",
    });

    expectRefused(answer, 403, "42501", /Only an administrator may change roles/);
    expect((await profile(attacker)).role).toBe("user");
  });

  test("is refused to visitors before anything is looked at", async () => {
    const answer = await visitor().rpc("set_user_role", {
      user_id: attacker.id,
      new_role: "admin",
    });

    expectRefused(answer, 401, "42501", /permission denied for function set_user_role/);
  });

  test("by an invented role value is refused to administrators too", async () => {
    const answer = await admin.client.rpc("set_user_role", {
      user_id: victim.id,
      new_role: "owner",
    });

    expectRefused(answer, 400, "23514", /profiles_role_known/);
    expect((await profile(victim)).role).toBe("user");
  });
});

describe("the site's own calls keep working", () => {
  test("the sign-in upsert with role user updates the own profile", async () => {
    const answer = await attacker.client
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

    expectAllowed(answer);
    expect(await profile(attacker)).toMatchObject({ full_name: "Renamed", role: "user" });
  });

  test("the sign-in upsert does not demote an administrator", async () => {
    const answer = await admin.client
      .from("profiles")
      .upsert({ id: admin.id, username: admin.username, role: "user" })
      .select()
      .single();

    expectAllowed(answer);
    expect((await profile(admin)).role).toBe("admin");
  });

  test("an administrator gives and takes the role by id and by e-mail", async () => {
    const person = await signUp();

    const raised = must(
      await admin.client.rpc("set_user_role_by_email", {
        user_email: ` ${person.email.toUpperCase()} `,
        new_role: "admin",
      }),
    );
    const isAdmin = must(await person.client.rpc("is_admin_role"));
    const lowered = must(
      await admin.client.rpc("set_user_role", { user_id: person.id, new_role: "user" }),
    );
    const isStillAdmin = must(await person.client.rpc("is_admin_role"));

    expect([raised.role, isAdmin, lowered.role, isStillAdmin]).toEqual([
      "admin",
      true,
      "user",
      false,
    ]);
  });

  test("a taken username does not break sign-up and becomes a free one", async () => {
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
    const answer = await attacker.client
      .from("profiles")
      .update({ bio: "defaced" })
      .eq("id", victim.id)
      .select();

    expectNoRows(answer);
    expect((await profile(victim)).bio).toBeNull();
  });

  test("cannot be overwritten by upsert", async () => {
    const answer = await attacker.client
      .from("profiles")
      .upsert({ id: victim.id, username: victim.username, full_name: "Defaced", role: "user" })
      .select();

    expectRefused(answer, 403, "42501", /row-level security policy/);
    expect((await profile(victim)).full_name).toBe("A Person");
  });

  test("cannot be taken over by changing one's id", async () => {
    const answer = await attacker.client
      .from("profiles")
      .update({ id: victim.id })
      .eq("id", attacker.id)
      .select();

    expectRefused(answer, 403, "42501", /row-level security policy/);
  });

  test("cannot be deleted, nor the own one", async () => {
    const answer = await attacker.client.from("profiles").delete().eq("id", victim.id).select();

    expectRefused(answer, 403, "42501", /permission denied for table profiles/);
    expect((await profile(victim)).id).toBe(victim.id);
  });

  test("cannot be written by visitors", async () => {
    const answer = await visitor()
      .from("profiles")
      .update({ bio: "defaced" })
      .eq("id", victim.id)
      .select();

    expectRefused(answer, 401, "42501", /permission denied for table profiles/);
  });

  test("are not edited by administrators either", async () => {
    const answer = await admin.client
      .from("profiles")
      .update({ bio: "moderated" })
      .eq("id", victim.id)
      .select();

    expectNoRows(answer);
  });

  test("keep their username: the same name in another case is taken", async () => {
    const answer = await attacker.client
      .from("profiles")
      .update({ username: victim.username.toUpperCase() })
      .eq("id", attacker.id)
      .select();

    expectRefused(answer, 409, "23505", /profiles_username_key/);
  });
});

describe("what a profile may hold", () => {
  test.each([
    [
      "a script address as link",
      { website_url: "javascript:alert(1)" },
      /profiles_website_url_http/,
    ],
    ["a script address as avatar", { avatar_url: "javascript:alert(1)" }, /avatar_url_location/],
    ["a page of the site as username", { username: "Discovery" }, /username_not_reserved/],
    ["two letters as username", { username: "ab" }, /username_length/],
    ["a path as username", { username: "a/../b" }, /username_format/],
  ])("%s is refused", async (_, change, constraint) => {
    const answer = await attacker.client
      .from("profiles")
      .update(change)
      .eq("id", attacker.id)
      .select();

    expectRefused(answer, 400, "23514", constraint);
  });

  test("its creation time is not the owner's to change", async () => {
    const answer = await attacker.client
      .from("profiles")
      .update({ created_at: "2000-01-01T00:00:00Z" })
      .eq("id", attacker.id)
      .select();

    expectRefused(answer, 403, "42501", /created_at/);
  });
});

describe("enumerating e-mail addresses", () => {
  test("profiles have no address to select or to filter by", async () => {
    const selected = await attacker.client.from("profiles").select("email");
    const filtered = await attacker.client.from("profiles").select("id").eq("email", victim.email);

    expectRefused(selected, 400, "42703", /email does not exist/);
    expectRefused(filtered, 400, "42703", /email does not exist/);
  });

  test("the schema of auth is not exposed", async () => {
    const answer = await attacker.client.schema("auth").from("users").select("email");

    expectRefused(answer, 406, "PGRST106", /Invalid schema/);
  });

  test("set_user_role_by_email answers the same for known and unknown addresses", async () => {
    const [known, unknown] = await Promise.all(
      [victim.email, "nobody@lookbook.test"].map((user_email) =>
        attacker.client.rpc("set_user_role_by_email", { user_email, new_role: "user" }),
      ),
    );

    expect(known?.error).not.toBeNull();
    expect(unknown?.error).toEqual(known?.error);
    expect(unknown?.status).toBe(known?.status);
  });

  test("signing up with a taken address looks like signing up", async () => {
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
    const answer = await admin.client.rpc("set_user_role_by_email", {
      user_email: "nobody@lookbook.test",
      new_role: "admin",
    });

    expectRefused(answer, 404, "PT404", /No user has this e-mail address/);
  });
});
