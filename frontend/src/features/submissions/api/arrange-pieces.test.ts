// @vitest-environment node
import { expect, test } from "vitest";
import {
  type ArrangedPiece,
  arrange,
  arrangements,
  type Box,
  composedHeight,
  composedWidth,
  movePieces,
} from "./arrange-pieces";
import { garmentOf } from "./garment-kind";

function piece(name: string, width: number, height: number): ArrangedPiece {
  return { width, height, garment: garmentOf({ name }) };
}

const coat = piece("Coat", 500, 800);
const shirt = piece("Shirt", 600, 560);
const trousers = piece("Trousers", 320, 800);
const boots = piece("Boots", 500, 420);
const bag = piece("Tote", 400, 500);
const watch = piece("Watch", 200, 500);
const scarf = piece("Scarf", 300, 300);
const hat = piece("Hat", 500, 300);
const thing = piece("Regatta", 400, 400);
const all = [watch, bag, boots, trousers, shirt, coat, scarf, hat, thing];

function expectApart(boxes: readonly Box[]): void {
  for (const [index, box] of boxes.entries()) {
    expect(box.x).toBeGreaterThanOrEqual(20);
    expect(box.y).toBeGreaterThanOrEqual(20);
    expect(box.x + box.width).toBeLessThanOrEqual(composedWidth - 20);
    expect(box.y + box.height).toBeLessThanOrEqual(composedHeight - 20);
    for (const other of boxes.slice(index + 1)) {
      const apart =
        other.x >= box.x + box.width ||
        box.x >= other.x + other.width ||
        other.y >= box.y + box.height ||
        box.y >= other.y + other.height;
      expect(apart).toBe(true);
    }
  }
}

test.each(arrangements)(
  "up to nine pieces lie whole on the sheet, apart from each other: %s",
  (one) => {
    for (let count = 1; count <= all.length; count += 1) {
      const pieces = all.slice(0, count);
      const boxes = arrange(pieces, one);

      expect(boxes).toHaveLength(count);
      expectApart(boxes);
      for (const [index, { width, height }] of boxes.entries()) {
        const shape = pieces[index] ?? coat;
        expect(width / height).toBeCloseTo(shape.width / shape.height);
      }
    }
  },
);

test.each(["laid", "worn"] as const)(
  "things have their relative sizes, whatever their pictures': %s",
  (one) => {
    // The picture of the watch is as large as that of the coat.
    const pieces = [piece("Watch", 700, 800), coat, boots];
    const [small, large, shoes] = arrange(pieces, one);

    expect((large?.height ?? 0) / (small?.height ?? 1)).toBeCloseTo(108 / 20);
    expect((large?.height ?? 0) / (shoes?.width ?? 1)).toBeCloseTo(108 / 46);
  },
);

test("laid out, a coat is at the left and the shirt above the trousers", () => {
  const [below, above, left] = arrange([trousers, shirt, coat], "laid");

  expect(left?.x).toBeLessThan(above?.x ?? 0);
  expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThan(below?.y ?? 0);
});

test("as worn, everything of the body is in one line from the head to the feet", () => {
  const boxes = arrange([boots, trousers, shirt, hat, coat, bag], "worn");
  const middles = boxes.map(({ x, width }) => Math.round(x + width / 2));

  expect(new Set(middles.slice(0, 4)).size).toBe(1);
  const tops = boxes.slice(0, 4).map(({ y }) => y);
  expect(tops).toEqual([...tops].sort((a, b) => b - a));
  expect(middles[4]).toBeLessThan(middles[0] ?? 0);
  expect(middles[5]).toBeGreaterThan(middles[0] ?? 0);
});

test("a piece that is moved keeps its size and stays whole on the sheet", () => {
  const boxes = arrange([coat, boots], "laid");
  const [left, right] = boxes;
  const moved = movePieces(boxes, [{ x: 30, y: -10 }, undefined]);
  expect(moved).toEqual([{ ...left, x: (left?.x ?? 0) + 30, y: (left?.y ?? 0) - 10 }, right]);

  for (const far of [5000, -5000]) {
    const [corner] = movePieces(boxes, [{ x: far, y: far }]);
    expect(corner).toMatchObject({ width: left?.width, height: left?.height });
    expectApart(corner === undefined ? [] : [corner]);
  }
});

test("a second pair of trousers lies beside what is worn", () => {
  const [one, other] = arrange([trousers, piece("Jeans", 320, 800), shirt], "worn");

  expect(one?.x).not.toBeCloseTo(other?.x ?? 0);
});

test("side by side, tall things share a line and wide ones a column", () => {
  const [tall, wide] = [piece("A", 300, 800), piece("B", 800, 300)];
  const [left, right] = arrange([tall, tall], "even");
  expect([left?.y, (right?.x ?? 0) > (left?.x ?? 0)]).toEqual([right?.y, true]);
  const [above, below] = arrange([wide, wide], "even");
  expect([above?.x, (below?.y ?? 0) > (above?.y ?? 0)]).toEqual([below?.x, true]);
});

test.each(arrangements)("a small picture is not blown up: %s", (one) => {
  expect(arrange([piece("A", 10, 10)], one)[0]?.width).toBeCloseTo(16);
});
