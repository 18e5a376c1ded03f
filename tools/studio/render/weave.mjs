// Surface textures of cloth. Each weave gives, for a point in centimetres along the grain, a small height (cm) and a
// tone (albedo multiplier around 1). No period is shorter than the picture can resolve, so textures do not alias.

import { fbm, hash2, noise2 } from './noise.mjs';

const TAU = Math.PI * 2;
const fract = (x) => x - Math.floor(x);
const tri = (x) => Math.abs(fract(x) - 0.5) * 2;

/**
 * Character of each material: crumple is the depth of soft wrinkles (cm),
 * `spec`/`gloss` its shine, roll the softness of its edge.
 */
export const MATERIALS = {
  jersey: { crumple: 0.2, reach: 10, spec: 0.01, gloss: 6 },
  poplin: { crumple: 0.19, reach: 8.5, spec: 0.015, gloss: 8 },
  linen: { crumple: 0.2, reach: 6.5, spec: 0.01, gloss: 8 },
  denim: { crumple: 0.15, reach: 7, spec: 0.01, gloss: 6 },
  twill: { crumple: 0.15, reach: 8, spec: 0.012, gloss: 7 },
  wool: { crumple: 0.15, reach: 12, spec: 0.008, gloss: 5 },
  herringbone: { crumple: 0.15, reach: 12, spec: 0.008, gloss: 5 },
  knit: { crumple: 0.18, reach: 10, spec: 0.006, gloss: 4 },
  rib: { crumple: 0.12, reach: 9, spec: 0.006, gloss: 4 },
  chunky: { crumple: 0.16, reach: 9, spec: 0.006, gloss: 4 },
  fleece: { crumple: 0.26, reach: 9, spec: 0.006, gloss: 4 },
  satin: { crumple: 0.24, reach: 13, spec: 0.13, gloss: 9 },
  nylon: { crumple: 0.22, reach: 5.5, spec: 0.09, gloss: 12 },
  leather: { crumple: 0.12, reach: 7, spec: 0.14, gloss: 16 },
  suede: { crumple: 0.06, reach: 6, spec: 0.004, gloss: 4 },
  canvas: { crumple: 0.1, reach: 8, spec: 0.008, gloss: 6 },
  corduroy: { crumple: 0.12, reach: 9, spec: 0.02, gloss: 6 },
  straw: { crumple: 0.05, reach: 9, spec: 0.03, gloss: 10 },
  rubber: { crumple: 0.02, reach: 8, spec: 0.04, gloss: 12 },
  plastic: { crumple: 0, reach: 8, spec: 0.2, gloss: 40 },
  metal: { crumple: 0, reach: 8, spec: 0.6, gloss: 28 },
  glass: { crumple: 0, reach: 8, spec: 0.35, gloss: 60 },
  mesh: { crumple: 0.05, reach: 6, spec: 0.01, gloss: 8 },
  paper: { crumple: 0.03, reach: 9, spec: 0, gloss: 4 },
};

/**
 * Returns (u, v, out) => void, setting out.h and out.t.
 * `px` is the size of a pixel in cm.
 */
export function weave(name, { px, seed, gauge = 1, heather = 0 }) {
  const make = WEAVES[name] ?? WEAVES.jersey;
  const base = make(px, seed, gauge);
  if (!heather) return base;
  // Mélange: fibres of two tones, drawn out along the row.
  const s = 1 / Math.max(0.1, px * 1.3);
  return (u, v, out) => {
    base(u, v, out);
    out.t += heather * (0.7 * noise2(u * s, v * s * 0.6, seed + 5) + 0.5 * noise2(u * s * 0.4, v * s * 1.3, seed + 6));
  };
}

const least = (want, px, n) => Math.max(want, px * n);

const WEAVES = {
  jersey(px, seed) {
    const f = 1 / least(0.1, px, 1.4);
    return (u, v, out) => {
      const n = noise2(u * f, v * f * 0.5, seed);
      out.h = n * 0.006;
      out.t = 1 + n * 0.018;
    };
  },
  poplin(px, seed) {
    const f = 1 / least(0.09, px, 1.3);
    return (u, v, out) => {
      const n = noise2(u * f, v * f * 0.25, seed) + noise2(u * f * 0.25, v * f, seed + 1);
      out.h = n * 0.002;
      out.t = 1 + n * 0.014;
    };
  },
  linen(px, seed) {
    const f = 1 / least(0.1, px, 1.5);
    return (u, v, out) => {
      const a = noise2(u * f, v * f * 0.07, seed);
      const b = noise2(u * f * 0.07, v * f, seed + 1);
      out.h = (a + b) * 0.006;
      out.t = 1 + (a + b) * 0.045;
    };
  },
  denim(px, seed) {
    const p = least(0.13, px, 3);
    const f = 1 / least(0.1, px, 1.3);
    return (u, v, out) => {
      const w = tri((u + v * 0.62) / p + 0.35 * noise2(u * 3, v * 0.7, seed)) - 0.5;
      const slub = noise2(u * f, v * 0.45, seed + 2);
      const n = noise2(u * f, v * f, seed + 3);
      out.h = w * 0.016 + n * 0.006;
      out.t = 1 + w * 0.16 + slub * 0.06 + n * 0.06;
      out.w = Math.max(0, 0.1 + w * 0.16 + slub * 0.06 + n * 0.07);
    };
  },
  twill(px, seed) {
    const p = least(0.11, px, 3);
    const f = 1 / least(0.1, px, 1.3);
    return (u, v, out) => {
      const w = tri((u + v * 0.7) / p) - 0.5;
      const n = noise2(u * f, v * f, seed);
      out.h = w * 0.009 + n * 0.003;
      out.t = 1 + w * 0.05 + n * 0.025;
    };
  },
  wool(px, seed) {
    const f = 1 / least(0.14, px, 1.6);
    return (u, v, out) => {
      const n = noise2(u * f, v * f, seed) + 0.6 * noise2(u * f * 0.45, v * f * 0.45, seed + 1);
      out.h = n * 0.01;
      out.t = 1 + n * 0.032;
    };
  },
  herringbone(px, seed) {
    const p = least(0.26, px, 3.2);
    const col = p * 5;
    const f = 1 / least(0.14, px, 1.6);
    return (u, v, out) => {
      const c = Math.floor(u / col);
      const dir = c & 1 ? 1 : -1;
      const w = tri((u * dir + v) / p) - 0.5;
      const n = noise2(u * f, v * f, seed);
      out.h = n * 0.01;
      out.t = 1 + w * 0.42 + n * 0.04;
    };
  },
  knit(px, seed, gauge) {
    // Stockinette: columns of small Vs.
    const cw = least(0.42 * gauge, px, 4.4);
    const rh = cw * 0.82;
    const f = 1 / least(0.16, px, 1.6);
    return (u, v, out) => {
      const c = u / cw;
      const k = fract(c) - 0.5;
      const lean = Math.abs(k) * 0.9;
      const y = fract(v / rh - lean + 0.12 * noise2(u * 0.9, v * 0.9, seed));
      const stitch = Math.sin(y * Math.PI) ** 0.8 * Math.cos(k * Math.PI * 0.94);
      const gap = Math.exp(-((Math.abs(k) - 0.5) ** 2) / 0.006) + 0.6 * Math.exp(-(k * k) / 0.003);
      const n = noise2(u * f, v * f, seed + 1);
      out.h = (stitch * 0.05 - gap * 0.025) * Math.min(1.6, cw / 0.42) + n * 0.008;
      out.t = 1 + (stitch - 0.55) * 0.16 - gap * 0.07 + n * 0.04;
    };
  },
  rib(px, seed, gauge) {
    const p = least(0.62 * gauge, px, 4.6);
    const f = 1 / least(0.14, px, 1.5);
    return (u, v, out) => {
      const w = 0.5 + 0.5 * Math.cos((u / p) * TAU);
      const k = Math.sqrt(w);
      const n = noise2(u * f, v * f, seed);
      const row = noise2(u * 2, v / least(0.2, px, 2.4), seed + 2);
      out.h = k * 0.085 * gauge + n * 0.007;
      out.t = 0.93 + k * 0.11 + n * 0.035 + row * 0.02;
    };
  },
  chunky(px, seed, gauge) {
    // Cable: plaits between purl gutters, stockinette elsewhere.
    const knit = WEAVES.knit(px, seed, 1.1 * gauge);
    const pitch = 9.2 * gauge;
    const half = 1.55 * gauge;
    const turn = 4.6 * gauge;
    return (u, v, out) => {
      knit(u, v, out);
      const c = (fract(u / pitch + 0.5) - 0.5) * pitch;
      if (Math.abs(c) > half * 1.5) return;
      const phase = (v / turn) * TAU;
      const x = c / half;
      const edge = 1 - Math.min(1, Math.max(0, (Math.abs(x) - 0.95) / 0.3));
      const a = Math.sin(phase) * 0.48;
      const b = -a;
      const ra = Math.exp(-((x - a) ** 2) / 0.16);
      const rb = Math.exp(-((x - b) ** 2) / 0.16);
      const over = Math.cos(phase) > 0;
      const rope = over ? Math.max(ra, rb * 0.72) : Math.max(ra * 0.72, rb);
      const gutter = Math.exp(-((Math.abs(x) - 1.18) ** 2) / 0.03);
      out.h = out.h * (0.45 + 0.55 * (1 - edge)) + edge * rope * 0.34 - gutter * 0.1;
      out.t = out.t * (1 - 0.18 * gutter) - edge * (1 - rope) * 0.12;
    };
  },
  fleece(px, seed) {
    const f = 1 / least(0.16, px, 1.7);
    return (u, v, out) => {
      const n = noise2(u * f, v * f, seed);
      out.h = n * 0.009;
      out.t = 1 + n * 0.025;
    };
  },
  satin(px, seed) {
    return (u, v, out) => {
      const n = noise2(u * 0.9, v * 6, seed);
      out.h = 0;
      out.t = 1 + n * 0.01;
    };
  },
  nylon(px, seed) {
    const p = least(0.16, px, 3);
    return (u, v, out) => {
      const n = noise2(u / p, v / p, seed);
      out.h = n * 0.004;
      out.t = 1 + n * 0.012;
    };
  },
  leather(px, seed) {
    const f = 1 / least(0.22, px, 2);
    return (u, v, out) => {
      const n = noise2(u * f, v * f, seed);
      const m = noise2(u * f * 2.1, v * f * 2.1, seed + 1);
      out.h = (Math.abs(n) * 0.018 + m * 0.004) * 0.8;
      out.t = 1 + n * 0.03 + 0.05 * fbm(u * 0.3, v * 0.3, seed + 3, 2);
    };
  },
  suede(px, seed) {
    const f = 1 / least(0.14, px, 1.5);
    return (u, v, out) => {
      const n = noise2(u * f, v * f, seed);
      const nap = fbm(u * 0.35, v * 0.5, seed + 1, 3);
      out.h = n * 0.006;
      out.t = 1 + n * 0.05 + nap * 0.09;
    };
  },
  canvas(px, seed) {
    const p = least(0.17, px, 2.8);
    const f = 1 / least(0.12, px, 1.4);
    return (u, v, out) => {
      const a = Math.cos((u / p) * TAU) * Math.cos((v / p) * TAU);
      const n = noise2(u * f, v * f, seed);
      out.h = a * 0.01 + n * 0.004;
      out.t = 1 + a * 0.045 + n * 0.035;
    };
  },
  corduroy(px, seed) {
    const p = least(0.42, px, 3.8);
    const f = 1 / least(0.14, px, 1.5);
    return (u, v, out) => {
      const w = 0.5 + 0.5 * Math.cos((u / p) * TAU);
      const n = noise2(u * f, v * f, seed);
      const nap = noise2(u * 0.5, v * 0.22, seed + 2);
      out.h = Math.sqrt(w) * 0.06 + n * 0.005;
      out.t = 0.9 + Math.sqrt(w) * 0.14 + n * 0.035 + nap * 0.05;
    };
  },
  straw(px, seed) {
    const p = least(0.5, px, 4);
    return (u, v, out) => {
      const row = Math.floor(v / p);
      const k = fract(v / p);
      const braid = tri(u / (p * 1.5) + (row & 1) * 0.5);
      const n = hash2(Math.floor(u / (p * 0.75) + (row & 1) * 0.5), row, seed) - 0.5;
      out.h = Math.sin(k * Math.PI) ** 0.6 * 0.07 + braid * 0.03;
      out.t = 0.9 + 0.14 * Math.sin(k * Math.PI) + braid * 0.06 + n * 0.12;
    };
  },
  rubber(px, seed) {
    return (u, v, out) => {
      const n = noise2(u * 4, v * 4, seed);
      out.h = 0;
      out.t = 1 + n * 0.012;
    };
  },
  plastic() {
    return (u, v, out) => {
      out.h = 0;
      out.t = 1;
    };
  },
  metal(px, seed) {
    return (u, v, out) => {
      out.h = 0;
      out.t = 1 + 0.04 * noise2(u * 2, v * 2, seed);
    };
  },
  glass(px, seed) {
    return (u, v, out) => {
      out.h = 0;
      out.t = 1 + 0.03 * noise2(u, v, seed);
    };
  },
  mesh(px, seed) {
    const p = least(0.3, px, 3.4);
    return (u, v, out) => {
      const a = Math.cos((u / p) * TAU) * Math.cos((v / p) * TAU);
      out.h = a * 0.02;
      out.t = 1 - Math.max(0, a) * 0.16 + 0.02 * noise2(u * 5, v * 5, seed);
    };
  },
  paper(px, seed) {
    const f = 1 / least(0.12, px, 1.6);
    return (u, v, out) => {
      const n = noise2(u * f, v * f, seed);
      out.h = n * 0.004;
      out.t = 1 + n * 0.012;
    };
  },
};
