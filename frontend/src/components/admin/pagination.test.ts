// @vitest-environment node
import { expect, test } from "vitest";
import { pagesAround } from "./pagination";

test("the window of page links stays within the pages", () => {
  expect(pagesAround(1, 3, 5)).toEqual([1, 2, 3]);
  expect(pagesAround(1, 9, 5)).toEqual([1, 2, 3, 4, 5]);
  expect(pagesAround(6, 9, 5)).toEqual([4, 5, 6, 7, 8]);
  expect(pagesAround(9, 9, 5)).toEqual([5, 6, 7, 8, 9]);
});
