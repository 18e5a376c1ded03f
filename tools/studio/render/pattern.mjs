// Patterns dyed, woven or printed on cloth: (u, v, c) => void changes the
// linear colour c in place. u runs across the grain, v along it, in cm.

import { rgb } from './colour.mjs';
import { fbm, hash2, noise2 } from './noise.mjs';

const fract = (x) => x - Math.floor(x);

/** 1 inside a stripe of `width` in every `pitch`, soft by half a pixel. */
function stripe(x, pitch, width, px, phase = 0) {
  const k = (fract(x / pitch + phase) - 0.5) * pitch;
  const d = width / 2 - Math.abs(k);
  return Math.min(1, Math.max(0, d / px + 0.5));
}

function blend(c, to, a) {
  c[0] += (to[0] - c[0]) * a;
  c[1] += (to[1] - c[1]) * a;
  c[2] += (to[2] - c[2]) * a;
}

/** Builds the painter of a pattern, or null for a solid. */
export function pattern(spec, { px, seed }) {
  if (!spec) return null;
  const make = PATTERNS[spec.kind];
  if (!make) throw new Error(`unknown pattern ${spec.kind}`);
  return make({ ...spec, ink: (spec.colors ?? ['#ffffff']).map(rgb) }, px, seed);
}

const PATTERNS = {
  /** Across the body: Breton and rugby stripes. `from`/`to` bound them in v. */
  breton({ ink, pitch = 2.6, width = 0.9, from = -1e9, to = 1e9 }, px) {
    return (u, v, c) => {
      if (v < from || v > to) return;
      blend(c, ink[0], stripe(v, pitch, width, px));
    };
  },
  /** Wide blocks across the body, one ink after another. */
  blocks({ ink, edges }, px) {
    return (u, v, c) => {
      for (let i = 0; i < edges.length; i++) {
        const a = Math.min(1, Math.max(0, (v - edges[i]) / px + 0.5));
        if (a > 0) blend(c, ink[i % ink.length], a);
      }
    };
  },
  /** Shirt stripes along the grain. */
  pinstripe({ ink, pitch = 1.3, width = 0.35, strength = 0.9 }, px) {
    const w = Math.max(width, px * 0.9);
    return (u, v, c) => blend(c, ink[0], strength * stripe(u, pitch, w, px));
  },
  /** Two-way transparent bands. */
  gingham({ ink, pitch = 1.8 }, px) {
    return (u, v, c) => {
      const a = stripe(u, pitch, pitch / 2, px);
      const b = stripe(v, pitch, pitch / 2, px);
      blend(c, ink[0], 0.5 * a + 0.5 * b - 0.02);
    };
  },
  /** Plaid: wide bands, thin overlines. */
  tartan({ ink, pitch = 9 }, px) {
    const [a, b = ink[0], d = b] = ink;
    const way = (x, c) => {
      blend(c, a, 0.5 * stripe(x, pitch, pitch * 0.38, px));
      blend(c, b, 0.55 * stripe(x, pitch, pitch * 0.09, px, 0.5));
      blend(c, d, 0.65 * stripe(x, pitch, Math.max(0.18, px), px, 0.24));
      blend(c, d, 0.65 * stripe(x, pitch, Math.max(0.18, px), px, -0.24));
    };
    return (u, v, c) => {
      way(u, c);
      way(v, c);
    };
  },
  windowpane({ ink, pitch = 6, width = 0.2 }, px) {
    const w = Math.max(width, px);
    return (u, v, c) => {
      blend(c, ink[0], 0.7 * stripe(u, pitch, w, px));
      blend(c, ink[0], 0.7 * stripe(v, pitch * 1.2, w, px));
    };
  },
  /**
   * Houndstooth at the smallest size that the picture can show; it looks like a glen check from a distance.
   */
  glen({ ink, pitch = 8 }, px) {
    const p = Math.max(0.44, px * 3.6);
    return (u, v, c) => {
      const su = fract(u / pitch) < 0.5;
      const sv = fract(v / pitch) < 0.5;
      const a = stripe(u, p, p / 2, px);
      const b = stripe(v, p, p / 2, px);
      const fine = su === sv ? Math.abs(a - b) * 0.3 + a * b * 0.45 : su ? a * 0.38 : b * 0.38;
      blend(c, ink[0], fine);
      if (ink[1]) blend(c, ink[1], 0.4 * (stripe(u, pitch, Math.max(0.16, px), px, 0.25) + stripe(v, pitch, Math.max(0.16, px), px, 0.25)));
    };
  },
  dots({ ink, pitch = 2.2, radius = 0.36 }, px) {
    return (u, v, c) => {
      const row = Math.floor(v / pitch);
      const x = (fract(u / pitch + (row & 1) * 0.5) - 0.5) * pitch;
      const y = (fract(v / pitch) - 0.5) * pitch;
      blend(c, ink[0], Math.min(1, Math.max(0, (radius - Math.hypot(x, y)) / px + 0.5)));
    };
  },
  /** Scattered five-petal blossoms with leaves. */
  floral({ ink, pitch = 4.6, size = 1 }, px, seed) {
    const [petal, heart, leaf = ink[0]] = ink;
    return (u, v, c) => {
      const cu = Math.floor(u / pitch);
      const cv = Math.floor(v / pitch);
      for (let j = -1; j <= 1; j++)
        for (let i = -1; i <= 1; i++) {
          const gx = cu + i;
          const gy = cv + j;
          const r = hash2(gx, gy, seed);
          const x = u - (gx + 0.5 + (hash2(gx, gy, seed + 1) - 0.5) * 0.75 + (gy & 1) * 0.4) * pitch;
          const y = v - (gy + 0.5 + (hash2(gx, gy, seed + 2) - 0.5) * 0.75) * pitch;
          const big = pitch * size * (0.2 + 0.16 * r);
          const d = Math.hypot(x, y);
          if (d > big * 2.4) continue;
          const a = Math.atan2(y, x) + r * 6.28;
          // Two leaves behind the blossom.
          for (const t of [0.9, 3.6]) {
            const la = a - t;
            const lx = Math.cos(la) * d - big * 1.35;
            const ly = Math.sin(la) * d;
            const e = (lx / (big * 0.75)) ** 2 + (ly / (big * 0.28)) ** 2;
            blend(c, leaf, Math.min(1, Math.max(0, ((1 - e) * big * 0.3) / px + 0.5)) * (e < 1.6 ? 1 : 0));
          }
          const edge = big * (0.5 + 0.5 * Math.abs(Math.cos(a * 2.5)) ** 0.55) * (1 + 0.1 * noise2(x * 3, y * 3, seed));
          blend(c, petal, Math.min(1, Math.max(0, (edge - d) / px + 0.5)) * 0.95);
          blend(c, heart, Math.min(1, Math.max(0, (big * 0.26 - d) / px + 0.5)));
        }
    };
  },
  /** Large soft brush shapes. */
  brush({ ink, scale = 7 }, px, seed) {
    const k = scale;
    return (u, v, c) => {
      ink.forEach((col, i) => {
        const n = fbm(u / k + i * 31, v / (k * 0.62), seed + i * 97, 3);
        const rim = 0.12 + 0.06 * i;
        blend(c, col, Math.min(1, Math.max(0, ((n - rim) * k * 0.5) / px + 0.5)));
      });
    };
  },
  /** Flecks of coloured yarn. */
  nep({ ink, pitch = 0.9, amount = 0.34 }, px, seed) {
    return (u, v, c) => {
      const gx = Math.floor(u / pitch);
      const gy = Math.floor(v / pitch);
      const r = hash2(gx, gy, seed);
      if (r > amount) return;
      const x = u - (gx + 0.3 + 0.4 * hash2(gx, gy, seed + 1)) * pitch;
      const y = v - (gy + 0.3 + 0.4 * hash2(gx, gy, seed + 2)) * pitch;
      const col = ink[Math.floor((r / amount) * ink.length)];
      blend(c, col, 0.85 * Math.min(1, Math.max(0, (0.14 - Math.hypot(x, y * 1.5)) / px + 0.5)));
    };
  },
  /** Nordic yoke: rows of small motifs between `from` and `to`. */
  fairisle({ ink, from = 6, to = 26, unit = 0.62 }, px) {
    const p = Math.max(unit, px * 3);
    const rows = ['1000000', '0100010', '1010101', '0001000', '0011100', '0111110', '0011100', '0001000', '1010101', '0100010', '1000000', '0000000'];
    return (u, v, c) => {
      if (v < from || v > to) return;
      const y = Math.floor((v - from) / p);
      const x = Math.floor(u / p);
      const row = rows[((y % 12) + 12) % 12];
      if (row[((x % 7) + 7) % 7] === '1') blend(c, ink[Math.floor(y / 12) % ink.length], 0.92);
    };
  },
  argyle({ ink, pitch = 9 }, px) {
    return (u, v, c) => {
      const a = fract(u / pitch) - 0.5;
      const b = fract(v / (pitch * 1.5)) - 0.5;
      const d = (0.5 - Math.abs(a) - Math.abs(b)) * pitch * 0.7;
      blend(c, ink[0], Math.min(1, Math.max(0, d / px + 0.5)));
      const l = Math.abs(Math.abs(fract(u / pitch + 0.5) - 0.5) + Math.abs(fract(v / (pitch * 1.5) + 0.5) - 0.5) - 0.5) * pitch * 0.7;
      blend(c, ink[1] ?? ink[0], 0.9 * Math.min(1, Math.max(0, (0.12 - l) / px + 0.5)));
    };
  },
};
