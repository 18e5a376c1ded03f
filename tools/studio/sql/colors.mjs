// The average color of a picture, which the site shows in its place until it is loaded.

import { fileURLToPath } from 'node:url';
import sharp from 'sharp';

/** Average color of a picture file as `#rrggbb`. */
async function averageColor(file) {
  const pixel = await sharp(fileURLToPath(file)).removeAlpha().resize(1, 1, { fit: 'fill' }).raw().toBuffer();
  return `#${pixel.toString('hex').slice(0, 6)}`;
}

/** Average colors of `<folder><slug>.webp` for these slugs, by slug. */
export async function pictureColors(folder, slugs) {
  const colors = await Promise.all(slugs.map((slug) => averageColor(new URL(`${slug}.webp`, folder))));
  return new Map(slugs.map((slug, index) => [slug, colors[index]]));
}
