import { expect, test } from "vitest";
import { composedHeight, composedWidth, coverCrop, layOut, mostComposed } from "./compose-picture";

test.each(Array.from({ length: mostComposed }, (_, index) => index + 1))(
  "%i pictures lie on the sheet without touching each other",
  (count) => {
    const boxes = layOut(count);

    expect(boxes).toHaveLength(count);
    for (const [index, box] of boxes.entries()) {
      expect(box.x).toBeGreaterThanOrEqual(20);
      expect(box.y).toBeGreaterThanOrEqual(20);
      expect(box.x + box.width).toBeLessThanOrEqual(composedWidth - 19.9);
      expect(box.y + box.height).toBeLessThanOrEqual(composedHeight - 19.9);
      for (const other of boxes.slice(index + 1)) {
        const apart =
          other.x >= box.x + box.width ||
          box.x >= other.x + other.width ||
          other.y >= box.y + box.height ||
          box.y >= other.y + other.height;
        expect(apart).toBe(true);
      }
    }
  },
);

test("the first of three pictures is the largest", () => {
  const [first, second] = layOut(3);

  expect((first?.height ?? 0) > (second?.height ?? 0)).toBe(true);
});

test("a picture is cut in the middle to the shape of its box", () => {
  expect(coverCrop(400, 100, { x: 0, y: 0, width: 50, height: 50 })).toEqual({
    x: 150,
    y: 0,
    width: 100,
    height: 100,
  });
});
