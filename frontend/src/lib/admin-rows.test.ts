import { expect, test } from "vitest";
import { anyContains, containsPattern } from "@/lib/admin-rows";

test("wildcards in a term are taken literally", () => {
  expect(containsPattern("50%_off\\")).toBe("%50\\%\\_off\\\\%");
});

test("a term cannot end the quoted value of a filter", () => {
  expect(anyContains(["name", "product_number"], 'a",b)')).toBe(
    'name.ilike."%a\\",b)%",product_number.ilike."%a\\",b)%"',
  );
});
