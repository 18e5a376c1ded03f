import { expect, it, vi } from "vitest";
import { keepWish, takeWish } from "./kept-wish";

const wish = { kind: "like-outfit", id: "a" } as const;

it("a wish is returned once", () => {
  keepWish(wish);

  expect(takeWish()).toEqual(wish);
  expect(takeWish()).toBeNull();
});

it("an old wish is not done, as somebody else may have signed in", () => {
  const now = vi.spyOn(Date, "now").mockReturnValue(1_000_000);
  keepWish(wish);
  now.mockReturnValue(1_000_000 + 31 * 60_000);

  expect(takeWish()).toBeNull();
});

it("a damaged one is none", () => {
  localStorage.setItem("lookbook:after-sign-in", "{");

  expect(takeWish()).toBeNull();
});
