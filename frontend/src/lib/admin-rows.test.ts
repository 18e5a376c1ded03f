import { expect, test } from "vitest";
import { anyContains, containing, containsPattern } from "@/lib/admin-rows";

test("wildcards in a term are taken literally", () => {
  expect(containsPattern("50%_off\\")).toBe("%50\\%\\_off\\\\%");
});

test("an asterisk is no wildcard", () => {
  // PostgREST would take it for one in a pattern of `like`.
  expect(anyContains(["name"], "*")).toBe('name.imatch."\\\\*"');
  expect(containing("5* (new)")).toEqual(["imatch", "5\\* \\(new\\)"]);
});

test("a term cannot end the quoted value of a filter", () => {
  expect(anyContains(["name", "product_number"], 'a",b)')).toBe(
    'name.ilike."%a\\",b)%",product_number.ilike."%a\\",b)%"',
  );
});
