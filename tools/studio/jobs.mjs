// Every picture of the build, as jobs that can run in any order.

import { fileURLToPath } from 'node:url';
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

/** Fine stripes and checks need a higher quality, because compression would tint their white. */
const FINE = new Set(['breton', 'pinstripe', 'gingham']);
const quality = (items, usual) => (items.some((i) => FINE.has(i.cut.pattern?.kind)) ? 83 : items.some((i) => i.cut.pattern) ? usual + 3 : usual);

/** Writes the picture as WebP. Smaller widths are made by the server's image renderer on request. */
const save = (image, root, folder, slug, quality) =>
  image.webp({ quality, effort: 5, smartSubsample: true }).toFile(fileURLToPath(new URL(`${folder}${slug}.webp`, root)));

export const runJob = (one, root) => DRAW[one.kind](one, root);
