// @vitest-environment node
import { describe, expect, test } from "vitest";
import { parseUserKind, searchUsers } from "./user-search";

const now = new Date("2026-01-01T00:00:00Z");
const id = "0b54b1f2-1f6c-4b43-9f2a-0c2a8f0c9a11";

describe("CONSOLE-110 finding users", () => {
  test("without a text the newest users come first", () => {
    expect(searchUsers(" ", "all", now)).toEqual({
      kind: "all",
      filters: [],
      sort: [{ column: "created_at", descending: true, nulls_first: false }],
    });
  });

  test("an id finds exactly its user, however it is written", () => {
    expect(searchUsers(` ${id.toUpperCase()} `, "all", now).filters).toEqual([
      { column: "id", operator: "eq", value: id },
    ]);
  });

  test("the beginning of an id is a range of ids", () => {
    expect(searchUsers("0b54b1f2-1f", "all", now).filters).toEqual([
      { column: "id", operator: "gte", value: "0b54b1f2-1f00-0000-0000-000000000000" },
      { column: "id", operator: "lte", value: "0b54b1f2-1fff-ffff-ffff-ffffffffffff" },
    ]);
  });

  test("a whole address is compared, and a beginning is a range with an escaped pattern", () => {
    expect(searchUsers("Ana@Example.org", "all", now).filters).toEqual([
      { column: "email", operator: "eq", value: "ana@example.org" },
    ]);
    expect(searchUsers("a_n", "all", now)).toMatchObject({
      kind: "email",
      filters: [
        { operator: "gte", value: "a_n" },
        { operator: "lt", value: "a_n\uffff" },
        { operator: "like", value: "a\\_n%" },
      ],
    });
  });

  test("a phone number is found with or without its plus sign and spaces", () => {
    const written = searchUsers("+43 (660) 123-45", "all", now);

    expect(written.kind).toBe("phone");
    expect(written.filters[0]).toEqual({ column: "phone", operator: "gte", value: "4366012345" });
  });

  test("a kind of account is added to the search", () => {
    expect(searchUsers("", "banned", now).filters).toEqual([
      { column: "banned_until", operator: "gt", value: "2026-01-01T00:00:00.000Z" },
    ]);
    expect(parseUserKind("anonymous")).toBe("anonymous");
    expect(parseUserKind("wrong")).toBe("all");
  });
});
