// @vitest-environment node
import { describe, expect, test } from "vitest";
import {
  barAt,
  computeHeights,
  type HistogramBar,
  padBars,
  spanOfBars,
  summarizeHistogram,
} from "./histogram";

function bar(minute: number, ok: number, client_error = 0, server_error = 0): HistogramBar {
  const from = `2026-01-01T10:0${minute}:00.000Z`;
  return { from, step_s: 60, ok, client_error, server_error };
}

describe("CONSOLE-130 histogram", () => {
  test("bars are relative to the highest, and a single failure stays visible", () => {
    const heights = computeHeights([bar(0, 1000), bar(1, 499, 0, 1)]);

    expect(heights[0]).toEqual({ ok: 1, client_error: 0, server_error: 0 });
    expect(heights[1]?.ok).toBeCloseTo(0.499);
    expect(heights[1]?.server_error).toBe(0.03);
  });

  test("no bars and empty bars have no height", () => {
    expect(computeHeights([])).toEqual([]);
    expect(computeHeights([bar(0, 0)])[0]?.ok).toBe(0);
  });

  test("a drag selects whole bars, whichever way it went", () => {
    const bars = [bar(0, 1), bar(1, 1), bar(2, 1)];

    expect(spanOfBars(bars, 2, 1)).toEqual({
      from: "2026-01-01T10:01:00.000Z",
      to: "2026-01-01T10:03:00.000Z",
    });
    expect(spanOfBars([], 0, 0)).toBeNull();
    expect([barAt(bars, -0.2), barAt(bars, 0.5), barAt(bars, 1)]).toEqual([0, 1, 2]);
  });

  test("a short log has empty bars in front, each a step earlier", () => {
    const padded = padBars([bar(1, 3), bar(2, 1)]);

    expect(padded).toHaveLength(40);
    expect(padded[37]).toMatchObject({ from: "2026-01-01T10:00:00.000Z", ok: 0 });
    expect(padded[38]).toMatchObject({ ok: 3 });
    expect(padBars([])).toEqual([]);
  });

  test("the picture is described in a sentence", () => {
    expect(summarizeHistogram([bar(0, 5, 2, 1)])).toBe(
      "8 requests: 2 refused (4xx), 1 failed (5xx).",
    );
    expect(summarizeHistogram([])).toBe("No requests in this span.");
  });
});
