// Hats, scarves, eyewear, watches, belts, socks and jewellery.

import { band, ellipse, flip, frames, inset, lerp, move, offset, roundRect, shape, spline, turn } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';

const contrast = (color, t = 0.25) => (lightness(color) > 0.5 ? darker(color, t) : lighter(color, t));

export function cap({ seed, color, weave = 'twill', brim, mark }) {
  const material = { weave, color };
  const peak = { weave, color: brim ?? color };
  const sewn = contrast(color);
  const parts = [];
  parts.push({
    outline: shape([[-10, 12.6], [-5, 11.4], [0, 10.8], [5, 11.4], [10, 12.6], [11, 16.6], [9.4, 20], [4, 21.8], [0, 22.1], [-4, 21.8], [-9.4, 20], [-11, 16.6]]), material: peak, lift: 0, roll: 0.5, rollHeight: 0.24, puff: [2.4, 1], inherit: 0, crumple: 0.02,
    marks: [0.7, 1.5, 2.3, 3.1, 3.9].map((d) => ({ kind: 'stitch', path: offset(spline([[10.9, 16.4], [9.4, 20], [4, 21.8], [0, 22.1], [-4, 21.8], [-9.4, 20], [-10.9, 16.4]]), d), color: contrast(peak.color), alpha: 0.5 })),
  });
  const crown = shape([[-9.9, 13.4], [-10, 8], [-7.4, 1.2], [-3, -2.6], [0, -3.2], [3, -2.6], [7.4, 1.2], [10, 8], [9.9, 13.4], [6, 14.3], [0, 13.2], [-6, 14.3]]);
  const seams = [spline([[0, -3.2], [-0.2, 5], [0, 13.4]]), spline([[0, -3.2], [-5, 1], [-7.2, 8], [-7.4, 14]]), spline([[0, -3.2], [5, 1], [7.2, 8], [7.4, 14]])];
  parts.push({
    outline: crown, material, lift: 0.4, roll: 1, rollHeight: 0.4, puff: [3, 2.6], inherit: 0.1, crumple: 0.16,
    marks: seams.flatMap((p) => [{ kind: 'seam', path: p, dark: 0.24 }, { kind: 'stitch', path: offset(p, 0.35), color: sewn, alpha: 0.45 }, { kind: 'stitch', path: offset(p, -0.35), color: sewn, alpha: 0.45 }]),
  });
  for (const s of [-1, 1]) parts.push({ outline: [ellipse(s * 4.2, 3.4, 0.5, 0.5, 14), ellipse(s * 4.2, 3.4, 0.22, 0.22, 10)], material: { weave: 'canvas', color: sewn }, lift: 0.05, roll: 0.2, rollHeight: 0.1, inherit: 0.8 });
  parts.push({ outline: ellipse(0, -3, 0.9, 0.7, 18), material, lift: 0.12, roll: 0.4, rollHeight: 0.4, inherit: 0.3 });
  if (mark) parts.push({ outline: roundRect(0, 8.2, 5.4, 3.6, 0.5), material: { weave: 'canvas', color: mark }, lift: 0.06, roll: 0.2, rollHeight: 0.1, inherit: 0.95, marks: [{ kind: 'line', path: [[-1.6, 7.6], [1.6, 7.6]], color: darker(mark, 0.6), w: 0.34 }, { kind: 'line', path: [[-1, 8.9], [1, 8.9]], color: darker(mark, 0.6), w: 0.34 }] });
  return { seed, parts, wobble: 0.25, wobbleLength: 12, puff: {} };
}

export function beanie({ seed, color, weave = 'rib', gauge = 0.85, heather = 0.06, pom }) {
  const material = { weave, color, gauge, heather };
  const parts = [];
  if (pom) parts.push({ outline: shape(Array.from({ length: 26 }, (_, i) => { const a = (i / 26) * 6.283; const r = 4 + (i % 2) * 0.45; return [Math.cos(a) * r, -5 + Math.sin(a) * r]; })), material: { weave: 'wool', color: pom, heather: 0.5 }, lift: 0.1, roll: 2, rollHeight: 1, puff: [1.6, 1.6], inherit: 0 });
  const lines = [-8, -5.4, -2.8, 0, 2.8, 5.4, 8].map((x) => ({ path: spline([[x * 0.12, -2.4], [x * 0.8, 4], [x, 14]]), w: 0.7, amp: -0.16, taper: 'none' }));
  parts.push({ outline: shape([[-10.6, 14.6, 1], [-10.6, 8], [-7.8, 0.6], [-2.6, -2.8], [0, -3.1], [2.6, -2.8], [7.8, 0.6], [10.6, 8], [10.6, 14.6, 1]]), material, lift: 0.3, roll: 1, rollHeight: 0.5, puff: [2.4, 1.6], inherit: 0, crumple: 0.2, folds: lines });
  parts.push({ outline: shape([[-11.4, 12.2, 1], [0, 13], [11.4, 12.2, 1], [11.2, 16], [10.8, 19.6, 1], [0, 20.4], [-10.8, 19.6, 1], [-11.2, 16]]), material, lift: 0.3, roll: 1, rollHeight: 0.5, inherit: 0.2, crumple: 0.16 });
  parts.push({ outline: roundRect(0, 16.6, 3.4, 2.2, 0.1), material: { weave: 'poplin', color: '#efe8db' }, lift: 0.08, roll: 0.2, rollHeight: 0.06, inherit: 0.7, marks: [{ kind: 'line', path: [[-0.9, 16.6], [0.9, 16.6]], color: '#4a453e', w: 0.3 }] });
  return { seed, parts, wobble: 0.35, wobbleLength: 12, puff: {} };
}

/** Wide-brimmed hat from above. */
export function brimHat({ seed, color, weave = 'straw', ribbon = '#2a2724' }) {
  const material = { weave, color };
  const circle = (r, sx = 1, sy = 1) => ellipse(0, 0, r * sx, r * sy, 72);
  const along = (r) => [...circle(r), circle(r)[0]];
  const parts = [
    { outline: circle(18.5, 1, 0.96), material, along: along(9), lift: 0, roll: 0.6, rollHeight: 0.24, puff: [3.4, 0.8], inherit: 0, across: true, folds: [{ path: spline([[-17, 3], [-12, 8], [-5, 14.6]]), w: 3, amp: 0.5 }, { path: spline([[8, -14], [13, -9], [16, -2]]), w: 3, amp: -0.4 }] },
    { outline: circle(9.6, 0.94, 1.04), material: { weave: 'satin', color: ribbon }, lift: 0.5, roll: 0.8, rollHeight: 0.6, inherit: 0.1, crumple: 0.03 },
    { outline: circle(8.7, 0.94, 1.04), material, along: along(4.4), across: true, lift: 0.1, roll: 1, rollHeight: 0.6, puff: [2.2, 2], inherit: 0.2, folds: [{ path: spline([[0.4, -7], [-0.3, 0], [0.2, 6]]), w: 2, amp: -1, taper: 'both' }, { path: spline([[-5, -5], [-4.2, -1]]), w: 1.5, amp: -0.5 }, { path: spline([[5, -5], [4.2, -1]]), w: 1.5, amp: -0.5 }] },
  ];
  return { seed, parts, wobble: 0.5, wobbleLength: 16, puff: {} };
}

export function bucketHat({ seed, color, weave = 'canvas' }) {
  const material = { weave, color };
  const sewn = contrast(color);
  const brim = (y) => spline([[-13.4, y], [-7, y + 3], [0, y + 3.9], [7, y + 3], [13.4, y]]);
  const parts = [
    { outline: shape([[-9.4, 10.4, 1], [0, 12.4], [9.4, 10.4, 1], [12, 14.6], [14.4, 19.4], [7, 23], [0, 24], [-7, 23], [-14.4, 19.4], [-12, 14.6]]), material, lift: 0, roll: 0.5, rollHeight: 0.24, puff: [1.6, 0.7], inherit: 0, crumple: 0.14, marks: [0, 1.2, 2.4, 3.6, 4.8, 6].map((d) => ({ kind: 'stitch', path: brim(18.8 - d).map(([x, y]) => [x * (1 - d * 0.035), y]), color: sewn, alpha: 0.5 })) },
    { outline: shape([[-9.9, 11.4, 1], [-8.6, 5], [-7.2, 0.6, 1], [0, -1.4], [7.2, 0.6, 1], [8.6, 5], [9.9, 11.4, 1], [0, 13.4]]), material, lift: 0.3, roll: 0.6, rollHeight: 0.3, puff: [2.2, 1.4], inherit: 0.1, crumple: 0.18, marks: [{ kind: 'seam', path: spline([[-7.4, 1.4], [0, 3.2], [7.4, 1.4]]), dark: 0.28 }, { kind: 'stitch', path: spline([[-7.4, 1.9], [0, 3.7], [7.4, 1.9]]), color: sewn, alpha: 0.5 }, { kind: 'seam', path: spline([[-4, 2.8], [-4.6, 13]]), dark: 0.2 }] },
  ];
  return { seed, parts, wobble: 0.4, wobbleLength: 14, puff: {} };
}

/** A scarf folded lengthwise and looped once, ends with fringe. */
export function scarf({ seed, color, weave = 'wool', pattern, heather = 0.08, fringe = true, gauge }) {
  const rng = random(seed);
  const material = { weave, color, pattern, heather, gauge };
  const parts = [];
  const tail = (path, w) => {
    const e = path[path.length - 1];
    const p = path[path.length - 6];
    const l = Math.hypot(e[0] - p[0], e[1] - p[1]);
    const d = [(e[0] - p[0]) / l, (e[1] - p[1]) / l];
    const n = [-d[1], d[0]];
    const out = [];
    if (fringe)
      for (let i = -8; i <= 8; i++) {
        const a = [e[0] + (n[0] * i * w) / 17.2, e[1] + (n[1] * i * w) / 17.2];
        const s = rng.range(-0.5, 0.5);
        const q = spline([[a[0] - d[0], a[1] - d[1]], [a[0] + d[0] * 2.4 + n[0] * s * 0.5, a[1] + d[1] * 2.4 + n[1] * s * 0.5], [a[0] + d[0] * (4.6 + rng.range(-0.5, 0.5)) + n[0] * s, a[1] + d[1] * 4.6 + n[1] * s]]);
        out.push({ outline: band(q, (t) => 0.62 - 0.2 * t), material: { weave: 'wool', color }, along: q, lift: 0.08, roll: 0.3, rollHeight: 0.2, inherit: 0 });
      }
    const half = offset(path, w * 0.2);
    out.push({
      outline: band(path, (t) => w * (1 + 0.05 * Math.sin(t * 7))), material, along: path, lift: 0.4, roll: 0.8, rollHeight: 0.4, inherit: 0.25, crumple: 0.24,
      folds: [{ path: half, w: 1.3, amp: 0.3, taper: 'none' }, { path: offset(path, -w * 0.16), w: 1, amp: -0.22, taper: 'none' }, { path: offset(path, -w * 0.34), w: 0.9, amp: 0.16, taper: 'none' }],
    });
    return out;
  };
  parts.push(...tail(spline([[7, 4], [9.6, 18], [8.4, 34], [9.6, 52]]), 13));
  const loop = spline([[-9, 12], [-12.6, 0], [-6, -10], [4, -11.4], [12, -4], [10.6, 8]]);
  parts.push({ outline: band(loop, 12), material, along: loop, lift: 0.3, roll: 1, rollHeight: 0.5, inherit: 0.2, crumple: 0.24, folds: [2.6, -1.4, -3.8, 4.6].map((o, i) => ({ path: offset(loop, o), w: 1.1, amp: i % 2 ? -0.28 : 0.32, taper: 'none' })) });
  parts.push(...tail(spline([[8, 2], [0, 9], [-7.4, 18], [-9.4, 30], [-8, 43 + rng.range(-2, 2)]]), 13));
  return { seed, parts, wobble: 0.7, wobbleLength: 20, puff: {} };
}

/** A square of silk, folded to a triangle. */
export function silkScarf({ seed, color, pattern, border }) {
  const material = { weave: 'satin', color, pattern };
  const tri = (r) => shape([[-29 * r, 0, 1], [0, -1.2], [29 * r, 0, 1], [13 * r, 14 * r], [1, 27 * r, 1], [-13 * r, 14 * r]]);
  const parts = [
    { outline: turn(tri(1), 3, [0, 8]), material: { ...material, pattern: undefined, color: border }, lift: 0, roll: 0.4, rollHeight: 0.14, inherit: 0, crumple: 0.2 },
    { outline: tri(0.985), group: 'body', material: { ...material, color: border, pattern: undefined }, lift: 0.16, roll: 0.4, rollHeight: 0.12, crumple: 0.2 },
    { outline: move(tri(0.86), 0, 1.9), material, lift: 0, rollHeight: 0, inherit: 1, crumple: 0.05, marks: [], folds: [{ path: spline([[-14, 3], [-5, 10], [0, 21]]), w: 1.6, amp: 0.3 }, { path: spline([[15, 3], [6, 9], [2, 18]]), w: 1.6, amp: -0.24 }, { path: spline([[0, 2], [1, 12], [0, 24]]), w: 1.2, amp: 0.2 }] },
  ];
  return { seed, parts, wobble: 0.6, wobbleLength: 16, puff: { body: { radius: 0.9, height: 0.3 } } };
}

export function sunglasses({ seed, color, lens = '#2c2a28', kind = 'round', metal }) {
  const frame = { weave: metal ? 'metal' : 'plastic', color };
  const parts = [];
  const lensShape = {
    round: (x) => ellipse(x, 0, 2.5, 2.45, 40),
    square: (x) => shape([[x - 2.6, -1.9], [x + 2.6, -2], [x + 2.75, 0], [x + 2.2, 2], [x, 2.35], [x - 2.2, 2], [x - 2.75, 0]]),
    cat: (x) => (x < 0 ? flip(shape([[-x - 2.5, -1.4], [-x + 1.8, -2.2], [-x + 3.3, -2.8], [-x + 2.9, 0], [-x + 1.6, 2], [-x - 0.6, 2.2], [-x - 2.4, 1]])) : shape([[x - 2.5, -1.4], [x + 1.8, -2.2], [x + 3.3, -2.8], [x + 2.9, 0], [x + 1.6, 2], [x - 0.6, 2.2], [x - 2.4, 1]])),
  }[kind];
  const t = metal ? 0.22 : 0.55;
  // Folded temples behind.
  for (const s of [-1, 1]) {
    const arm = spline([[s * 6.5, -1.2], [s * 6.5, -2.3], [s * 5.4, -2.9 - (s > 0 ? 0.5 : 0)], [-s * 2.6, -2.7 - (s > 0 ? 0.3 : 0)], [-s * 4.6, -1.9], [-s * 5.6, -0.4]]);
    parts.push({ outline: band(arm, metal ? 0.34 : 0.75), material: frame, along: arm, lift: 0.16, roll: 0.4, rollHeight: 0.3, inherit: 0 });
  }
  for (const s of [-1, 1]) {
    const l = lensShape(s * 3.4);
    parts.push({ outline: l, material: { weave: 'glass', color: lens }, lift: 0.2, roll: 0.5, rollHeight: 0.05, puff: [1.2, 0.5], inherit: 0, opacity: 0.9, crumple: 0 });
  }
  for (const s of [-1, 1]) {
    const l = lensShape(s * 3.4);
    // A soft reflection across each lens.
    parts.push({ outline: shape([[s * 3.4 - 1.9, 0.4], [s * 3.4 - 0.2, -1.7], [s * 3.4 + 0.5, -1.6], [s * 3.4 - 1.5, 1.1]]), material: { weave: 'glass', color: '#ffffff' }, lift: 0, rollHeight: 0, opacity: 0.16, inherit: 1 });
    const outer = inset(l, t * 0.9);
    parts.push({ outline: [outer, inset(l, 0.12)], material: frame, lift: 0.1, roll: t * 0.8, rollHeight: t * 0.6, inherit: 0 });
  }
  const bridge = spline([[-1.3, -0.7], [-0.6, -1.25], [0.6, -1.25], [1.3, -0.7]]);
  parts.push({ outline: band(bridge, metal ? 0.3 : 0.75), material: frame, along: bridge, lift: 0.1, roll: 0.4, rollHeight: 0.3, inherit: 0.2 });
  for (const s of [-1, 1]) parts.push({ outline: roundRect(s * 6.15, -1.3, metal ? 0.5 : 0.9, metal ? 0.5 : 1, 0.25), material: frame, lift: 0.06, roll: 0.3, rollHeight: 0.24, inherit: 0.2 });
  return { seed, parts, wobble: 0.05, wobbleLength: 8, puff: {} };
}

export function watch({ seed, color, dial = '#f3efe6', metal = '#c9cbcc', kind = 'leather' }) {
  const rng = random(seed);
  const parts = [];
  const strap = { weave: kind === 'steel' ? 'metal' : 'leather', color: kind === 'steel' ? metal : color };
  const sewn = contrast(strap.color, 0.35);
  const top = spline([[0, -1.8], [0.1, -6], [-0.1, -9.4]]);
  const low = spline([[0, 1.8], [-0.1, 7], [0.2, 12.6]]);
  for (const [path, l] of [[top, 0], [low, 1]]) {
    const links = kind === 'steel' ? frames(path, 0.62).flatMap(({ at }) => [{ path: [[at[0] - 1, at[1]], [at[0] + 1, at[1]]], w: 0.1, amp: -0.09, taper: 'none' }]) : [];
    parts.push({ outline: band(path, (t) => 1.9 - 0.35 * t), material: strap, along: path, lift: 0.1, roll: 0.3, rollHeight: 0.2, inherit: 0, crumple: kind === 'steel' ? 0 : 0.02, folds: links, marks: kind === 'steel' ? [{ kind: 'seam', path: offset(path, 0.42), dark: 0.3 }, { kind: 'seam', path: offset(path, -0.42), dark: 0.3 }] : [{ kind: 'stitch', path: offset(path, 0.68), color: sewn, alpha: 0.7, w: 0.05, pitch: 0.3 }, { kind: 'stitch', path: offset(path, -0.68), color: sewn, alpha: 0.7, w: 0.05, pitch: 0.3 }, ...(l ? [{ kind: 'ink', fills: [0, 1, 2, 3].map((i) => ellipse(0.1, 7.6 + i * 1.05, 0.13, 0.18, 10)), color: darker(strap.color, 0.6), raise: -0.05 }] : [])] });
  }
  parts.push({ outline: [roundRect(-0.1, -9.6, 2.5, 1.8, 0.4), roundRect(-0.1, -9.7, 1.7, 1, 0.25)], material: { weave: 'metal', color: metal }, lift: 0.12, roll: 0.25, rollHeight: 0.2, inherit: 0.1 });
  for (const s of [-1, 1]) parts.push({ outline: roundRect(0, s * 1.95, 2.3, 0.8, 0.25), material: { weave: 'metal', color: metal }, lift: 0.1, roll: 0.3, rollHeight: 0.3, inherit: 0.1 });
  parts.push({ outline: roundRect(2.2, 0, 0.7, 0.7, 0.2), material: { weave: 'metal', color: metal }, lift: 0.06, roll: 0.25, rollHeight: 0.25, inherit: 0 });
  parts.push({ outline: ellipse(0, 0, 2.05, 2.05, 60), material: { weave: 'metal', color: metal }, lift: 0.2, roll: 0.4, rollHeight: 0.5, inherit: 0 });
  const face = ellipse(0, 0, 1.68, 1.68, 56);
  const ink = contrast(dial, 0.75);
  const a0 = rng.range(0, 6.28);
  const hand = (a, l) => [[-Math.sin(a) * -0.25, Math.cos(a) * 0.25], [Math.sin(a) * l, -Math.cos(a) * l]];
  parts.push({
    outline: face, material: { weave: 'rubber', color: dial, spec: 0.12, gloss: 40 }, lift: 0, roll: 0.25, rollHeight: -0.1, inherit: 0,
    marks: [
      ...Array.from({ length: 12 }, (_, i) => { const a = (i / 12) * 6.283; const r = i % 3 ? 1.34 : 1.22; return { kind: 'line', path: [[Math.sin(a) * r, -Math.cos(a) * r], [Math.sin(a) * 1.5, -Math.cos(a) * 1.5]], color: ink, w: 0.075 }; }),
      { kind: 'line', path: hand(5.28, 0.85), color: ink, w: 0.12 }, { kind: 'line', path: hand(1.05, 1.25), color: ink, w: 0.09 }, { kind: 'line', path: hand(a0, 1.3), color: '#b5532f', w: 0.05 },
      { kind: 'ink', fills: [ellipse(0, 0, 0.13, 0.13, 12)], color: ink },
    ],
  });
  parts.push({ outline: shape([[-1.3, 0.2], [-0.2, -1.3], [0.4, -1.2], [-1, 0.8]]), material: { weave: 'glass', color: '#ffffff' }, lift: 0, rollHeight: 0, opacity: 0.14, inherit: 1 });
  return { seed, parts, wobble: 0.05, wobbleLength: 8, puff: {} };
}

/** A belt rolled into a loose coil, buckle outward. */
export function belt({ seed, color, weave = 'leather', metal = '#c9a563', width = 3 }) {
  const rng = random(seed);
  const sewn = contrast(color, 0.25);
  // Laid in an open loop.
  const path = spline([[-14, 9], [-16, -2], [-9, -11], [2, -13], [13, -9], [17, 1], [12, 10], [2, 13.6], [-8, 12.4], [-19, 8 + rng.range(-0.5, 0.5)]]);
  const parts = [{
    outline: band(path, width), material: { weave, color }, along: path, lift: 0.3, roll: 0.4, rollHeight: 0.26, inherit: 0.3, crumple: 0.02,
    marks: [{ kind: 'stitch', path: offset(path, width / 2 - 0.35), color: sewn, alpha: 0.55 }, { kind: 'stitch', path: offset(path, -width / 2 + 0.35), color: sewn, alpha: 0.55 }, { kind: 'ink', fills: frames(path, 2.5).slice(-5, -1).map(({ at }) => ellipse(at[0], at[1], 0.28, 0.28, 12)), color: darker(color, 0.7), raise: -0.08 }],
  }];
  const c = [-14, 9.6];
  const t = (p) => turn(p, 72, c);
  parts.push({ outline: [t(roundRect(c[0], c[1], 4.2, width + 1.8, 0.8)), t(roundRect(c[0] - 0.1, c[1], 2.7, width + 0.3, 0.5))], material: { weave: 'metal', color: metal }, lift: 0.25, roll: 0.4, rollHeight: 0.3, inherit: 0.2 });
  parts.push({ outline: t(roundRect(c[0] + 0.4, c[1], 3.4, 0.5, 0.2)), material: { weave: 'metal', color: metal }, lift: 0.15, roll: 0.25, rollHeight: 0.2, inherit: 0.2 });
  const keeper = path[Math.floor(path.length * 0.1)];
  parts.push({ outline: turn(roundRect(keeper[0], keeper[1], width + 0.7, 1.1, 0.3), 10, keeper), material: { weave, color: darker(color, 0.08) }, lift: 0.16, roll: 0.3, rollHeight: 0.2, inherit: 0.3 });
  return { seed, parts, wobble: 0.2, wobbleLength: 14, puff: {} };
}

export function socks({ seed, color, stripe, weave = 'rib', heather = 0.04 }) {
  const rng = random(seed);
  const pattern = stripe ? { kind: 'blocks', colors: [stripe, color, stripe, color], edges: [2.4, 3.8, 5, 6.4] } : undefined;
  const material = { weave, color, gauge: 0.5, heather, pattern };
  const one = (dx, deg) => {
    const f = (pts) => move(turn(pts, deg, [0, 14]), dx, 0);
    return [
      { outline: f(shape([[-4, 0, 1], [4.4, 0, 1], [4.6, 12], [5.2, 21], [6.6, 25.4], [13, 30], [15.4, 34], [13.4, 37.6], [9, 37.6], [2, 33.6], [-3.4, 28.6], [-4.6, 24], [-4, 14]])), material, lift: 0.3, roll: 0.8, rollHeight: 0.3, puff: [1.4, 0.6], inherit: 0.2, crumple: 0.2, folds: [{ path: f(spline([[5, 22], [1.6, 24], [-3, 22.6]])), w: 1, amp: 0.24 }, { path: f(spline([[5.4, 24.4], [1, 27.4], [-2.4, 28]])), w: 1, amp: -0.22 }, { path: f(spline([[-3.6, 10], [0, 12], [4, 11]])), w: 1.2, amp: 0.16 }], marks: [{ kind: 'seam', path: f(spline([[10.4, 38], [11.6, 34], [13.6, 30.4]])), dark: 0.16 }] },
      { outline: f(shape([[-4.2, -0.4, 1], [0, -0.1], [4.6, -0.4, 1], [4.6, 2.6, 1], [0, 2.9], [-4.2, 2.6, 1]])), material: { ...material, color: stripe ?? color, pattern: undefined }, lift: 0.05, roll: 0.5, rollHeight: 0.16, inherit: 0.7 },
    ];
  };
  return { seed, parts: [...one(-6, -5 + rng.range(-2, 2)), ...one(5, 4 + rng.range(-2, 2))], wobble: 0.3, wobbleLength: 14, puff: {} };
}

/** Chain necklace with pendant, laid in a soft loop. */
export function necklace({ seed, metal = '#d5b067', pendant = 'disc' }) {
  const rng = random(seed);
  const path = spline([[0, 13], [-4, 8.4], [-7.6, 1], [-6.4, -6.6], [-1.6, -10 + rng.range(-0.4, 0.4)], [3.6, -9.6], [7.4, -4.4], [6.8, 2.4], [3.4, 8.4], [0, 13]]);
  const m = { weave: 'metal', color: metal };
  const links = frames(path, 0.52).map(({ at, normal }, i) => {
    const deg = (Math.atan2(-normal[0], normal[1]) * 180) / Math.PI;
    return { outline: [turn(ellipse(at[0], at[1], 0.36, i % 2 ? 0.17 : 0.25, 14), deg, at), turn(ellipse(at[0], at[1], 0.18, i % 2 ? 0.03 : 0.09, 10), deg, at)], material: m, lift: 0.05, roll: 0.12, rollHeight: 0.12, inherit: 0.2 };
  });
  const y = 14.4;
  const parts = [...links, { outline: [ellipse(0, 13.2, 0.42, 0.5, 16), ellipse(0, 13.2, 0.24, 0.3, 12)], material: m, lift: 0.06, roll: 0.12, rollHeight: 0.12, inherit: 0.1 }];
  if (pendant === 'pearl') parts.push({ outline: ellipse(0, y + 0.6, 0.95, 1.1, 36), material: { weave: 'plastic', color: '#f1e8da', spec: 0.3, gloss: 30 }, lift: 0.14, roll: 1, rollHeight: 0.7, inherit: 0 });
  else parts.push({ outline: ellipse(0, y + 0.8, 1.45, 1.45, 40), material: m, lift: 0.14, roll: 0.4, rollHeight: 0.26, inherit: 0, marks: [{ kind: 'seam', path: [...ellipse(0, y + 0.8, 1.1, 1.1, 36), [1.1, y + 0.8]], depth: 0.05, dark: 0.2 }] });
  return { seed, parts, wobble: 0.2, wobbleLength: 8, puff: {} };
}

export function earrings({ seed, metal = '#d5b067', kind = 'hoop' }) {
  const m = { weave: 'metal', color: metal };
  const one = (x, y, deg) => {
    const f = (p) => turn(p, deg, [x, y]);
    if (kind === 'drop')
      return [
        { outline: f(ellipse(x, y - 1.9, 0.5, 0.5, 24)), material: m, lift: 0.1, roll: 0.4, rollHeight: 0.34, inherit: 0 },
        { outline: f(band([[x, y - 1.5], [x, y - 0.2]], 0.14)), material: m, lift: 0.05, roll: 0.1, rollHeight: 0.1, inherit: 0 },
        { outline: f(shape([[x, y - 0.5], [x + 0.75, y + 1], [x, y + 1.9], [x - 0.75, y + 1]])), material: { weave: 'plastic', color: '#f1e8da', spec: 0.3, gloss: 30 }, lift: 0.12, roll: 0.8, rollHeight: 0.6, inherit: 0 },
      ];
    return [
      { outline: [f(ellipse(x, y, 2, 2.05, 60)), f(ellipse(x + 0.1, y - 0.04, 1.5, 1.55, 54))], material: m, lift: 0.14, roll: 0.3, rollHeight: 0.3, inherit: 0 },
      { outline: f(roundRect(x - 0.1, y - 2, 0.5, 0.7, 0.2)), material: m, lift: 0.06, roll: 0.2, rollHeight: 0.2, inherit: 0.2 },
    ];
  };
  return { seed, parts: [...one(-2.8, 0, -12), ...one(2.6, 0.9, 16)], wobble: 0.04, wobbleLength: 8, puff: {} };
}

export { lerp };
