// Where the pieces of an outfit lie. The large ones take places from a
// template; the small ones look for the calmest free spot on the table.
// The table is 160 × 200 cm.

import { garmentOf } from './garments/index.mjs';
import { random } from './render/noise.mjs';
import { extents, render } from './render/relief.mjs';

const TABLE = { w: 160, h: 200 };

/** The part that a piece plays in an outfit, such as top, bottom or shoes. */
function roleOf(item) {
  if (item.category === 'Outerwear') return 'outer';
  if (item.category === 'Dresses') return 'dress';
  if (item.category === 'Bottoms') return 'bottom';
  if (item.category === 'Tops' || item.category === 'Knitwear') return 'top';
  return 'small';
}

/**
 * Templates: middle of each large piece, its turn and its size. Lower pieces
 * come first, later ones lie on top.
 */
const TEMPLATES = {
  'outer top bottom': [
    { outer: [55, 66, -4, 0.82], bottom: [112, 122, 3, 0.84], top: [108, 52, 4, 0.72] },
    { outer: [56, 68, -3, 0.84], bottom: [110, 120, 2, 0.86], top: [110, 50, 3, 0.7] },
    // Fanned out from the upper corner.
    { bottom: [96, 126, -16, 0.84], outer: [54, 66, -13, 0.82], top: [112, 52, 13, 0.7] },
    // The trousers in the middle, both tops above them.
    { bottom: [82, 132, -2, 0.84], top: [118, 58, 9, 0.72], outer: [48, 62, -8, 0.8] },
    // Leaning: everything turned one way.
    { bottom: [52, 128, 12, 0.84], top: [62, 50, 10, 0.72], outer: [112, 84, 12, 0.82] },
  ],
  'outer dress': [
    { outer: [108, 62, 5, 0.82], dress: [56, 92, -3, 0.94] },
    { dress: [104, 104, 11, 0.94], outer: [52, 62, -11, 0.84] },
    { dress: [54, 98, -12, 0.92], outer: [108, 76, 10, 0.82] },
  ],
  'outer bottom': [
    { outer: [60, 66, -4, 0.9], bottom: [110, 122, 3, 0.88] },
    { bottom: [66, 126, 9, 0.88], outer: [92, 60, -6, 0.9] },
  ],
  'top bottom': [
    { bottom: [106, 122, 3, 0.96], top: [60, 62, -5, 0.92] },
    { bottom: [84, 126, -2, 0.92], top: [80, 54, 1.5, 0.9] },
    { bottom: [108, 118, 4, 0.96], top: [58, 60, -4, 0.94] },
    { bottom: [102, 118, -15, 0.94], top: [58, 62, -14, 0.92] },
    { bottom: [58, 124, 10, 0.94], top: [98, 58, 12, 0.94] },
  ],
  dress: [{ dress: [62, 100, -4, 1.16] }, { dress: [80, 92, 2, 1.12] }, { dress: [70, 98, -14, 1.12] }],
};

/** Scale of small items: drawn slightly larger than in reality, so that they can be recognised. */
const SMALL = {
  sneakers: 1.2,
  flats: 1.22,
  boots: 1.22,
  pumps: 1.22,
  bag: 1,
  cap: 1.12,
  beanie: 1.12,
  brimHat: 1.06,
  bucketHat: 1.1,
  scarf: 0.84,
  silkScarf: 0.86,
  sunglasses: 1.6,
  watch: 1.25,
  belt: 1.02,
  socks: 0.86,
  necklace: 1.3,
  earrings: 2,
};
const TURN = {
  sneakers: [-14, 10],
  flats: [-14, 10],
  boots: [-14, 10],
  pumps: [-16, 12],
  bag: [-8, 8],
  cap: [-12, 12],
  beanie: [-10, 10],
  brimHat: [-10, 10],
  bucketHat: [-10, 10],
  scarf: [-12, 8],
  silkScarf: [-14, 14],
  sunglasses: [-18, 14],
  watch: [10, 30],
  belt: [-20, 20],
  socks: [-8, 8],
  necklace: [-6, 10],
  earrings: [-6, 6],
};
const ORDER = [
  'bag',
  'boots',
  'pumps',
  'sneakers',
  'flats',
  'scarf',
  'brimHat',
  'silkScarf',
  'belt',
  'socks',
  'cap',
  'beanie',
  'bucketHat',
  'watch',
  'sunglasses',
  'necklace',
  'earrings',
];

/** Footprint at one pixel per cm, about the sprite's own middle. */
function footprint(item, turn, size) {
  const s = render(garmentOf(item), { scale: size, rotate: turn });
  const cells = [];
  // Rows are filled from edge to edge, so that no item is placed inside the opening of a strap or a belt.
  let x0 = 1e9;
  let y0 = 1e9;
  let x1 = -1e9;
  let y1 = -1e9;
  for (let y = 0; y < s.h; y++) {
    let from = -1;
    let to = -1;
    for (let x = 0; x < s.w; x++)
      if (s.a[y * s.w + x] > 0.4) {
        if (from < 0) from = x;
        to = x;
      }
    if (from < 0) continue;
    x0 = Math.min(x0, from);
    x1 = Math.max(x1, to);
    y0 = Math.min(y0, y);
    y1 = Math.max(y1, y);
    const whole = roleOf(item) === 'small';
    for (let x = from; x <= to; x++) if (whole || s.a[y * s.w + x] > 0.4) cells.push([x, y]);
  }
  const cx = Math.round((x0 + x1) / 2);
  const cy = Math.round((y0 + y1) / 2);
  return { cells: cells.map(([x, y]) => [x - cx, y - cy]), hw: (x1 - x0) / 2, hh: (y1 - y0) / 2 };
}

/** Distance (cm, capped) of every cell of the table to the nearest thing on it. */
function clearance(taken) {
  const { w, h } = TABLE;
  const d = new Float32Array(w * h);
  for (let i = 0; i < d.length; i++) d[i] = taken[i] ? 0 : 99;
  const relax = (i, j, c) => {
    if (d[j] + c < d[i]) d[i] = d[j] + c;
  };
  for (let y = 0; y < h; y++)
    for (let x = 0; x < w; x++) {
      const i = y * w + x;
      if (x) relax(i, i - 1, 1);
      if (y) relax(i, i - w, 1);
      if (x && y) relax(i, i - w - 1, 1.41);
      if (x < w - 1 && y) relax(i, i - w + 1, 1.41);
    }
  for (let y = h - 1; y >= 0; y--)
    for (let x = w - 1; x >= 0; x--) {
      const i = y * w + x;
      if (x < w - 1) relax(i, i + 1, 1);
      if (y < h - 1) relax(i, i + w, 1);
      if (x < w - 1 && y < h - 1) relax(i, i + w + 1, 1.41);
      if (x && y < h - 1) relax(i, i + w - 1, 1.41);
    }
  return d;
}

function stamp(taken, fp, x, y) {
  for (const [dx, dy] of fp.cells) {
    const px = Math.round(x) + dx;
    const py = Math.round(y) + dy;
    if (px >= 0 && py >= 0 && px < TABLE.w && py < TABLE.h) taken[py * TABLE.w + px] = 1;
  }
}

/** Places every piece of an outfit; returns what outfitPicture draws, lowest first. */
export function arrange(outfit) {
  const rng = random(`layout-${outfit.slug}`);
  const roles = {};
  const small = [];
  for (const item of outfit.items) {
    const role = roleOf(item);
    if (role === 'small') small.push(item);
    else if (role === 'top' && roles.top && !roles.outer) {
      // Of two tops the wider one is drawn open, as a jacket.
      const [inner, over] = ['shirt', 'cardigan'].includes(item.garment) || item.cut.neck === 'cardigan' ? [roles.top, item] : [item, roles.top];
      roles.top = inner;
      roles.outer = over;
    } else if (role === 'top' && roles.dress) roles.outer = item;
    else roles[role] = item;
  }
  const key = ['outer', 'top', 'dress', 'bottom'].filter((r) => roles[r]).join(' ');
  const brief = roles.bottom && extents(garmentOf(roles.bottom)).h < 55;
  const template =
    brief && key === 'top bottom' ? TEMPLATES[key][1] : outfit.layout != null ? TEMPLATES[key][outfit.layout] : rng.pick(TEMPLATES[key] ?? []);
  if (!template) throw new Error(`${outfit.name}: no template for "${key}"`);
  const mirror = outfit.mirror ?? rng.chance(0.5);

  const taken = new Uint8Array(TABLE.w * TABLE.h);
  const placed = [];
  const put = (item, x, y, turn, size) => {
    const o = outfit.place[item.slug] ?? {};
    const one = { item, x: o.x ?? x, y: o.y ?? y, turn: o.turn ?? turn, size: o.size ?? size };
    const fp = footprint(item, one.turn, one.size);
    stamp(taken, fp, one.x, one.y);
    placed.push({ ...one, fp });
  };
  for (const role of Object.keys(template)) {
    const item = roles[role];
    let [x, y, turn, size] = template[role];
    if (role === 'bottom' && roles.top && Math.abs(x - template.top[0]) < 15) {
      // A bottom is placed so that its waist lies just below the hem of the top, whatever their lengths are.
      const half = (one, k) => ((box) => (box.h / 2) * k)(extents(garmentOf(one)));
      y = template.top[1] + half(roles.top, template.top[3]) + half(item, size) - 5;
    }
    const long = item.garment === 'tailored' && item.cut.cut?.includes('coat') ? 1 : role === 'outer' ? 1.02 : 1;
    put(item, mirror ? TABLE.w - x : x, y + (long === 1 ? 0 : -8), (mirror ? -turn : turn) + rng.range(-1, 1), size * long);
  }

  small.sort((a, b) => ORDER.indexOf(a.garment) - ORDER.indexOf(b.garment));
  for (const item of small) {
    const turn = outfit.place[item.slug]?.turn ?? rng.range(...TURN[item.garment]);
    const size = outfit.place[item.slug]?.size ?? SMALL[item.garment];
    if (outfit.place[item.slug]?.x != null) {
      put(item, 0, 0, turn, size);
      continue;
    }
    const fp = footprint(item, turn, size);
    const free = clearance(taken);
    const shoe = item.category === 'Shoes';
    const margin = 9;
    let best = null;
    for (let y = margin + fp.hh; y <= TABLE.h - margin - fp.hh; y += 2)
      for (let x = margin + fp.hw; x <= TABLE.w - margin - fp.hw; x += 2) {
        let overlap = 0;
        let near = 99;
        for (let i = 0; i < fp.cells.length; i += 3) {
          const c = free[(Math.round(y) + fp.cells[i][1]) * TABLE.w + Math.round(x) + fp.cells[i][0]] ?? 0;
          if (c === 0) overlap += 1;
          if (c < near) near = c;
        }
        const share = overlap / (fp.cells.length / 3);
        // The score of a place: free space up to a limit; shoes prefer the lower part, hats and glasses the upper
        // part.
        const air = Math.min(near, 5) / 5;
        const home = shoe ? (y - 150) / 60 : item.subcategory === 'Hats' || item.subcategory === 'Eyewear' ? (60 - y) / 110 : 0;
        const edge = -Math.hypot(x - TABLE.w / 2, y - TABLE.h / 2) / 260;
        const score = -share * 6 + air * 1.5 + home * 0.7 + edge;
        if (!best || score > best.score) best = { score, x, y, share };
      }
    if (!best) throw new Error(`${outfit.name}: no room for ${item.slug}`);
    put(item, best.x, best.y, turn, size);
    placed.at(-1).share = best.share;
  }

  // Centre the whole on the table.
  const x0 = Math.min(...placed.map((p) => p.x - p.fp.hw));
  const x1 = Math.max(...placed.map((p) => p.x + p.fp.hw));
  const y0 = Math.min(...placed.map((p) => p.y - p.fp.hh));
  const y1 = Math.max(...placed.map((p) => p.y + p.fp.hh));
  const fit = Math.min(1.24, (TABLE.w - 23) / (x1 - x0), (TABLE.h - 20) / (y1 - y0));
  const cx = (x0 + x1) / 2;
  const cy = (y0 + y1) / 2;
  return placed.map(({ item, x, y, turn, size, share }) => ({
    item,
    turn,
    share,
    x: TABLE.w / 2 + (x - cx) * fit,
    y: TABLE.h / 2 + (y - cy) * fit,
    size: size * fit,
  }));
}
