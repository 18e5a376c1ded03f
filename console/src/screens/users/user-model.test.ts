// @vitest-environment node
import { describe, expect, test } from "vitest";
import {
  badgesOf,
  claimsAddress,
  nameOfUser,
  parseMetadata,
  parseTime,
  readUserRows,
} from "./user-model";

const now = new Date("2026-06-01T00:00:00Z");

function read(values: Record<string, string | null>) {
  const columns = Object.keys(values).map((name) => ({ name }));
  return readUserRows(columns, [Object.values(values)]);
}

describe("CONSOLE-110 users of the list", () => {
  test("values are read by the names of their columns", () => {
    const [user] = read({
      email: "ana@example.org",
      id: "1",
      is_anonymous: "f",
      confirmed_at: "2026-01-01 10:00:00+00",
      email_confirmed_at: "2026-01-01 10:00:00+00",
      raw_app_meta_data: '{"provider":"email","providers":["email","google"]}',
    });

    expect(user).toMatchObject({ id: "1", isAnonymous: false, providers: ["email", "google"] });
    expect(user && badgesOf(user, now)).toEqual([]);
  });

  test("a ban counts only until it ends", () => {
    const banned = read({ id: "1", confirmed_at: "x", banned_until: "2026-06-02 00:00:00+00" });
    const over = read({ id: "1", confirmed_at: "x", banned_until: "2026-05-02 00:00:00+00" });

    expect(banned.flatMap((user) => badgesOf(user, now))).toMatchObject([{ label: "banned" }]);
    expect(over.flatMap((user) => badgesOf(user, now))).toEqual([]);
  });

  test("anonymous users need no confirmation", () => {
    const users = [...read({ id: "1", is_anonymous: "t" }), ...read({ id: "2" })];

    expect(users.map((user) => badgesOf(user, now)[0]?.label)).toEqual([
      "anonymous",
      "unconfirmed",
    ]);
  });

  test("an address is not confirmed by the number", () => {
    const [user] = read({ id: "1", email: "ana@example.org", phone: "4366", confirmed_at: "x" });

    expect(user && badgesOf(user, now)).toMatchObject([{ label: "mail unconfirmed" }]);
  });

  test("an account in use claims an address that it has proven neither by a mail nor at a provider", () => {
    const used = {
      email: "Ana@example.org",
      last_sign_in_at: "x",
    };
    const identity = (isVerified: boolean) => ({
      provider: "google",
      email: "ana@example.org",
      identity_data: { email_verified: isVerified },
    });

    expect(claimsAddress(used)).toBe(true);
    expect(claimsAddress({ ...used, identities: [identity(false)] })).toBe(true);
    expect(claimsAddress({ ...used, identities: [identity(true)] })).toBe(false);
    expect(claimsAddress({ ...used, email_confirmed_at: "x" })).toBe(false);
    expect(claimsAddress({ ...used, last_sign_in_at: null })).toBe(false);
    expect(claimsAddress({ ...used, email: "" })).toBe(false);
  });

  test("times of PostgreSQL are read in every browser", () => {
    expect(parseTime("2026-01-01 10:00:00.5+02")?.toISOString()).toBe("2026-01-01T08:00:00.500Z");
    expect([parseTime(""), parseTime(null), parseTime("infinity")]).toEqual([null, null, null]);
  });

  test("a user is called by address, number or id", () => {
    expect(nameOfUser({ id: "1", email: "", phone: "4366" })).toBe("+4366");
    expect(nameOfUser({ id: "1" })).toBe("1");
  });
});

describe("CONSOLE-110 metadata", () => {
  test("only objects are taken", () => {
    expect(parseMetadata("")).toEqual({ value: {} });
    expect(parseMetadata("[1]")).toHaveProperty("fault");
    expect(parseMetadata("{")).toHaveProperty("fault");
  });
});
