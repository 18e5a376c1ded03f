// Lettering printed on cloth, as outlines from an open font.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import opentype from 'opentype.js';

const require = createRequire(import.meta.url);
const cache = new Map();

/** Loads a fontsource face, e.g. ('inter', 800). */
export function font(family, weight = 400, style = 'normal') {
  const key = `${family}-${weight}-${style}`;
  if (!cache.has(key)) {
    const file = require.resolve(`@fontsource/${family}/files/${family}-latin-${weight}-${style}.woff`);
    const bytes = readFileSync(file);
    cache.set(key, opentype.parse(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)));
  }
  return cache.get(key);
}

/** Glyph outlines of a line of text, centred at (x, y), as contour lists. */
export function lettering(text, x, y, size, face, spacing = 0) {
  const glyphs = [];
  let pen = 0;
  const k = size / face.unitsPerEm;
  for (const ch of text) {
    const glyph = face.charToGlyph(ch);
    glyphs.push([glyph, pen]);
    pen += glyph.advanceWidth * k + spacing;
  }
  const left = x - (pen - spacing) / 2;
  return glyphs.map(([glyph, at]) => contours(glyph.getPath(left + at, y, size).commands)).filter((c) => c.length);
}

function contours(commands) {
  const out = [];
  let cur = [];
  let p = [0, 0];
  for (const c of commands) {
    if (c.type === 'M') {
      if (cur.length > 2) out.push(cur);
      cur = [[c.x, c.y]];
    } else if (c.type === 'L') cur.push([c.x, c.y]);
    else if (c.type === 'Q' || c.type === 'C') {
      for (let i = 1; i <= 6; i++) {
        const t = i / 6;
        const m = 1 - t;
        cur.push(
          c.type === 'Q'
            ? [m * m * p[0] + 2 * m * t * c.x1 + t * t * c.x, m * m * p[1] + 2 * m * t * c.y1 + t * t * c.y]
            : [
                m ** 3 * p[0] + 3 * m * m * t * c.x1 + 3 * m * t * t * c.x2 + t ** 3 * c.x,
                m ** 3 * p[1] + 3 * m * m * t * c.y1 + 3 * m * t * t * c.y2 + t ** 3 * c.y,
              ],
        );
      }
    }
    if (c.type !== 'Z') p = [c.x, c.y];
  }
  if (cur.length > 2) out.push(cur);
  // The largest contour first: it is the solid one, the others are holes.
  const size = (q) => Math.abs(q.reduce((a, [x, y], i) => a + q[(i + 1) % q.length][0] * y - x * q[(i + 1) % q.length][1], 0));
  return out.sort((a, b) => size(b) - size(a));
}

/** A two-line print for the chest. Returns (cut, y) => marks. */
export const wordmark =
  (big, small, color) =>
  (cut, y = 26) => {
    const face = font('inter', 800);
    return [
      { kind: 'ink', fills: lettering(big, 0, y, 9.6, face, 0.5), color, alpha: 0.9, raise: 0.006 },
      { kind: 'ink', fills: lettering(small, 0, y + 3.6, 2.35, face, 0.95), color, alpha: 0.9, raise: 0.006 },
    ];
  };
