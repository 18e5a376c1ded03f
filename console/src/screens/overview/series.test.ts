// @vitest-environment node
import { describe, expect, test } from "vitest";
import { appendSeries, findSpan, newestTime, type SeriesAnswer, selectTimeline } from "./series";

function answer(from: number, values: (number | null)[], now = from + values.length): SeriesAnswer {
  return { rings: [{ step_s: 1, from, names: ["requests.rest"], values: [values] }], now };
}

describe("CONSOLE-040 joining measurements", () => {
  test("new values follow the known ones, and a step that is sent again is replaced", () => {
    const joined = appendSeries(answer(100, [1, 2, 3]), answer(102, [9, 4]));

    expect(joined.rings[0]?.values).toEqual([[1, 2, 9, 4]]);
    expect(newestTime(joined, 1)).toBe(103);
  });

  test("steps that were missed are gaps, not zeros", () => {
    const joined = appendSeries(answer(100, [1]), answer(103, [5]));

    expect(joined.rings[0]?.values).toEqual([[1, null, null, 5]]);
  });

  test("a service that appears later has gaps before", () => {
    const added: SeriesAnswer = {
      rings: [{ step_s: 1, from: 101, names: ["requests.auth"], values: [[7]] }],
      now: 102,
    };

    const joined = appendSeries(answer(100, [1]), added);

    expect(joined.rings[0]?.names).toEqual(["requests.rest", "requests.auth"]);
    expect(joined.rings[0]?.values).toEqual([
      [1, null],
      [null, 7],
    ]);
  });

  test("an open page keeps no more steps than the server's ring", () => {
    const joined = appendSeries(answer(100, [1, 2, 3]), answer(103, [4, 5]), () => 3);

    expect(joined.rings[0]).toMatchObject({ from: 102, values: [[3, 4, 5]] });
  });

  test("a server that was started anew replaces what was known", () => {
    const joined = appendSeries(answer(100, [1, 2]), answer(50, [8]));

    expect(joined.rings[0]).toMatchObject({ from: 50, values: [[8]] });
  });
});

describe("CONSOLE-040 choosing a span", () => {
  test("only the last seconds are drawn", () => {
    const timeline = selectTimeline(answer(100, [1, 2, 3, 4], 104), 1, 2);

    expect(timeline.times).toEqual([102, 103]);
    expect(timeline.columns.get("requests.rest")).toEqual([3, 4]);
  });

  test("a step without a ring gives an empty time line", () => {
    expect(selectTimeline(answer(100, [1]), 60, 600).times).toEqual([]);
  });

  test("an unknown span in the address means the first", () => {
    expect(findSpan("1h").seconds).toBe(3600);
    expect(findSpan("nonsense").key).toBe("10m");
    expect(findSpan(null).key).toBe("10m");
  });
});
