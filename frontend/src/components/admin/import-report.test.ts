import { expect, test } from "vitest";
import { joinNumbers } from "./import-report";

test("numbers of neighbouring rows are joined, so that thousands of rows are a line", () => {
  expect(joinNumbers([2, 3, 4, 7, 9, 10])).toBe("2–4, 7, 9–10");
  expect(joinNumbers([])).toBe("");
});
