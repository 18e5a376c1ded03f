// Takes the plain background of an item's picture away, so that several items lie on one sheet as they would on a table. Such a
// background may be lighter at one side, and the thing's shadow lies on it.

/** Shares of the picture that a background may have. With less, or more, it is a photo, or the thing was taken for its background. */
const leastBackground = 0.12;
const mostBackground = 0.93;
/** How far the colors at the border may lie from their average, on average. */
const mostUneven = 24;
/** How far a pixel of the background may be from its color there, apart from being darker. */
const mostTinted = 13;
/** Brightness of a pixel in the deepest shadow, and in the lightest part, as shares of the background's. */
const darkest = 0.4;
const lightest = 1.07;
/** A shadow grows softly: where the brightness changes more from one pixel to the next, the thing begins. */
const softest = 0.055;

type Color = [red: number, green: number, blue: number];

function colorAt(pixels: Uint8ClampedArray, place: number): Color {
  const at = place * 4;
  return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
}

/** The colors along a side, each the average of those around it, so that noise and a mark at the border do not matter. */
function smoothSide(colors: readonly Color[]): Color[] {
  const reach = Math.max(2, Math.round(colors.length / 40));
  return colors.map((_, index) => {
    const near = colors.slice(Math.max(0, index - reach), index + reach + 1);
    const sum = near.reduce<Color>(
      ([red, green, blue], color) => [red + color[0], green + color[1], blue + color[2]],
      [0, 0, 0],
    );
    return [sum[0] / near.length, sum[1] / near.length, sum[2] / near.length];
  });
}

interface Sides {
  top: Color[];
  bottom: Color[];
  left: Color[];
  right: Color[];
}

/** The colors at the four sides; null where they are not those of one background. */
function sidesOf(pixels: Uint8ClampedArray, width: number, height: number): Sides | null {
  const row = (y: number) =>
    Array.from({ length: width }, (_, x) => colorAt(pixels, y * width + x));
  const column = (x: number) =>
    Array.from({ length: height }, (_, y) => colorAt(pixels, y * width + x));
  const sides = { top: row(0), bottom: row(height - 1), left: column(0), right: column(width - 1) };
  const all = [...sides.top, ...sides.bottom, ...sides.left, ...sides.right];
  const mean = ([0, 1, 2] as const).map(
    (channel) => all.reduce((sum, color) => sum + color[channel], 0) / all.length,
  );
  const uneven = all.reduce(
    (sum, [red, green, blue]) =>
      sum + Math.hypot(red - (mean[0] ?? 0), green - (mean[1] ?? 0), blue - (mean[2] ?? 0)),
    0,
  );
  if (uneven / all.length > mostUneven) return null;
  return {
    top: smoothSide(sides.top),
    bottom: smoothSide(sides.bottom),
    left: smoothSide(sides.left),
    right: smoothSide(sides.right),
  };
}

const black: Color = [0, 0, 0];

/** The background's color at a place: between those of the four sides, the nearest counts most. */
function backgroundAt(sides: Sides, x: number, y: number, width: number, height: number): Color {
  const parts: [Color, number][] = [
    [sides.left[y] ?? black, 1 / (x + 1)],
    [sides.right[y] ?? black, 1 / (width - x)],
    [sides.top[x] ?? black, 1 / (y + 1)],
    [sides.bottom[x] ?? black, 1 / (height - y)],
  ];
  const whole = parts.reduce((sum, [, weight]) => sum + weight, 0);
  const mix = (channel: 0 | 1 | 2) =>
    parts.reduce((sum, [color, weight]) => sum + color[channel] * weight, 0) / whole;
  return [mix(0), mix(1), mix(2)];
}

/** The pixel's brightness as a share of the background's; null where it is another color. */
function shadeOf(color: Color, around: Color): number | null {
  const own = around[0] ** 2 + around[1] ** 2 + around[2] ** 2;
  const dot = color[0] * around[0] + color[1] * around[1] + color[2] * around[2];
  const shade = own === 0 ? 1 : dot / own;
  const tint = Math.hypot(
    color[0] - shade * around[0],
    color[1] - shade * around[1],
    color[2] - shade * around[2],
  );
  return tint > mostTinted || shade < darkest || shade > lightest ? null : shade;
}

export interface Bounds {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Shades of the pixels that are reached from the border over the background and the shadow; others have none. */
function reachBackground(
  pixels: Uint8ClampedArray,
  sides: Sides,
  width: number,
  height: number,
): { reached: number[]; shades: Float32Array } {
  const shades = new Float32Array(width * height).fill(-1);
  const reached: number[] = [];
  const reach = (x: number, y: number, from: number) => {
    const place = y * width + x;
    if ((shades[place] ?? 0) >= 0) return;
    const around = backgroundAt(sides, x, y, width, height);
    const shade = shadeOf(colorAt(pixels, place), around);
    if (shade === null || Math.abs(shade - from) > softest) return;
    shades[place] = shade;
    reached.push(place);
  };
  for (let x = 0; x < width; x += 1) for (const y of [0, height - 1]) reach(x, y, 1);
  for (let y = 0; y < height; y += 1) for (const x of [0, width - 1]) reach(x, y, 1);
  for (let next = 0; next < reached.length; next += 1) {
    const place = reached[next] ?? 0;
    const [x, y, shade] = [place % width, Math.floor(place / width), shades[place] ?? 1];
    if (x > 0) reach(x - 1, y, shade);
    if (x < width - 1) reach(x + 1, y, shade);
    if (y > 0) reach(x, y - 1, shade);
    if (y < height - 1) reach(x, y + 1, shade);
  }
  return { reached, shades };
}

/**
 * Makes the background transparent, from the border inwards. Its shadow is drawn with the sheet's own; the outermost pixels of the
 * thing, which have some of the background's color, become half transparent with the color beside them. Returns where the thing is;
 * null, and the pixels as they were, for a picture without such a background.
 */
export function cutOut(pixels: Uint8ClampedArray, width: number, height: number): Bounds | null {
  const sides = sidesOf(pixels, width, height);
  if (sides === null) return null;
  const { reached, shades } = reachBackground(pixels, sides, width, height);
  const share = reached.length / (width * height);
  if (share < leastBackground || share > mostBackground) return null;
  const bounds = boundsOf(shades, width, height);
  if (bounds === null || isRagged(shades, reached, bounds, width)) return null;
  for (const place of reached) pixels[place * 4 + 3] = 0;
  softenEdges(pixels, shades, reached, width);
  return bounds;
}

/** Length of a thing's outline, in sides of its frame. */
const longestOutline = 2.5;

/** Whether the thing has holes and tatters: where it is of the background's color, it was taken for a part of it. */
function isRagged(
  shades: Float32Array,
  reached: readonly number[],
  { width: across, height: down }: Bounds,
  width: number,
): boolean {
  const outline = reached.filter((place) =>
    [1, -1, width, -width].some((step) => (shades[place + step] ?? 0) < 0),
  ).length;
  return outline > longestOutline * 2 * (across + down);
}

/** How far inside of the edge a thing has its own color. */
const inside = 2;

function softenEdges(
  pixels: Uint8ClampedArray,
  shades: Float32Array,
  reached: readonly number[],
  width: number,
): void {
  for (const place of reached) {
    for (const step of [1, -1, width, -width]) {
      const edge = place + step;
      if ((shades[edge] ?? 0) >= 0) continue;
      const [from, to] = [(edge + step * inside) * 4, edge * 4];
      if ((shades[edge + step * inside] ?? 0) < 0) {
        for (const channel of [0, 1, 2]) pixels[to + channel] = pixels[from + channel] ?? 0;
      }
      pixels[to + 3] = 150;
    }
  }
}

/** Where pixels are that the background does not reach. */
function boundsOf(shades: Float32Array, width: number, height: number): Bounds | null {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let place = 0; place < width * height; place += 1) {
    if ((shades[place] ?? 0) >= 0) continue;
    const [x, y] = [place % width, Math.floor(place / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  // Where something of the border is not reached, it is not a thing on a background.
  if (right < 0 || left === 0 || top === 0 || right === width - 1 || bottom === height - 1)
    return null;
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}
