import { expect, test } from "vitest";
import { cutOut } from "./cut-out";

type Color = readonly [number, number, number];

/** A picture of which each pixel's color is given by its place. */
function draw(width: number, height: number, colorOf: (x: number, y: number) => Color) {
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let place = 0; place < width * height; place += 1) {
    pixels.set([...colorOf(place % width, Math.floor(place / width)), 255], place * 4);
  }
  return pixels;
}

const paper: Color = [239, 233, 224];
const wool: Color = [120, 90, 60];
const isInside = (x: number, y: number) => x >= 6 && x < 14 && y >= 4 && y < 18;

test("the background becomes transparent and the thing stays, with a hole of its color that the background does not reach", () => {
  const pixels = draw(20, 24, (x, y) => {
    const isHole = x >= 9 && x < 11 && y >= 8 && y < 10;
    return isInside(x, y) && !isHole ? wool : paper;
  });

  expect(cutOut(pixels, 20, 24)).toEqual({ x: 6, y: 4, width: 8, height: 14 });
  const opacity = (x: number, y: number) => pixels[(y * 20 + x) * 4 + 3];
  expect([opacity(0, 0), opacity(5, 4), opacity(6, 4), opacity(9, 8)]).toEqual([0, 0, 255, 255]);
});

test("an edge between both is half transparent, and has nothing of the background's color", () => {
  const gray: Color = [200, 200, 200];
  const edge: Color = [190, 190, 190];
  const pixels = draw(20, 24, (x, y) => (isInside(x, y) ? (x === 6 ? edge : [0, 0, 0]) : gray));
  cutOut(pixels, 20, 24);

  const at = (8 * 20 + 6) * 4;
  const [red = 0, , , alpha = 0] = pixels.slice(at, at + 4);
  expect(alpha).toBeGreaterThan(60);
  expect(alpha).toBeLessThan(200);
  expect(red).toBeLessThan(190);
});

test.each([
  ["a photo, whose border has many colors", (x: number, y: number): Color => [x * 12, y * 10, 90]],
  ["a thing that fills its picture", (): Color => wool],
  [
    "a thing of nearly the background's color",
    (x: number, y: number): Color => (isInside(x, y) ? [236, 231, 222] : paper),
  ],
])("%s is left as it is", (_, colorOf) => {
  const pixels = draw(20, 24, colorOf);
  const before = pixels.slice();

  expect(cutOut(pixels, 20, 24)).toBeNull();
  expect(pixels).toEqual(before);
});
