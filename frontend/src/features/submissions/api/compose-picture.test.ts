import { afterEach, expect, test, vi } from "vitest";
import {
  arrange,
  type Box,
  composedHeight,
  composedWidth,
  drawComposition,
  mostComposed,
} from "./compose-picture";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

const tall = { width: 300, height: 800 };
const wide = { width: 800, height: 300 };

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

test.each(Array.from({ length: mostComposed }, (_, index) => index + 1))(
  "%i pictures lie whole on the sheet without touching each other",
  (count) => {
    const sizes = Array.from({ length: count }, (_, index) => (index % 2 === 0 ? tall : wide));
    const boxes = arrange(sizes);

    expect(boxes).toHaveLength(count);
    expectApart(boxes);
    for (const [index, { width, height }] of boxes.entries()) {
      const size = sizes[index] ?? tall;
      expect(width / height).toBeCloseTo(size.width / size.height);
    }
  },
);

test("tall things lie side by side, and wide ones below each other", () => {
  const [left, right] = arrange([tall, tall]);
  expect([left?.y, (right?.x ?? 0) > (left?.x ?? 0)]).toEqual([right?.y, true]);
  const [above, below] = arrange([wide, wide]);
  expect([above?.x, (below?.y ?? 0) > (above?.y ?? 0)]).toEqual([below?.x, true]);
});

test("a small picture is not blown up", () => {
  expect(arrange([{ width: 10, height: 10 }])[0]?.width).toBe(16);
});

test("a large picture is scaled down before its background is looked for", async () => {
  vi.stubGlobal(
    "Image",
    class {
      naturalWidth = 4000;
      naturalHeight = 3000;
      decode = async () => undefined;
    },
  );
  const getImageData = vi.fn((_x: number, _y: number, width: number, height: number) => ({
    data: new Uint8ClampedArray(width * height * 4),
  }));
  // Everything else that is drawn does nothing.
  const context = new Proxy(
    { getImageData },
    { get: (own, name) => Reflect.get(own, name) ?? (() => undefined) },
  );
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(context as never);

  await drawComposition(document.createElement("canvas"), ["https://elsewhere.test/coat.jpg"]);

  expect(getImageData.mock.calls).toEqual([[0, 0, 1200, 900]]);
});
