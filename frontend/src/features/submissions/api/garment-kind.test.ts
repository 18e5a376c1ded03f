// @vitest-environment node
import { expect, test } from "vitest";
import { garmentOf } from "./garment-kind";

test.each([
  ["Shirt Dresses", "dress"],
  ["Dress Shirts", "top"],
  ["T-Shirts", "top"],
  ["Roll Necks", "top"],
  ["Trench Coats", "outerwear"],
  ["Jeans", "bottom"],
  ["Shorts", "bottom"],
  ["Boots", "shoes"],
  ["Shoulder Bags", "bag"],
  ["Scarves", "scarf"],
  ["Watches", "small"],
  ["Accessories", "small"],
])("%s are %s", (name, kind) => {
  expect(garmentOf({ name: "Something", subcategory: { name } }).kind).toBe(kind);
});

test("the category is asked where the subcategory says nothing, and then the name", () => {
  const odd = { name: "Odds and ends" };

  expect(garmentOf({ name: "Coat", category: { name: "Shoes" }, subcategory: odd }).kind).toBe(
    "shoes",
  );
  expect(garmentOf({ name: "Camel overcoat", category: odd, subcategory: null }).kind).toBe(
    "outerwear",
  );
  expect(garmentOf({ name: "Regatta", category: null })).toEqual({ kind: "other", length: 60 });
});

test("a coat is larger than a jacket, and shoes are larger than a watch", () => {
  const lengths = ["Coats", "Jackets", "Loafers", "Watches"].map(
    (name) => garmentOf({ name: "", subcategory: { name } }).length,
  );

  expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
  expect(new Set(lengths).size).toBe(4);
});
