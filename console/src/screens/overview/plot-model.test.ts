// @vitest-environment node
import { describe, expect, test } from "vitest";
import { dragSpan, findDrawnPlots, formatValue, latestValue } from "./plot-model";
import type { Timeline } from "./series";

const timeline: Timeline = {
  step_s: 1,
  times: [100, 101, 102],
  columns: new Map([
    ["requests.rest", [10, 12, 3]],
    ["errors.5xx", [0, null, null]],
  ]),
};

describe("CONSOLE-040 plots", () => {
  test("plots and lines that the server does not measure are left out", () => {
    expect(findDrawnPlots(timeline).map((plot) => [plot.key, plot.lines.length])).toEqual([
      ["requests", 1],
      ["errors", 1],
    ]);
  });

  test("the value beside a line is the newest that was measured", () => {
    expect(latestValue(timeline, "requests.rest")).toBe(3);
    expect(latestValue(timeline, "errors.5xx")).toBe(0);
    expect(latestValue(timeline, "cpu")).toBeNull();
  });

  test("a dragged span is given oldest first, and a click is none", () => {
    expect(dragSpan(120.6, 100.2, 1)).toEqual({
      from: "1970-01-01T00:01:40.000Z",
      to: "1970-01-01T00:02:01.000Z",
    });
    expect(dragSpan(100, 100.4, 1)).toBeNull();
  });

  test("values have three figures and their unit", () => {
    expect(formatValue(3.4, "percent")).toBe("3.4 %");
    expect(formatValue(150, "percent")).toBe("150 %");
    expect(formatValue(50, "percent")).toBe("50 %");
    expect(formatValue(1234, "milliseconds")).toBe("1.23 s");
    expect(formatValue(4.25, "milliseconds")).toBe("4.3 ms");
    expect(formatValue(12_345, "per_second")).toBe("12.3 k/s");
    expect(formatValue(999_600, "count")).toBe("1 M");
    expect(formatValue(9_999.6, "count")).toBe("10 k");
    expect(formatValue(null, "count")).toBe("–");
    expect(formatValue(1_500_000, "bytes")).toBe("1.5 MB");
  });
});
