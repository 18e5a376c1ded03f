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
  expect([readReason(["a"]), readReason(["b"])]).toEqual(["Too dark", "Blurred"]);

  showReasonsOf("ben");
  expect(readReason(["b"])).toBe("");
  showReasonsOf("ana");
  keepReason(["a"], " ");
  forgetReasons(["b"]);
  expect([readReason(["b"]), readReason(["a"])]).toEqual(["", "Blurred"]);
  forgetReasons(["a"]);
  expect(readReason(["a"])).toBe("");
});

test("a reason for several neither replaces nor deletes one that was typed for one of them", () => {
  keepReason(["d"], "A long one");
  expect(readReason(["d", "e"])).toBe("");
  keepReason(["d", "e"], "x");
  expect([readReason(["d", "e"]), readReason(["d"])]).toEqual(["x", "A long one"]);
  // The order in which they were ticked does not matter.
  keepReason(["e", "d"], "");
  expect([readReason(["d", "e"]), readReason(["d"])]).toEqual(["", "A long one"]);

  keepReason(["d", "e"], "Both");
  forgetReasons(["e"]);
  expect(readReason(["d"])).toBe("A long one");
  forgetReasons(["d"]);
});
