// @vitest-environment jsdom
import { expect, test } from "vitest";
import { forgetReasons, keepReason, readReason, showReasonsOf } from "./unsaved-reasons";

test("a reason belongs to each of its outfits and to its author", () => {
  showReasonsOf("ana");
  keepReason(["a", "b", "c"], "Blurred");
  // One of the three is decided about meanwhile.
  forgetReasons(["c"]);
  expect(readReason(["a", "b"])).toBe("Blurred");
  keepReason(["a"], "Too dark");
  expect(readReason(["a", "b"])).toBe("");
  expect(readReason(["b"])).toBe("Blurred");

  showReasonsOf("ben");
  expect(readReason(["b"])).toBe("");
  showReasonsOf("ana");
  keepReason(["b"], " ");
  expect([readReason(["b"]), readReason(["a"])]).toEqual(["", "Too dark"]);
});
