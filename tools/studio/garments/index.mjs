// Every drawing function, by the name that the catalogue uses for it.

import { belt, socks } from './belts.mjs';
import { boots, pumps } from './boots.mjs';
import { flats } from './flats.mjs';
import { beanie, brimHat, bucketHat, cap } from './hats.mjs';
import { scarf, silkScarf } from './scarves.mjs';
import { skirt } from './skirt.mjs';
import { sneakers } from './sneakers.mjs';
import { earrings, necklace, sunglasses, watch } from './trinkets.mjs';
import { bag } from './bags.mjs';
import { bottoms } from './bottoms.mjs';
import { dress } from './dress.mjs';
import { jacket } from './jacket.mjs';
import { knit } from './knit.mjs';
import { shirt } from './shirt.mjs';
import { tailored } from './tailored.mjs';
import { tee } from './tee.mjs';

const GARMENTS = {
  bag,
  beanie,
  belt,
  bottoms,
  brimHat,
  bucketHat,
  cap,
  dress,
  earrings,
  flats,
  jacket,
  knit,
  necklace,
  scarf,
  shirt,
  boots,
  pumps,
  silkScarf,
  skirt,
  sneakers,
  socks,
  sunglasses,
  tailored,
  tee,
  watch,
};

/** The garment of a catalogue item, ready to render. */
export function garmentOf(item) {
  const make = GARMENTS[item.garment];
  if (!make) throw new Error(`unknown garment ${item.garment} of ${item.slug}`);
  return make({ seed: item.slug, ...item.cut });
}
