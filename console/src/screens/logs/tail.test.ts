// @vitest-environment node
import { describe, expect, test } from "vitest";
import type { LogEntry } from "./log-entry";
import { addToTail, emptyTail, isTailEntry, tailCapacity } from "./tail";

function entry(id: number): LogEntry {
  return {
    id: String(id),
    time: "2026-01-01T10:00:00Z",
    request_id: `r${id}`,
    service: "rest",
    method: "GET",
    path: "/rest/v1/items",
    status: 200,
    duration_ms: 1,
    user: null,
    role: "anon",
    address: null,
  };
}

const ids = (entries: readonly LogEntry[]) => entries.map(({ id }) => id);

describe("CONSOLE-154 live tail", () => {
  test("the newest entry stands first, and skipped ones are counted", () => {
    const tail = addToTail(emptyTail, [entry(1), { skipped: 7 }, entry(2)], false);

    expect(ids(tail.entries)).toEqual(["2", "1"]);
    expect(tail.skipped).toBe(7);
  });

  test("a held list stays still and gets everything when it is let go", () => {
    const held = addToTail(addToTail(emptyTail, [entry(1)], false), [entry(2)], true);
    expect([ids(held.entries), ids(held.waiting)]).toEqual([["1"], ["2"]]);

    const released = addToTail(held, [entry(3)], false);

    expect([ids(released.entries), ids(released.waiting)]).toEqual([["3", "2", "1"], []]);
  });

  test("a tail that is open for hours keeps a bounded number of entries", () => {
    const many = Array.from({ length: tailCapacity + 10 }, (_, index) => entry(index));

    const tail = addToTail(emptyTail, many, false);

    expect(tail.entries).toHaveLength(tailCapacity);
    expect(tail.entries[0]?.id).toBe(String(tailCapacity + 9));
  });

  test("values of the stream that are no lines are left out", () => {
    const values = [{ skipped: 1 }, { id: "1", time: "t" }, null, "x", { skipped: "1" }, {}];

    expect(values.map(isTailEntry)).toEqual([true, true, false, false, false, false]);
  });
});
