// @vitest-environment node
import { expect, it } from "vitest";
import { addressWord } from "./address-word";

it.each([
  ["Tarn & Tiller", "tarn-tiller"],
  ["T-Shirts", "t-shirts"],
  ["  Évasé 2 ", "vas-2"],
  ["織物", ""],
])("writes %s as %s", (name, word) => {
  expect(addressWord(name)).toBe(word);
});
