// Woven labels with the brands' wordmarks, portraits, and cut-out category icons.

import sharp from 'sharp';
import { PEOPLE } from './catalogue/people.mjs';
import { font, lettering } from './catalogue/prints.mjs';
import { garmentOf } from './garments/index.mjs';
import { portrait } from './garments/portrait.mjs';
import { itemBySlug } from './catalogue/items.mjs';
import { roundRect } from './render/geometry.mjs';
import { cutout, develop, lay, sheet } from './render/picture.mjs';
import { extents, render } from './render/relief.mjs';

/** [cloth, ink, paper, family, weight, style, size, spacing, text, small line] */
const WORDMARKS = {
  halvorn: ['#28334b', '#e6dcc9', '#dadfe0', 'inter', 700, 'normal', 4.2, 1.5, 'HALVORN', 'NORTHERN OUTERWEAR'],
  'mare-lune': ['#f2ece0', '#6b2d37', '#e8dacd', 'fraunces', 300, 'italic', 6.4, 0.1, 'Mare Lune', null],
  'tarn-tiller': ['#b78a56', '#33241a', '#e6dec8', 'fraunces', 700, 'normal', 4, 0.1, 'Tarn & Tiller', 'WORKWEAR'],
  'odd-meridian': ['#bf4034', '#f2ece0', '#e1e1db', 'inter', 900, 'normal', 4.4, -0.1, 'odd meridian', null],
  'sellino-vetri': ['#26272b', '#d2bd99', '#e6d6cc', 'fraunces', 400, 'normal', 4.5, 0.35, 'Sellino Vetri', 'SARTORIA'],
  'plain-arithmetic': ['#f3f2ee', '#26272b', '#dcdccf', 'inter', 500, 'normal', 3.3, 0.05, 'plain arithmetic', null],
  'brae-loom': ['#34493c', '#ead89f', '#e9e1d5', 'fraunces', 600, 'normal', 4.3, 0.1, 'Brae & Loom', 'FAMILY MILL'],
  corvane: ['#8c5c38', '#f2ece0', '#e6dec8', 'fraunces', 500, 'normal', 4.6, 1.3, 'CORVANE', null],
  'port-ellery': ['#f2ece0', '#28334b', '#dadfe0', 'fraunces', 600, 'italic', 5.2, 0.1, 'Port Ellery', 'HARBOUR CLOTHES'],
  'ondine-parr': ['#dbb7a8', '#4c362b', '#e1e1db', 'fraunces', 400, 'italic', 5.2, 0.15, 'Ondine Parr', null],
  'volta-nine': ['#45474b', '#ead89f', '#dadfe0', 'inter', 800, 'italic', 4.6, 0.25, 'VOLTA NINE', null],
  'juniper-row': ['#9aa58a', '#26272b', '#e8dacd', 'inter', 400, 'normal', 2.9, 0.8, 'JUNIPER ROW', 'SMALL THINGS'],
};

export function brandLabel(slug) {
  const [cloth, ink, paper, family, weight, style, size, spacing, text, small] = WORDMARKS[slug];
  const face = font(family, weight, style);
  const y = small ? size * 0.18 : size * 0.34;
  const fills = lettering(text, 0, y, size, face, spacing);
  const marks = [{ kind: 'ink', fills, color: ink, raise: 0.03 }];
  if (small) marks.push({ kind: 'ink', fills: lettering(small, 0, y + 3.2, 1.35, font('inter', 500), 0.5), color: ink, raise: 0.02 });
  for (const s of [-1, 1])
    marks.push({
      kind: 'stitch',
      path: [
        [s * 17.6, -5.4],
        [s * 17.6, 5.4],
      ],
      color: ink,
      pitch: 0.7,
      w: 0.12,
    });
  const label = {
    seed: slug,
    wobble: 0.12,
    puff: {},
    parts: [
      {
        outline: roundRect(0, 0, 37, 13, 0.5),
        material: { weave: 'canvas', color: cloth },
        lift: 0,
        roll: 0.5,
        rollHeight: 0.2,
        crumple: 0.06,
        inherit: 0,
        marks,
      },
    ],
  };
  const [w, h] = [640, 320];
  const scale = 15.2;
  const picture = sheet(w, h, paper, slug);
  lay(picture, render(label, { scale, rotate: 0 }), w / 2, h / 2, 0.34);
  return develop(picture);
}

export function avatar(username) {
  const who = PEOPLE.find((p) => p.username === username);
  const size = 400;
  if (!who.portrait) return monogram(size);
  const picture = sheet(size, size, who.portrait.paper, username);
  const g = portrait({ seed: username, ...who.portrait });
  const scale = size / 46;
  lay(picture, render(g, { scale }), size / 2, size * (who.portrait.cut === 'bun' ? 0.54 : 0.47), 1.1);
  return develop(picture);
}

/** The mark of the site's own label: the letter L in cloth with a turned-over hem. */
function monogram(size) {
  const picture = sheet(size, size, '#6b2d37', 'lookbook');
  const fills = lettering('L', 0, 11, 34, font('fraunces', 600));
  const g = {
    seed: 'lookbook',
    wobble: 0.1,
    puff: {},
    parts: fills.map((outline) => ({ outline, material: { weave: 'wool', color: '#f2ece0' }, lift: 0, roll: 0.8, rollHeight: 0.4, inherit: 0 })),
  };
  lay(picture, render(g, { scale: size / 46 }), size / 2, size / 2 + 4, 0.8);
  return develop(picture);
}

const ICONS = {
  tops: 'oxford-shirt-sky',
  knitwear: 'cable-jumper',
  outerwear: 'camel-overcoat',
  bottoms: 'straight-jeans',
  dresses: 'slip-dress-sage',
  shoes: 'penny-loafers',
  bags: 'flap-bag-burgundy',
  accessories: 'round-sunglasses',
};

export async function categoryIcon(slug) {
  const garment = garmentOf(itemBySlug.get(ICONS[slug]));
  const box = extents(garment, 0);
  const size = 256;
  const scale = (size * 2 * 0.9) / Math.max(box.w, box.h);
  const png = await cutout(render(garment, { scale })).png().toBuffer();
  return sharp(png)
    .trim()
    .resize(size - 16, size - 16, { fit: 'contain', background: { r: 0, g: 0, b: 0, alpha: 0 } })
    .extend({ top: 8, bottom: 8, left: 8, right: 8, background: { r: 0, g: 0, b: 0, alpha: 0 } });
}
