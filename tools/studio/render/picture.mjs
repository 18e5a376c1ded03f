// A picture: tinted paper, sprites laid on it with their shadows, WebP out.

import sharp from 'sharp';
import { decode, encode } from './colour.mjs';
import { blur, field } from './field.mjs';
import { noise2, seedOf } from './noise.mjs';

/** Blank sheet of paper under soft light from the upper left. */
export function sheet(w, h, tint, seedText) {
  const seed = seedOf(seedText);
  // Light and grain are added to all channels alike in gamma space: the paper keeps one chroma,
  // which compresses without bands.
  const code = parseInt(tint.slice(1), 16);
  const base = [(code >> 16) & 255, (code >> 8) & 255, code & 255];
  const data = new Float32Array(w * h * 3);
  const u = 1 / w;
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const fx = x * u;
      const fy = y * u;
      const d = Math.hypot(fx - 0.12, fy - 0.08);
      const fall = 4.5 - 9.5 * d * d * 0.62 - 3.4 * d;
      const cloud = 0.8 * noise2(fx * 2.2, fy * 2.2, seed);
      const grain = 1.05 * noise2(x * 0.42, y * 0.42, seed + 1) + 0.6 * noise2(x * 0.11, y * 0.16, seed + 2);
      const k = fall + cloud + grain;
      const i = (y * w + x) * 3;
      for (let q = 0; q < 3; q++) data[i + q] = decode(base[q] + k);
    }
  }
  return { w, h, data };
}

/**
 * Lays a sprite on the picture with its origin at (x, y) px. `thick` is how far
 * it stands off the paper, in cm.
 */
export function lay(picture, sprite, x, y, thick = 1) {
  const { w, h, data } = picture;
  const s = sprite.scale;
  const left = Math.round(x - sprite.ox);
  const top = Math.round(y - sprite.oy);
  // Alpha at half resolution is plenty for soft shadows.
  const pad = Math.ceil(7 * thick * s);
  const half = 2;
  const fw = Math.ceil((sprite.w + pad * 2) / half);
  const fh = Math.ceil((sprite.h + pad * 2) / half);
  const f = field(0, 0, fw, fh);
  for (let j = 0; j < fh; j++)
    for (let i = 0; i < fw; i++) {
      const sx = i * half - pad;
      const sy = j * half - pad;
      if (sx >= 0 && sy >= 0 && sx < sprite.w && sy < sprite.h) f.d[j * fw + i] = sprite.a[sy * sprite.w + sx];
    }
  const layers = [
    { f: blur(f, (0.22 * thick * s) / half), dx: 0.2 * thick * s, dy: 0.28 * thick * s, k: 0.42 },
    { f: blur(f, (0.8 * thick * s) / half), dx: 0.7 * thick * s, dy: 0.95 * thick * s, k: 0.3 },
    { f: blur(f, (2.4 * thick * s) / half), dx: 1.6 * thick * s, dy: 2.2 * thick * s, k: 0.2 },
  ];
  for (let py = Math.max(0, top - pad); py < Math.min(h, top + sprite.h + pad); py++) {
    for (let px = Math.max(0, left - pad); px < Math.min(w, left + sprite.w + pad); px++) {
      let keep = 1;
      for (const l of layers) {
        const v = bilinear(l.f, (px - left + pad - l.dx) / half, (py - top + pad - l.dy) / half);
        keep *= 1 - l.k * v;
      }
      const i = (py * w + px) * 3;
      if (keep < 0.999) {
        const dark = 1 - keep;
        data[i] *= 1 - dark;
        data[i + 1] *= 1 - dark * 1.01;
        data[i + 2] *= 1 - dark * 0.98;
      }
    }
  }
  for (let sy = 0; sy < sprite.h; sy++) {
    const py = top + sy;
    if (py < 0 || py >= h) continue;
    for (let sx = 0; sx < sprite.w; sx++) {
      const px = left + sx;
      if (px < 0 || px >= w) continue;
      const k = sy * sprite.w + sx;
      const a = sprite.a[k];
      if (a <= 0) continue;
      const i = (py * w + px) * 3;
      for (let q = 0; q < 3; q++) data[i + q] += (sprite.rgb[k * 3 + q] - data[i + q]) * a;
    }
  }
}

function bilinear(f, x, y) {
  const ix = Math.floor(x);
  const iy = Math.floor(y);
  if (ix < 0 || iy < 0 || ix >= f.w - 1 || iy >= f.h - 1) return 0;
  const fx = x - ix;
  const fy = y - iy;
  const k = iy * f.w + ix;
  const a = f.d[k] + (f.d[k + 1] - f.d[k]) * fx;
  const b = f.d[k + f.w] + (f.d[k + f.w + 1] - f.d[k + f.w]) * fx;
  return a + (b - a) * fy;
}

/** The finished picture as a sharp image. */
export function develop(picture) {
  const { w, h, data } = picture;
  const out = Buffer.alloc(w * h * 3);
  for (let i = 0; i < out.length; i++) out[i] = encode(data[i]);
  return sharp(out, { raw: { width: w, height: h, channels: 3 } });
}

/** A sprite alone on transparency, as a sharp image. */
export function cutout(sprite) {
  const { w, h } = sprite;
  const out = Buffer.alloc(w * h * 4);
  for (let i = 0; i < w * h; i++) {
    for (let q = 0; q < 3; q++) out[i * 4 + q] = encode(sprite.rgb[i * 3 + q]);
    out[i * 4 + 3] = Math.round(Math.min(1, sprite.a[i]) * 255);
  }
  return sharp(out, { raw: { width: w, height: h, channels: 4 } });
}
