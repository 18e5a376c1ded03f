// When outfits appeared, and who liked and kept what.

import { ITEMS } from '../catalogue/items.mjs';
import { OUTFITS } from '../catalogue/outfits.mjs';
import { PEOPLE } from '../catalogue/people.mjs';
import { READERS } from '../catalogue/readers.mjs';
import { random } from '../render/noise.mjs';

const DAY = 24;

/** Age of each outfit in hours: a few from today, more from this week, the rest over the year. */
export const AGES = (() => {
  const rng = random('ages');
  const approved = OUTFITS.filter((o) => o.status === 'approved');
  const waiting = OUTFITS.filter((o) => o.status !== 'approved');
  const order = [...approved];
  for (let i = order.length - 1; i > 0; i--) {
    const j = rng.int(0, i);
    [order[i], order[j]] = [order[j], order[i]];
  }
  const ages = new Map();
  // The six outfits of the sign-in slideshow are the newest, because the slideshow shows the newest outfits.
  order.sort((a, b) => Number(b.featured) - Number(a.featured));
  order.forEach((o, i) => {
    const [lo, hi] = i < 6 ? [1.5, 20] : i < 15 ? [1.2 * DAY, 6.6 * DAY] : i < 27 ? [8 * DAY, 28 * DAY] : [33 * DAY, 350 * DAY];
    ages.set(o.slug, Math.round(rng.range(lo, hi) * 10) / 10);
  });
  waiting.forEach((o) => ages.set(o.slug, Math.round(rng.range(3, o.status === 'rejected' ? 20 * DAY : 4 * DAY) * 10) / 10));
  return ages;
})();

const everyone = [...PEOPLE.filter((p) => p.role !== 'admin'), ...READERS];

/** Popularity: a few outfits have many likes, most have some, and some have hardly any. */
function draw(rng, pool, amount) {
  const left = [...pool];
  const out = [];
  while (out.length < amount && left.length) out.push(left.splice(rng.int(0, left.length - 1), 1)[0]);
  return out;
}

export const LIKES = (() => {
  const rng = random('likes');
  const rows = [];
  const approved = OUTFITS.filter((o) => o.status === 'approved');
  const ranked = [...approved].sort((a, b) => Number(b.featured) - Number(a.featured) || rng.next() - 0.5);
  ranked.forEach((o, rank) => {
    const age = AGES.get(o.slug);
    const fame = 74 / (1 + rank * 0.16) + rng.range(1, 9);
    const known = 0.3 + 0.7 * Math.min(1, age / (6 * DAY));
    for (const who of draw(
      rng,
      everyone.filter((p) => p.username !== o.creator),
      Math.round(fame * known),
    ))
      rows.push({ who: who.username, outfit: o.slug, hours: Math.round(age * rng.next() ** 1.7 * 10) / 10 });
  });
  for (const item of ITEMS) {
    const n = Math.floor(rng.next() ** 2.6 * 9);
    for (const who of draw(rng, everyone, n)) rows.push({ who: who.username, item: item.slug, hours: Math.round(rng.range(1, 200 * DAY)) });
  }
  return rows;
})();

export const BOOKMARKS = (() => {
  const rng = random('bookmarks');
  const approved = OUTFITS.filter((o) => o.status === 'approved');
  return [...PEOPLE, ...READERS.slice(0, 20)].flatMap((p) =>
    draw(
      rng,
      approved.filter((o) => o.creator !== p.username),
      p.username === 'noah' ? 9 : rng.int(1, 7),
    ).map((o) => ({ who: p.username, outfit: o.slug, hours: Math.round(AGES.get(o.slug) * rng.range(0.05, 0.9) * 10) / 10 })),
  );
})();
