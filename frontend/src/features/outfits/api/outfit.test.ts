import { describe, expect, it } from "vitest";
import { anOutfit } from "@/testing/outfits";
import { periodStart } from "./list-top-outfits";
import { containsPattern, joinPages, outfitPage, outfitPageSize } from "./outfit";

const outfit = (id: string) => anOutfit(id, { id });

describe("pages", () => {
  it("expects another page after a full one only", () => {
    const full = Array.from({ length: outfitPageSize }, (_, index) => outfit(`${index}`));
    expect(outfitPage(full, 24).nextOffset).toBe(48);
    expect(outfitPage(full.slice(1), 24).nextOffset).toBeUndefined();
  });

  it("counts the rows that were read, not the outfits that may be shown", () => {
    expect(outfitPage([outfit("a")], 0, outfitPageSize).nextOffset).toBe(24);
  });

  it("shows an outfit once that slid onto the next page", () => {
    const pages = [
      outfitPage([outfit("a"), outfit("b")], 0),
      outfitPage([outfit("b"), outfit("c")], 2),
    ];
    expect(joinPages(pages).map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });
});

it("takes the signs of a pattern literally", () => {
  expect(containsPattern("50%_off\\")).toBe("%50\\%\\_off\\\\%");
});

describe("periodStart", () => {
  const now = new Date("2026-03-31T12:00:00Z");
  it.each([
    ["today", "2026-03-30T12:00:00.000Z"],
    ["week", "2026-03-24T12:00:00.000Z"],
    ["month", "2026-03-01T12:00:00.000Z"],
    ["year", "2025-03-31T12:00:00.000Z"],
    ["all", undefined],
  ] as const)("of %s is %s", (period, start) => {
    expect(periodStart(period, now)).toBe(start);
  });
});
