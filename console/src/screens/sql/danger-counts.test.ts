// @vitest-environment node
import { describe, expect, test } from "vitest";
import { describeCounts, type ObjectCount } from "./danger-counts";

function count(changes: Partial<ObjectCount>): ObjectCount {
  return { name: "items", rows: null, exact: true, fault: null, dependants: [], ...changes };
}

describe("the sentence about what a statement touches", () => {
  test("CONSOLE-094 rows are counted, estimated or explained, by object where there are several", () => {
    expect(describeCounts("delete_all", [count({ rows: 1 })], null)).toBe("1 row.");
    expect(
      describeCounts(
        "truncate",
        [
          count({ rows: 2_000_000, exact: false }),
          count({ name: "x", fault: "permission denied." }),
        ],
        null,
      ),
    ).toBe("items about 2,000,000 rows; x could not be counted (permission denied).");
    expect(describeCounts("drop", undefined, new Error("away"))).toBe(
      "how much it touches could not be counted (away).",
    );
  });

  test("CONSOLE-094 a drop names what depends on the object, and other statements do not", () => {
    const dependants = ["a", "b", "c", "d"].map((name) => ({ kind: "view", name }));
    expect(describeCounts("drop", [count({ dependants })], null)).toBe(
      "4 dependent objects (a, b, c, …).",
    );
    expect(describeCounts("delete_all", [count({ dependants })], null)).toBe("");
  });
});
