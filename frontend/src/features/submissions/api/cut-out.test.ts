import { expect, test } from "vitest";
import { cutOut } from "./cut-out";

type Color = readonly [number, number, number];

const [width, height] = [40, 50];

/** A picture of which each pixel's color is given by its place. */
function draw(colorOf: (x: number, y: number) => Color) {
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let place = 0; place < width * height; place += 1) {
    pixels.set([...colorOf(place % width, Math.floor(place / width)), 255], place * 4);
  }
  return pixels;
}

const wool: Color = [120, 60, 40];
/** A background that is lighter above than below. */
const paper = (y: number): Color => [235 - y * 0.4, 229 - y * 0.4, 220 - y * 0.4];
const isInside = (x: number, y: number) => x >= 12 && x < 28 && y >= 8 && y < 36;

test("a background that is lighter at one side becomes transparent, with the soft shadow on it, and the thing stays", () => {
  const pixels = draw((x, y) => {
    if (isInside(x, y)) return wool;
    // Below the thing, darker towards it.
    const shade = y >= 36 && y < 46 && x >= 12 && x < 28 ? 0.7 + (y - 36) * 0.03 : 1;
    const [red, green, blue] = paper(y);
    return [red * shade, green * shade, blue * shade];
  });

  const found = cutOut(pixels, width, height);

  const opacity = (x: number, y: number) => pixels[(y * width + x) * 4 + 3];
  expect([opacity(0, 0), opacity(39, 49), opacity(11, 20), opacity(20, 42)]).toEqual([0, 0, 0, 0]);
  expect([opacity(20, 20), opacity(15, 12)]).toEqual([255, 255]);
  expect(found).toMatchObject({ x: 12, y: 8, width: 16 });
});

test("the outermost pixels are half transparent, and have nothing of the background's color", () => {
  const pixels = draw((x, y) => {
    if (!isInside(x, y)) return [200, 200, 200];
    return x === 12 ? [120, 110, 110] : [20, 0, 0];
  });
  cutOut(pixels, width, height);

  const at = (20 * width + 12) * 4;
  expect([...pixels.slice(at, at + 4)]).toEqual([20, 0, 0, 150]);
});

test.each([
  ["a photo, whose border has many colors", (x: number, y: number): Color => [x * 6, y * 5, 90]],
  ["a thing that fills its picture", (): Color => wool],
  [
    "a thing that leaves its picture",
    (x: number, y: number): Color => (x < 20 && y > 20 && y < 30 ? wool : paper(y)),
  ],
  [
    "a thing of the background's color, of which only tatters are left",
    (x: number, y: number): Color => (isInside(x, y) && x % 2 === 0 ? wool : paper(y)),
  ],
])("%s is left as it is", (_, colorOf) => {
  const pixels = draw(colorOf);
  const before = pixels.slice();

  expect(cutOut(pixels, width, height)).toBeNull();
  expect(pixels).toEqual(before);
});
