import { expect, it } from "vitest";
import { periodStart } from "./list-top-outfits";

const now = new Date("2026-03-31T12:00:00Z");

it.each([
  ["today", "2026-03-30T12:00:00.000Z"],
  ["week", "2026-03-24T12:00:00.000Z"],
  ["month", "2026-03-01T12:00:00.000Z"],
  ["year", "2025-03-31T12:00:00.000Z"],
  ["all", undefined],
] as const)("the period %s begins at %s", (period, start) => {
  expect(periodStart(period, now)).toBe(start);
});
