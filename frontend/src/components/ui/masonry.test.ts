import { describe, expect, it } from "vitest";
import { columnsFor, placeTiles } from "./masonry";

const tiles = (...ratios: number[]) => ratios.map((ratio, index) => ({ key: `${index}`, ratio }));

describe("placeTiles", () => {
  it("fills the first row from left to right", () => {
    const { places, tileWidth } = placeTiles(tiles(1.25, 1.25, 1.25), 800, 80);
    expect(places.map(({ top }) => top)).toEqual([0, 0, 0]);
    expect(places[1]?.left).toBeCloseTo(tileWidth + 16);
  });

  it("puts the next tile on the shortest column", () => {
    const { places } = placeTiles(tiles(1.5, 1, 1.5, 1), 800, 0);
    expect(places[3]?.left).toBe(places[1]?.left);
  });

  it("keeps equal columns in reading order although widths are fractions", () => {
    const { places } = placeTiles(tiles(1.25, 1.25, 1.25, 1.25), 391, 88);
    expect(places[2]?.left).toBe(0);
    expect(places[3]?.left).toBe(places[1]?.left);
  });

  it("is as tall as its longest column, and empty when it is empty", () => {
    expect(placeTiles(tiles(1), 390, 10).height).toBeCloseTo(189 + 10 + 12);
    expect(placeTiles([], 390, 10).height).toBe(0);
  });
});

it.each([
  [358, 2],
  [704, 3],
  [1130, 4],
  [1500, 5],
])("shows a container of %i pixels in %i columns", (width, count) => {
  expect(columnsFor(width).count).toBe(count);
});
