// Every picture the build makes, as independent jobs.

import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { ITEMS } from './catalogue/items.mjs';
import { OUTFITS } from './catalogue/outfits.mjs';
import { PEOPLE } from './catalogue/people.mjs';
import { BRANDS, CATEGORIES } from './catalogue/taxonomy.mjs';
import { itemPicture, outfitPicture } from './compose.mjs';
import { avatar, brandLabel, categoryIcon } from './labels.mjs';
import { arrange } from './layout.mjs';
import { develop } from './render/picture.mjs';

const job = (kind, slug, folder, ext = 'webp') => ({ id: `${kind}/${slug}`, kind, slug, folder, file: `${folder}${slug}.${ext}` });

export const JOBS = [
  ...ITEMS.map((item) => job('item', item.slug, 'seed/images/items/')),
  ...OUTFITS.map((outfit) => job('outfit', outfit.slug, 'seed/combine-images/')),
  ...PEOPLE.map((p) => job('avatar', p.username, 'seed/avatars/')),
  ...BRANDS.map(([slug]) => job('brand', slug, 'seed/brand-logos/')),
  ...Object.keys(CATEGORIES).map((name) => job('icon', name.toLowerCase(), 'seed/category-icons/')),
];

const DRAW = {
  item: async ({ slug, folder }, root) => {
    const item = ITEMS.find((i) => i.slug === slug);
    await save(develop(itemPicture(item)), root, folder, slug, quality([item], 75));
  },
  outfit: async ({ slug, folder }, root) => {
    const outfit = OUTFITS.find((o) => o.slug === slug);
    await save(develop(outfitPicture(outfit, arrange(outfit))), root, folder, slug, quality(outfit.items, 74));
  },
  avatar: ({ slug, file }, root) =>
    avatar(slug)
      .webp({ quality: 80, effort: 5 })
      .toFile(fileURLToPath(new URL(file, root))),
  brand: ({ slug, file }, root) =>
    brandLabel(slug)
      .webp({ quality: 82, effort: 5 })
      .toFile(fileURLToPath(new URL(file, root))),
  icon: async ({ slug, file }, root) => (await categoryIcon(slug)).webp({ quality: 84, effort: 5 }).toFile(fileURLToPath(new URL(file, root))),
};

/** Fine stripes and checks need more, or their white takes on colour. */
const FINE = new Set(['breton', 'pinstripe', 'gingham']);
const quality = (items, usual) => (items.some((i) => FINE.has(i.cut.pattern?.kind)) ? 83 : items.some((i) => i.cut.pattern) ? usual + 3 : usual);

/** Writes the picture and its 480-pixel sibling. */
async function save(image, root, folder, slug, quality) {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  const again = () => sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } });
  const path = (name) => fileURLToPath(new URL(`${folder}${name}.webp`, root));
  await again().webp({ quality, effort: 5, smartSubsample: true }).toFile(path(slug));
  await again()
    .resize(480, null, { kernel: 'lanczos3' })
    .sharpen({ sigma: 0.5, m1: 0.4, m2: 0.6 })
    .webp({ quality: quality + 1, effort: 5, smartSubsample: true })
    .toFile(path(`${slug}-480`));
}

export const runJob = (one, root) => DRAW[one.kind](one, root);
