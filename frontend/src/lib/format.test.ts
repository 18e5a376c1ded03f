// @vitest-environment node
import { describe, expect, it } from "vitest";
import { formatDate, formatMoment } from "./format";

describe("times of the database", () => {
  it("are shown by day, or by day and time", () => {
    expect(formatDate("2026-11-22T12:05:00+00:00")).toBe("Nov 22, 2026");
    expect(formatMoment("2026-11-22T12:05:00+00:00")).toMatch(/^Nov 22, 2026, .*:05/);
  });

  it.each(["infinity", "-infinity", "294276-12-31T23:59:59.999999+00:00", ""])(
    "do not take the page away when JavaScript has no such time: %s",
    (timestamp) => {
      expect(formatDate(timestamp)).toBe("no date");
      expect(formatMoment(timestamp)).toBe("no date");
    },
  );
});
