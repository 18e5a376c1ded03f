// Puts garments on paper: one for an item's picture, several for an outfit's.

import { garmentOf } from './garments/index.mjs';

import { lightness } from './render/colour.mjs';
import { lay, sheet } from './render/picture.mjs';
import { random } from './render/noise.mjs';
import { extents, render } from './render/relief.mjs';

const PALE = ['#e9e1d5', '#e1e1db', '#e8dacd', '#dadfe0', '#e6dec8', '#dcdccf', '#e6d6cc'];
const DEEP = ['#cdbfab', '#bcc1b3', '#cbb5a5', '#b3bcc1', '#cdbb94', '#c3b9b4'];
/** Papers in a stronger tone, for every third item; those that differ enough from the cloth are candidates. */
const STRONG = ['#2f3d42', '#31463b', '#2c3a55', '#6b4a3a', '#7f2f3a', '#a63f35', '#c9694a', '#6f97b5', '#7e8f7c', '#d0a24a', '#d8a7a0', '#4d6d8f'];
const LEAST_CONTRAST = 0.3;

/**
 * For each kind of garment: the share of the frame that it fills, and its distance from the paper, which decides its
 * shadow.
 */
const FRAME = {
  sneakers: [0.66, 1],
  flats: [0.64, 0.9],
  boots: [0.66, 1.2],
  pumps: [0.62, 0.9],
  bag: [0.74, 1.2],
  cap: [0.5, 0.8],
  beanie: [0.46, 0.8],
  brimHat: [0.68, 0.9],
  bucketHat: [0.52, 0.8],
  scarf: [0.76, 1],
  silkScarf: [0.74, 0.5],
  sunglasses: [0.56, 0.4],
  watch: [0.62, 0.3],
  belt: [0.6, 0.6],
  socks: [0.62, 0.7],
  necklace: [0.5, 0.16],
  earrings: [0.42, 0.12],
};

/** Chooses a paper that contrasts with the garment: pale cloth gets the deeper tints, every third item a strong one. */
export function paperFor(item) {
  const rng = random(`paper-${item.slug}`);
  const cloth = lightness(item.cut.color);
  const usual = rng.pick(cloth > 0.86 ? DEEP : PALE);
  const strong = STRONG.filter((paper) => Math.abs(lightness(paper) - cloth) > LEAST_CONTRAST && isPatternVisible(item, paper));
  return strong.length > 0 && rng.chance(0.34) ? rng.pick(strong) : usual;
}

/** Whether no color of the garment's pattern is close to the paper's. */
function isPatternVisible(item, paper) {
  return (item.cut.pattern?.colors ?? []).every((color) => Math.abs(lightness(color) - lightness(paper)) > LEAST_CONTRAST / 2);
}

export function itemPicture(item, width = 900) {
  const height = Math.round(width * 1.25);
  const garment = garmentOf(item);
  const rng = random(`tilt-${item.slug}`);
  const [fill, thick] = FRAME[item.garment] ?? [0.84, 1];
  const tilt = rng.range(-1.6, 1.6) + ({ watch: 18, belt: -8, sunglasses: -10, necklace: 6, scarf: -6 }[item.garment] ?? 0);
  const box = extents(garment, tilt);
  const scale = Math.min((width * fill) / box.w, (height * fill) / box.h, width / 12);
  const sprite = render(garment, { scale, rotate: tilt });
  const picture = sheet(width, height, paperFor(item), item.slug);
  // Thickness is in cm at a standard scale, so that shadows have the same size when a small item is enlarged.
  const stand = Math.min(1.2, (thick * 9) / scale + thick * 0.32);
  lay(picture, sprite, width / 2 - ((box.x0 + box.x1) / 2) * scale, height / 2 - ((box.y0 + box.y1) / 2) * scale, stand);
  return picture;
}

/**
 * An outfit on a 4:5 sheet. `placed` lists {item, x, y, turn, size} in cm on a
 * table 160 wide: x, y is the middle of the garment.
 */
export function outfitPicture(outfit, placed, width = 1200) {
  const height = Math.round(width * 1.25);
  const unit = width / 160;
  const picture = sheet(width, height, outfit.paper, outfit.slug);
  for (const { item, x, y, turn = 0, size = 1 } of placed) {
    const garment = garmentOf(item);
    const scale = unit * size;
    const box = extents(garment, turn);
    const sprite = render(garment, { scale, rotate: turn });
    const [, thick] = FRAME[item.garment] ?? [0, 1];
    lay(picture, sprite, x * unit - ((box.x0 + box.x1) / 2) * scale, y * unit - ((box.y0 + box.y1) / 2) * scale, Math.min(1.3, thick * 1.05));
  }
  return picture;
}
