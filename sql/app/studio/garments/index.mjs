// Every drawing function by the name the catalogue uses.

import { beanie, belt, brimHat, bucketHat, cap, earrings, necklace, scarf, silkScarf, socks, sunglasses, watch } from './accessories.mjs';
import { bag } from './bags.mjs';
import { bottoms } from './bottoms.mjs';
import { dress, skirt } from './dress.mjs';
import { jacket } from './jacket.mjs';
import { knit } from './knit.mjs';
import { shirt } from './shirt.mjs';
import { flats, sideShoes, sneakers } from './shoes.mjs';
import { tailored } from './tailored.mjs';
import { tee } from './tee.mjs';

const GARMENTS = { bag, beanie, belt, bottoms, brimHat, bucketHat, cap, dress, earrings, flats, jacket, knit, necklace, scarf, shirt, sideShoes, silkScarf, skirt, sneakers, socks, sunglasses, tailored, tee, watch };

/** The garment of a catalogue item, ready to render. */
export function garmentOf(item) {
  const make = GARMENTS[item.garment];
  if (!make) throw new Error(`unknown garment ${item.garment} of ${item.slug}`);
  return make({ seed: item.slug, ...item.cut });
}
