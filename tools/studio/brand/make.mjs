// Writes Lookbook's mark and wordmark as plain paths: node brand/make.mjs

import { writeFileSync } from 'node:fs';
import { font } from '../catalogue/prints.mjs';

const write = (name, text) => writeFileSync(new URL(name, import.meta.url), text);
const face = font('fraunces', 600);

const n = (v) => String(Math.round(v * 100) / 100);

/** Outline of text as an SVG path, its left edge at x and its baseline at y. */
function outline(text, x, y, size) {
  const box = face.getPath(text, 0, 0, size).getBoundingBox();
  const { commands } = face.getPath(text, x - box.x1, y, size);
  const d = commands.map((c) => {
    const points = [c.x1, c.y1, c.x2, c.y2, c.x, c.y].filter((v) => v !== undefined);
    return c.type + points.map(n).join(' ');
  });
  return { d: d.join(''), width: box.x2 - box.x1 };
}

// The mark is a garment label with the letter L, and a line of stitches along its left edge.
const l = outline('L', 11.4, 24.2, 23.4);
const stitches = [6.2, 11.1, 16, 20.9, 25.8].map((y) => `M7 ${y - 1.3}v2.6`).join('');
write(
  'mark.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#131110"/><path d="${stitches}" stroke="#ff5a48" stroke-width="1.5" stroke-linecap="round"/><path d="${l.d}" fill="#f5f1ea"/></svg>\n`,
);
write(
  'mark-mono.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="currentColor"><path d="${stitches}" stroke="currentColor" stroke-width="1.5" stroke-linecap="round"/><path d="${l.d}"/></svg>\n`,
);

const word = outline('Lookbook', 0, 30, 36);
write(
  'wordmark.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${Math.ceil(word.width)} 40" fill="currentColor" role="img" aria-label="Lookbook"><path d="${word.d}"/></svg>\n`,
);
