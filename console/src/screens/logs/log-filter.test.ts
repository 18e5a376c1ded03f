// @vitest-environment node
import { describe, expect, test } from "vitest";
import {
  classifySearch,
  describeFilter,
  logQuery,
  parseLogFilter,
  writeLogFilter,
} from "./log-filter";

const address = (text: string) => new URLSearchParams(text);
const id = "0b54b1f2-1f6c-4b43-9f2a-0c2a8f0c9a11";

describe("CONSOLE-130 CONSOLE-001 filters in the address", () => {
  test("an address and its filters say the same", () => {
    const text = "service=rest&status=4xx&path=%2Frest%2Fv1%2Fitems&min_ms=200";

    const filter = parseLogFilter(address(text));

    expect(filter).toMatchObject({ service: "rest", status: "4xx", minMs: "200" });
    expect(writeLogFilter(address(""), filter).toString()).toBe(text);
  });

  test("other parameters of the address stay", () => {
    const filter = { ...parseLogFilter(address("status=500&open=abc")), status: "" };

    expect(writeLogFilter(address("status=500&open=abc"), filter).toString()).toBe("open=abc");
  });

  test("a broken status, duration or time is ignored", () => {
    const filter = parseLogFilter(address("status=9xx&min_ms=-1&from=yesterday"));

    expect(logQuery(filter).toString()).toBe("");
  });

  test("both ends of a span make one chip", () => {
    const filter = parseLogFilter(address("from=2026-01-01T10:00:00Z&user=ana"));

    const chips = describeFilter(filter, (iso) => iso.slice(11, 16));

    expect(chips).toEqual([
      { keys: ["user"], label: "User", value: "ana" },
      { keys: ["from", "to"], label: "Time", value: "10:00 – now" },
    ]);
  });
});

describe("CONSOLE-130 one search field", () => {
  test.each([
    ["404", { status: "404" }],
    ["5XX", { status: "5xx" }],
    [">250", { minMs: "250" }],
    ["> 1.5s", { minMs: "1500" }],
    [id, { requestId: id }],
    [`user:${id}`, { user: id }],
    ["/rest/v1/items", { path: "/rest/v1/items" }],
  ])("%s is understood", (text, expected) => {
    expect(classifySearch(text)).toEqual(expected);
  });
});
