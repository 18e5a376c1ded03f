// Takes the uniform background of an item's picture away, so that several items lie on one sheet as they would on a table.

/** How a pixel's color differs from the background: up to the first it is background, from the second on it is the thing. */
const background = 9;
const thing = 26;
/** Shares of the picture that a background may have. With less, or more, it is a photo, or the thing was taken for its background. */
const leastBackground = 0.12;
const mostBackground = 0.93;
/** How far the colors at the border may lie apart, on average. */
const mostUneven = 10;

type Color = readonly [red: number, green: number, blue: number];

function colorAt(pixels: Uint8ClampedArray, place: number): Color {
  const at = place * 4;
  return [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0];
}

const difference = (one: Color, other: Color): number =>
  Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);

/** Places of the pixels at the four sides. */
function borderOf(width: number, height: number): number[] {
  const places: number[] = [];
  for (let x = 0; x < width; x += 1) places.push(x, (height - 1) * width + x);
  for (let y = 1; y < height - 1; y += 1) places.push(y * width, y * width + width - 1);
  return places;
}

/** The color around the thing; null where the border has several. */
function backgroundOf(pixels: Uint8ClampedArray, border: readonly number[]): Color | null {
  const colors = border.map((place) => colorAt(pixels, place));
  const median = (channel: 0 | 1 | 2): number =>
    colors.map((color) => color[channel]).sort((a, b) => a - b)[colors.length >> 1] ?? 0;
  const found: Color = [median(0), median(1), median(2)];
  const uneven = colors.reduce((sum, color) => sum + difference(color, found), 0) / colors.length;
  return uneven > mostUneven ? null : found;
}

export interface Bounds {
  x: number;
  y: number;
  width: number;
  height: number;
}

/**
 * Makes the background transparent, from the border inwards, with soft edges that keep nothing of its color. Returns where the thing
 * is; null, and the pixels as they were, for a picture without such a background.
 */
export function cutOut(pixels: Uint8ClampedArray, width: number, height: number): Bounds | null {
  const border = borderOf(width, height);
  const color = backgroundOf(pixels, border);
  if (color === null) return null;
  const seen = new Uint8Array(width * height);
  /** Pixels that are background or the thing's edge. */
  const reached: number[] = [];
  const reach = (place: number) => {
    if (seen[place] === 1) return;
    seen[place] = 1;
    if (difference(colorAt(pixels, place), color) < thing) reached.push(place);
  };
  for (const place of border) reach(place);
  for (let next = 0; next < reached.length; next += 1) {
    const place = reached[next] ?? 0;
    const x = place % width;
    if (x > 0) reach(place - 1);
    if (x < width - 1) reach(place + 1);
    if (place >= width) reach(place - width);
    if (place < width * (height - 1)) reach(place + width);
  }
  const share = reached.length / (width * height);
  if (share < leastBackground || share > mostBackground) return null;
  for (const place of reached) fade(pixels, place, color);
  return boundsOf(pixels, width, height);
}

/** Gives a pixel the share of the thing that it has, and the color that the thing has there. */
function fade(pixels: Uint8ClampedArray, place: number, around: Color): void {
  const color = colorAt(pixels, place);
  const share = (difference(color, around) - background) / (thing - background);
  const opacity = Math.min(1, Math.max(0, share));
  const at = place * 4;
  pixels[at + 3] = Math.round(opacity * 255);
  if (opacity === 0) return;
  for (const channel of [0, 1, 2] as const) {
    // The array rounds, and keeps to 0 and 255.
    pixels[at + channel] = (color[channel] - (1 - opacity) * around[channel]) / opacity;
  }
}

/** Opacity from which a pixel counts as a part of the thing: shadows and noise do not. */
const visible = 128;

function boundsOf(pixels: Uint8ClampedArray, width: number, height: number): Bounds | null {
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let place = 0; place < width * height; place += 1) {
    if ((pixels[place * 4 + 3] ?? 0) < visible) continue;
    const [x, y] = [place % width, Math.floor(place / width)];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  if (right < 0) return null;
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}
