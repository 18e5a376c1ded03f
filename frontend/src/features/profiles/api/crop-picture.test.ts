// @vitest-environment node
import { describe, expect, it } from "vitest";
import { moveCrop, squareOf } from "./crop-picture";

describe("squareOf", () => {
  it("is as large as the picture allows and lies in its middle", () => {
    expect(squareOf({ zoom: 1, x: 0.5, y: 0.5 }, 400, 200)).toEqual({
      side: 200,
      left: 100,
      top: 0,
    });
  });

  it("shrinks with the zoom", () => {
    expect(squareOf({ zoom: 2, x: 0, y: 1 }, 400, 200)).toEqual({ side: 100, left: 0, top: 100 });
  });
});

describe("moveCrop", () => {
  const crop = { zoom: 2, x: 0.5, y: 0.5 };

  it("follows the pointer: dragging the picture to the right shows more of its left", () => {
    // 100 of the view's 200 pixels are half of the square's 100.
    const moved = moveCrop(crop, { right: 100, down: 0 }, 200, 400, 200);
    expect(squareOf(moved, 400, 200).left).toBeCloseTo(100);
  });

  it("stops at the edges", () => {
    expect(moveCrop(crop, { right: 9000, down: -9000 }, 200, 400, 200)).toEqual({
      zoom: 2,
      x: 0,
      y: 1,
    });
  });

  it("does not move where the picture has nothing to spare", () => {
    expect(moveCrop({ zoom: 1, x: 0.5, y: 0.5 }, { right: 0, down: 50 }, 200, 400, 200).y).toBe(
      0.5,
    );
  });
});
