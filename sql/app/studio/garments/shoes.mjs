// Shoes as pairs. Low shoes stand and are seen from above; boots and heels lie
// on their side. Local measures: toe at the top (y = 0), heel at y = 30.

import { band, between, ellipse, flip, frames, inset, lerp, move, offset, roundRect, shape, spline, turn } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { cord } from './fittings.mjs';

/** Applies a plane map to everything a part draws with. */
function carry(part, f) {
  const map = (o) => (Array.isArray(o[0][0]) ? o.map(f) : f(o));
  return {
    ...part,
    outline: map(part.outline),
    along: part.along && f(part.along),
    folds: part.folds?.map((x) => ({ ...x, path: f(x.path) })),
    marks: part.marks?.map((m) => ({ ...m, path: m.path && f(m.path), fills: m.fills?.map(map) })),
  };
}

/** Two mirrored shoes side by side, each a little its own way. */
function pair(make, rng, gap = 7.2) {
  const right = make(rng).map((p) => carry(p, (pts) => move(turn(pts, 4 + rng.range(-2, 2), [0, 15]), gap, rng.range(-0.3, 0.3))));
  const left = make(rng).map((p) => carry(p, (pts) => move(turn(flip(pts), -5 + rng.range(-2, 2), [0, 15]), -gap, 0.8)));
  return [...left.map((p) => ({ ...p, group: p.group && `${p.group}L` })), ...right.map((p) => ({ ...p, group: p.group && `${p.group}R` }))];
}

const LASTS = {
  round: [[0.5, 0], [3.9, 2.2], [5.1, 7], [4.9, 12], [4, 18], [3.9, 25], [2.6, 28.8], [0.1, 29.8], [-2.5, 28.8], [-3.7, 25], [-3.3, 18], [-4.4, 11.5], [-4.5, 6.5], [-2.8, 1.9]],
  slim: [[0.3, -0.6], [2.9, 1.7], [4.4, 6.8], [4.5, 11.5], [3.5, 18], [3.4, 25], [2.3, 28.6], [0.1, 29.4], [-2.1, 28.6], [-3.2, 25], [-2.8, 18], [-4, 11.5], [-4, 6.6], [-2.3, 1.6]],
  chunky: [[0.5, -0.4], [4.4, 1.8], [5.8, 7], [5.5, 12], [4.7, 18], [4.7, 25], [3.2, 29.6], [0.1, 30.8], [-3.1, 29.6], [-4.5, 25], [-4, 18], [-5, 11.5], [-5.1, 6.5], [-3.3, 1.8]],
};

export function sneakers({ seed, color = '#f0ede6', sole = '#f4f1ea', accent, weave = 'leather', lace, lining, kind = 'court', tab }) {
  const rng = random(seed);
  const cloth = kind === 'runner' ? 'mesh' : kind === 'canvas' ? 'canvas' : weave;
  const second = accent ?? color;
  const strings = lace ?? (lightness(color) > 0.5 ? '#f4f1ea' : '#e4ded2');
  const inside = lining ?? (lightness(color) > 0.6 ? '#d9d2c5' : darker(color, 0.2));
  const sewn = lightness(color) > 0.5 ? darker(color, 0.18) : lighter(color, 0.25);
  const last = LASTS[kind === 'runner' ? 'chunky' : 'round'];
  const make = (r) => {
    const base = shape(last);
    const upperLine = inset(base, 0.55);
    const parts = [];
    parts.push({ outline: base, material: { weave: 'rubber', color: sole }, lift: 0, roll: 0.7, rollHeight: 0.5, inherit: 0, marks: [{ kind: 'seam', path: [...inset(base, 0.34), inset(base, 0.34)[0]], depth: 0.05, dark: 0.14 }] });
    parts.push({
      outline: upperLine, material: { weave: cloth, color }, lift: 0.16, roll: 1, rollHeight: 0.4, puff: [1.7, 2.2], inherit: 0.2,
      marks: kind === 'canvas' ? [] : [{ kind: 'stitch', path: spline([[4, 8.6], [2.2, 5.4], [0.2, 4.6], [-1.9, 5.2], [-3.6, 8]]), color: sewn, alpha: 0.6 }, ...dots(r, sewn, color)],
      folds: [{ path: spline([[-3.2, 8.6], [-1, 9.4]]), w: 0.5, amp: -0.14 }, { path: spline([[3.6, 9], [1.4, 9.6]]), w: 0.5, amp: -0.12 }],
    });
    if (kind === 'canvas') parts.push({ outline: shape([[0.5, 0.6], [3.4, 2.5], [3.9, 4.8, 1], [0.3, 3.9], [-3.3, 4.6, 1], [-2.6, 2.3]]), material: { weave: 'rubber', color: sole }, lift: 0.12, roll: 0.4, rollHeight: 0.16, inherit: 0.9, marks: [{ kind: 'line', path: spline([[3.5, 4.2], [0.3, 3.3], [-3, 4]]), color: darker(sole, 0.12), w: 0.14, alpha: 0.6 }] });
    if (kind === 'runner') {
      // Overlays: toe guard and side flashes.
      parts.push({ outline: shape([[0.5, 0.6], [4, 2.6], [5, 7.4], [4.6, 9.6, 1], [3.4, 6], [0.3, 3], [-2.9, 5.4], [-4.2, 9, 1], [-4.4, 6.6], [-2.8, 2.4]]), material: { weave: 'suede', color: second }, lift: 0.1, roll: 0.4, rollHeight: 0.1, inherit: 1, marks: [] });
      for (const s of [1, -1]) parts.push({ outline: shape([[s * 4.6, 11, 1], [s * 3, 14, 1], [s * 3, 20, 1], [s * 4.2, 22, 1]]), material: { weave: 'suede', color: second }, lift: 0.08, roll: 0.4, rollHeight: 0.08, inherit: 1 });
    } else if (accent && kind === 'court') {
      for (const s of [1, -1])
        for (let i = 0; i < 1; i++) parts.push({ outline: shape([[s * 4.5, 10.6, 1], [s * 2.5, 14.6, 1], [s * 2.6, 16.6, 1], [s * 4.2, 13, 1]]), material: { weave: 'suede', color: accent }, lift: 0.06, roll: 0.3, rollHeight: 0.05, inherit: 1 });
    }
    // Heel counter.
    parts.push({ outline: shape([[3.5, 22.6, 1], [3.3, 26], [2.3, 28.4], [0.1, 29.2], [-2.2, 28.4], [-3.1, 26], [-3.2, 22.6, 1], [0, 25.4]]), material: { weave: kind === 'runner' || tab ? 'suede' : cloth === 'canvas' ? 'canvas' : 'leather', color: tab ?? second }, lift: 0.06, roll: 0.4, rollHeight: 0.08, inherit: 1, marks: [] });
    opening(parts, shape([[0.1, 15.6], [2.3, 18.4], [2.75, 22.6], [2.1, 26.3], [0.1, 27.7], [-1.9, 26.3], [-2.55, 22.6], [-2.1, 18.4]]), { weave: kind === 'canvas' ? 'canvas' : 'jersey', color: inside }, { weave: kind === 'canvas' ? 'canvas' : cloth === 'mesh' ? 'suede' : 'leather', color: kind === 'runner' ? second : color }, 0.75);
    lacing(parts, { color, cloth, second: kind === 'runner' ? second : color, strings, sewn, rows: 6, from: 8.4, to: 16.6, r });
    return parts;
  };
  return { seed, parts: pair(make, rng), wobble: 0.16, wobbleLength: 12, puff: {} };
}

const dots = (r, sewn, color) => {
  const fills = [];
  for (let j = 0; j < 3; j++) for (let i = -1; i <= 1; i++) fills.push(ellipse(0.3 + i * 1, 5.9 + j * 0.9 + Math.abs(i) * 0.12, 0.15, 0.15, 8));
  return [{ kind: 'ink', fills, color: darker(color, 0.55), alpha: 0.6, raise: -0.05 }];
};

/** Dark inside with an insole, and the padded rim. */
function opening(parts, line, inside, rim, width) {
  parts.push({ outline: line, material: inside, tint: 0.42, lift: 0, roll: 0.6, rollHeight: -0.4, inherit: 0, crumple: 0 });
  const soleLine = inset(line, 0.75);
  parts.push({ outline: soleLine, material: inside, tint: 0.66, lift: 0, roll: 0.8, rollHeight: -0.2, inherit: 0, crumple: 0, marks: [{ kind: 'line', path: [[-0.7, 24.4], [0.9, 24.4]], color: darker(inside.color, 0.5), w: 0.36, alpha: 0.5 }] });
  parts.push({ outline: [inset(line, -width * 0.45), inset(line, width * 0.55)], material: rim, lift: 0.1, roll: width * 0.8, rollHeight: width * 0.45, inherit: 0.55, crumple: 0.02 });
}

function lacing(parts, { color, cloth, second, strings, sewn, rows, from, to, r }) {
  // Tongue, eyelet stays, bars and bow.
  parts.push({ outline: shape([[-1.5, from - 0.2, 1], [0.1, from - 0.9], [1.7, from - 0.2, 1], [2, to], [1.9, to + 2.6], [0.1, to + 3.5], [-1.7, to + 2.6], [-1.8, to]]), material: { weave: cloth === 'canvas' ? 'canvas' : 'leather', color: lighter(color, 0.04) }, lift: 0.14, roll: 0.7, rollHeight: 0.3, inherit: 0.7, crumple: 0.02, marks: [{ kind: 'stitch', path: spline([[-1.3, to + 2.2], [0.1, to + 2.9], [1.5, to + 2.2]]), color: sewn, alpha: 0.5 }] });
  for (const s of [-1, 1])
    parts.push({ outline: shape([[s * 1 + 0.1, from - 0.6, 1], [s * 2.3 + 0.1, from - 0.4], [s * 2.7 + 0.1, from + 2], [s * 2.9 + 0.1, to + 0.6], [s * 2.2 + 0.1, to + 1.6, 1], [s * 1.25 + 0.1, to + 1, 1], [s * 0.95 + 0.1, from + 1.6]]), material: { weave: cloth === 'canvas' ? 'canvas' : cloth === 'mesh' ? 'suede' : cloth, color: second }, lift: 0.12, roll: 0.4, rollHeight: 0.12, inherit: 0.95, crumple: 0.01, marks: [{ kind: 'stitch', path: spline([[s * 2.25 + 0.1, from], [s * 2.5 + 0.1, from + 3], [s * 2.6 + 0.1, to + 0.4]]), color: sewn, alpha: 0.6 }] });
  for (let i = 0; i < rows; i++) {
    const y = from + 0.5 + (i * (to - from)) / (rows - 0.2);
    const d = r.range(-0.12, 0.12);
    const path = spline([[-1.75, y + 0.15 + d], [0.1, y - 0.25], [1.95, y + 0.15 - d]]);
    parts.push({ outline: band(path, 0.78), material: { weave: 'canvas', color: strings }, along: path, lift: 0.16, roll: 0.4, rollHeight: 0.3, inherit: 0.4, crumple: 0 });
  }
  const y = to + 0.3;
  const j = () => r.range(-0.5, 0.5);
  for (const path of [
    spline([[0.1, y], [2.2, y - 1.6 + j()], [4 + j(), y - 0.6], [3.4 + j(), y + 1], [1.6, y + 0.9], [0.1, y + 0.1]]),
    spline([[0.1, y], [-2, y - 1.4 + j()], [-3.9 + j(), y - 0.2], [-3.1 + j(), y + 1.3], [-1.4, y + 0.9], [0.1, y + 0.1]]),
    spline([[0.1, y], [1.6, y + 2 + j()], [3.4, y + 3.4 + j()], [3.9 + j(), y + 5.6]]),
    spline([[0.1, y], [-1.2, y + 2.2 + j()], [-3, y + 3.4 + j()], [-3.7 + j(), y + 5]]),
  ])
    parts.push(...cord(path, strings, 0.6, { lift: 0.2 }));
  parts.push({ outline: ellipse(0.1, y + 0.05, 0.65, 0.5, 16), material: { weave: 'canvas', color: strings }, lift: 0.15, roll: 0.4, rollHeight: 0.3, inherit: 0.3 });
}

/** Loafers, derbies, ballet flats, mules and slides, from above. */
export function flats({ seed, color, kind = 'loafer', weave = 'leather', sole = '#3a2c22', lining = '#c9a77c', metal = '#cfae6d' }) {
  const rng = random(seed);
  const sewn = lightness(color) > 0.45 ? darker(color, 0.3) : lighter(color, 0.18);
  const material = { weave, color };
  const make = (r) => {
    const base = shape(LASTS.slim);
    const upperLine = inset(base, kind === 'slide' ? 0.2 : 0.35);
    const parts = [{ outline: base, material: { weave: 'leather', color: sole }, lift: 0, roll: 0.4, rollHeight: 0.3, inherit: 0 }];
    if (kind === 'slide') {
      parts.push({ outline: upperLine, material: { weave: 'suede', color: lining }, lift: 0.06, roll: 0.8, rollHeight: 0.24, inherit: 0.3, folds: [{ path: shape([[0.2, 2.6], [3, 6], [3, 11], [0, 13], [-2.6, 11], [-2.4, 6]]), w: 1.4, amp: -0.16, taper: 'none' }], marks: [{ kind: 'line', path: [[-0.9, 23.6], [1.1, 23.6]], color: darker(lining, 0.45), w: 0.4, alpha: 0.6 }, { kind: 'stitch', path: [...inset(upperLine, 0.45)], color: darker(lining, 0.3), alpha: 0.6 }] });
      for (const [y, w] of [[6.6, 4.6], [13, 4.2]]) {
        const path = spline([[-4.9, y + 1.3], [-2, y], [0.4, y - 0.4], [2.8, y], [5.5, y + 1.3]]);
        parts.push({ outline: band(path, w), material, along: path, lift: 0.4, roll: 0.6, rollHeight: 0.4, inherit: 0.2, puff: [1.4, 0.9], marks: [{ kind: 'stitch', path: offset(path, w / 2 - 0.4), color: sewn, alpha: 0.5 }, { kind: 'stitch', path: offset(path, -w / 2 + 0.4), color: sewn, alpha: 0.5 }] });
        parts.push({ outline: [roundRect(3.4, y + 0.2, 2.6, 3.4, 0.5), roundRect(3.4, y + 0.2, 1.5, 2.2, 0.3)], material: { weave: 'metal', color: metal }, lift: 0.14, roll: 0.3, rollHeight: 0.2, inherit: 0.7 });
        parts.push({ outline: roundRect(2.9, y + 0.2, 2.4, 0.36, 0.15), material: { weave: 'metal', color: metal }, lift: 0.1, roll: 0.2, rollHeight: 0.14, inherit: 0.7 });
      }
      return parts;
    }
    const mule = kind === 'mule';
    parts.push({ outline: upperLine, material: mule ? { weave: 'leather', color: lining } : material, lift: 0.12, roll: 0.8, rollHeight: 0.3, puff: mule ? undefined : [1.5, kind === 'ballet' ? 1.3 : 1.9], inherit: 0.2, crumple: 0.03, folds: [{ path: spline([[-3, 9], [0.2, 9.6], [3.2, 9]]), w: 0.5, amp: -0.12 }] });
    const hole = kind === 'ballet'
      ? shape([[0.2, 6.8], [2, 8.6], [2.75, 13], [2.6, 20], [2.5, 25], [1.4, 27.7], [0.1, 28.2], [-1.2, 27.7], [-2.3, 25], [-2.2, 20], [-2.5, 13], [-1.7, 8.6]])
      : shape([[0.1, 13.6], [1.9, 15.4], [2.5, 19.6], [2.5, 24.6], [1.5, 27.5], [0.1, 28.1], [-1.3, 27.5], [-2.3, 24.6], [-2.2, 19.6], [-1.7, 15.4]]);
    if (mule) {
      parts.push({ outline: shape([[0.3, -0.2], [2.9, 1.9], [4.3, 7], [4.4, 11.5], [4, 14.6, 1], [0.2, 12.4], [-3.4, 14.4, 1], [-3.8, 11.5], [-3.8, 6.8], [-2.3, 1.8]]), material, lift: 0.4, roll: 0.8, rollHeight: 0.4, puff: [1.6, 1.8], inherit: 0.1, marks: [{ kind: 'stitch', path: spline([[3.8, 13.8], [0.2, 11.8], [-3.2, 13.6]]), color: sewn, alpha: 0.4 }] });
      return parts;
    }
    opening(parts, hole, { weave: 'leather', color: lining }, material, 0.4);
    if (kind === 'ballet') {
      const y = 6.9;
      for (const s of [-1, 1]) {
        const loop = shape([[0.15, y, 1], [s * 1.2 + 0.15, y - 1], [s * 2 + 0.15, y - 0.4], [s * 1.8 + 0.15, y + 0.7], [s * 0.9 + 0.15, y + 0.6]]);
        parts.push({ outline: loop, material, lift: 0.16, roll: 0.4, rollHeight: 0.24, inherit: 0.4 });
        const tail = spline([[0.15, y], [s * 0.8, y + 1.4], [s * 1 + r.range(-0.2, 0.2), y + 2.6]]);
        parts.push({ outline: band(tail, 0.42), material, along: tail, lift: 0.12, roll: 0.2, rollHeight: 0.16, inherit: 0.4 });
      }
      parts.push({ outline: ellipse(0.15, y, 0.42, 0.36, 14), material, lift: 0.12, roll: 0.3, rollHeight: 0.24, inherit: 0.4 });
      return parts;
    }
    const host = parts[1];
    if (kind === 'loafer') {
      const apron = spline([[-2.5, 13.4], [-2.6, 8], [-1.4, 4], [0.3, 3], [2.1, 4.1], [3, 8], [2.8, 13.4]]);
      host.marks = [{ kind: 'seam', path: apron, w: 1.3, depth: 0.1, dark: 0.3 }, { kind: 'stitch', path: offset(apron, 0.3), color: sewn, alpha: 0.5 }];
      host.folds.push({ path: offset(apron, -0.3), w: 0.45, amp: 0.18, taper: 'none' });
      parts.push({ outline: shape([[-2.1, 10.6, 1], [0.2, 9.6], [2.5, 10.6, 1], [2.3, 13.6], [1.2, 15.6], [0.1, 16], [-1, 15.6], [-2, 13.6]]), material, lift: 0.12, roll: 0.4, rollHeight: 0.16, inherit: 0.8, crumple: 0.02 });
      const strap = spline([[-4.1, 12.6], [-2, 11.3], [0.2, 11], [2.5, 11.3], [4.4, 12.6]]);
      parts.push({ outline: band(strap, 2), material, along: strap, lift: 0.2, roll: 0.4, rollHeight: 0.18, inherit: 0.7, crumple: 0.01, marks: [{ kind: 'ink', fills: [shape([[-0.9, 10.9], [0.2, 11.3], [1.3, 10.9], [1.1, 11.4], [0.2, 11.7], [-0.7, 11.4]])], color: darker(color, 0.7), raise: -0.08 }, { kind: 'stitch', path: offset(strap, 0.75), color: sewn, alpha: 0.4 }, { kind: 'stitch', path: offset(strap, -0.75), color: sewn, alpha: 0.4 }] });
    } else if (kind === 'derby') {
      const cap = spline([[-3.6, 6.6], [0.3, 5.4], [4, 6.6]]);
      host.marks = [{ kind: 'seam', path: cap, dark: 0.3 }, { kind: 'stitch', path: offset(cap, 0.35), color: sewn, alpha: 0.5 }];
      lacing(parts, { color, cloth: weave, second: color, strings: darker(color, 0.4), sewn, rows: 4, from: 9.6, to: 14, r });
    }
    return parts;
  };
  return { seed, parts: pair(make, rng, 6.6), wobble: 0.12, wobbleLength: 12, puff: {} };
}

/** Boots and heels on their side, one above the other. */
export function sideShoes({ seed, color, kind = 'chelsea', weave = 'leather', sole, lace, lining = '#b98f66', metal = '#cfae6d', elastic }) {
  const rng = random(seed);
  const ground = sole ?? darker(color, 0.45);
  const sewn = lightness(color) > 0.45 ? darker(color, 0.3) : lighter(color, 0.2);
  const one = () => (kind === 'heel' ? heel(color, weave, ground, lining) : boot({ color, weave, ground, kind, lace, sewn, metal, elastic, rng }));
  const a = one().map((p) => carry(p, (pts) => move(turn(pts, -6 + rng.range(-1, 1), [15, -10]), 3.5, -9)));
  const b = one().map((p) => carry(p, (pts) => move(turn(pts, 5 + rng.range(-1, 1), [15, -10]), -4.5, kind === 'heel' ? 6 : 11)));
  const parts = [...a, ...b.map((p, i) => (i === 0 ? { ...p, lift: 0.5 } : p))];
  return { seed, parts, wobble: 0.16, wobbleLength: 14, puff: {} };
}

function boot({ color, weave, ground, kind, lace, sewn, metal, elastic, rng }) {
  const material = { weave, color };
  const tall = kind === 'lace' ? 25 : kind === 'knee' ? 40 : 23;
  const parts = [];
  const rubber = { weave: 'rubber', color: ground };
  const chunk = kind === 'lace' ? 1 : 0;
  parts.push({ outline: shape([[0.4, -1.8], [8, -2, 1], [29.4, -2.4, 1], [29.6, 0.6 + chunk * 0.4, 1], [21.4, 0.9 + chunk * 0.5, 1], [20.4, -0.5 + chunk * 0.6, 1], [12, -0.3 + chunk], [4, -0.2 + chunk * 0.8], [0.2, -0.8]]), material: rubber, lift: 0.2, roll: 0.4, rollHeight: 0.3, inherit: 0.1, marks: chunk ? Array.from({ length: 13 }, (_, i) => ({ kind: 'seam', path: [[2 + i * 2.1, 0.6], [2 + i * 2.1, 1.4]], dark: 0.5, depth: 0.1 })) : [] });
  const upper = shape([
    [0.3, -2.2], [0.6, -4.2], [3.2, -6.4], [8.6, -8.4], [13.4, -11.2], [16.8, -15.4], [17.6, -tall * 0.82], [17.2, -tall, 1],
    [23, -tall - 0.7], [29, -tall + 0.2, 1], [28.6, -15], [28.5, -9], [29.4, -4.6], [29, -2, 1], [14, -1.7], [3, -1.6],
  ]);
  parts.push({ outline: shape([[17.6, -tall + 0.3, 1], [23, -tall - 1.5], [28.7, -tall + 0.4, 1], [23, -tall + 1.4]]), material: { weave: 'leather', color: darker(color, 0.3) }, tint: 0.6, lift: 0, inherit: 0 });
  const creases = [
    { path: spline([[9.4, -8.6], [12.6, -6.4], [14.4, -3.6]]), w: 0.7, amp: -0.24 },
    { path: spline([[12, -10.4], [15, -8], [17.4, -6.4]]), w: 0.7, amp: -0.2 },
    { path: spline([[16.8, -15], [20.4, -13.2], [25, -13.6]]), w: 1, amp: -0.26, taper: 'end' },
    { path: spline([[28.4, -12.8], [25.6, -11.6], [22, -12]]), w: 0.9, amp: -0.22, taper: 'end' },
    { path: spline([[17.6, -18.6], [21, -17], [25, -17.6]]), w: 1, amp: 0.2, taper: 'end' },
  ];
  const host = { outline: upper, material, lift: 0.2, roll: 1, rollHeight: 0.4, puff: [1.6, 1.9], inherit: 0.1, folds: creases, marks: [{ kind: 'stitch', path: spline([[1, -2.9], [10, -2.7], [20, -2.7], [28.8, -3.1]]), color: sewn, alpha: 0.35 }] };
  parts.push(host);
  const counter = spline([[22.4, -2.4], [22.8, -6.4], [25.4, -9.6], [28.6, -10.4]]);
  host.marks.push({ kind: 'seam', path: counter, dark: 0.24 }, { kind: 'stitch', path: offset(counter, 0.4), color: sewn, alpha: 0.4 });
  if (kind === 'chelsea') {
    const gore = shape([[19.4, -tall + 0.5, 1], [26.4, -tall + 0.3, 1], [25, -14], [23.8, -9.6], [22.4, -9.4], [20.6, -13.6]]);
    parts.push({ outline: gore, material: { weave: 'rib', color: elastic ?? darker(color, 0.25), gauge: 0.55 }, lift: 0, roll: 0.4, rollHeight: -0.1, inherit: 1, crumple: 0.02, marks: [{ kind: 'seam', path: [...gore, gore[0]], dark: 0.3, depth: 0.1 }] });
    host.marks.push({ kind: 'seam', path: spline([[22.8, -9.4], [20, -6], [17, -2.4]]), dark: 0.26 });
    const tab = spline([[26.8, -tall + 4], [27.6, -tall - 2.4], [28.8, -tall - 2], [28.2, -tall + 4]]);
    parts.push({ outline: band(tab, 1.3), material: { weave: 'canvas', color: elastic ?? darker(color, 0.3) }, along: tab, lift: 0.12, roll: 0.3, rollHeight: 0.14, inherit: 0.5 });
  } else if (kind === 'lace') {
    const stay = spline([[12.4, -9.6], [15.6, -12.6], [18.4, -16.6], [19.4, -tall + 0.4]]);
    const edge = offset(stay, -1.9);
    host.marks.push({ kind: 'seam', path: edge, dark: 0.3 }, { kind: 'stitch', path: offset(stay, -1.4), color: sewn, alpha: 0.7 });
    host.marks.push({ kind: 'seam', path: spline([[13.6, -8.4], [13, -5], [11.6, -2.6]]), dark: 0.26 }, { kind: 'stitch', path: spline([[14.2, -8.4], [13.6, -5], [12.2, -2.6]]), color: sewn, alpha: 0.7 });
    for (const { at, normal, t } of frames(between(stay, 0.04, 0.98), 2)) {
      const eye = [at[0] - normal[0] * 0.9, at[1] - normal[1] * 0.9];
      parts.push({ outline: [ellipse(eye[0], eye[1], 0.42, 0.42, 14), ellipse(eye[0], eye[1], 0.18, 0.18, 10)], material: { weave: 'metal', color: metal }, lift: 0.08, roll: 0.2, rollHeight: 0.14, inherit: 0.6 });
      const out = [at[0] + normal[0] * 1.5 - 0.2, at[1] + normal[1] * 1.5 + (t > 0.5 ? 0.5 : 0.9)];
      parts.push(...cord(spline([eye, lerp(eye, out, 0.5), out]), lace ?? '#c9a46a', 0.6, { lift: 0.14 }));
    }
    const k = stay[stay.length - 1];
    parts.push(...cord(spline([[k[0], k[1] + 1], [14.6, -tall + 3.6], [12.6, -tall + 7], [14 + rng.range(-1, 1), -tall + 10]]), lace ?? '#c9a46a', 0.55, { tip: metal }));
    parts.push(...cord(spline([[k[0], k[1] + 1], [16, -tall - 1.6], [12.8, -tall - 1], [13.6, -tall + 1.6], [17, -tall + 1.6]]), lace ?? '#c9a46a', 0.55));
  }
  return parts;
}

function heel(color, weave, ground, lining) {
  const material = { weave, color };
  const parts = [];
  // Heel, sole edge, inside, upper.
  parts.push({ outline: shape([[21.4, -9.6], [25.6, -10.6, 1], [25.2, -5], [24.9, 0.6, 1], [23.6, 0.6, 1], [23.4, -4], [20.8, -8.4]]), material, lift: 0.2, roll: 0.6, rollHeight: 0.4, inherit: 0 });
  parts.push({ outline: shape([[-0.6, -0.4], [4, 0.3], [9, -0.2], [14, -3.4], [19, -7.4], [22.4, -8.6, 1], [21.6, -9.8], [14, -4.8], [8, -1.6], [2, -0.9]]), material: { weave: 'leather', color: ground }, lift: 0.14, roll: 0.3, rollHeight: 0.2, inherit: 0 });
  parts.push({ outline: shape([[8, -4.6], [14, -7.4], [20, -12.4], [24.6, -16.6, 1], [23.4, -12], [16, -6.4]]), material: { weave: 'leather', color: lining }, tint: 0.8, lift: 0, inherit: 0, rollHeight: 0.1 });
  parts.push({
    outline: shape([[-1.6, -0.4], [1.2, -1.9], [5.4, -4], [8, -5, 1], [9.6, -4], [13.2, -4.8], [19, -8.6], [22.4, -13.4], [24.4, -16.8, 1], [25.9, -15.4], [26, -12], [25.4, -10, 1], [20.6, -8.2], [14.4, -3.8], [9, -0.5], [3, -0.2]]),
    material, lift: 0.16, roll: 0.9, rollHeight: 0.4, puff: [1.1, 1.3], inherit: 0.1, crumple: 0.02,
    marks: [{ kind: 'seam', path: spline([[8, -4.8], [9.7, -3.7], [13.3, -4.5], [19.2, -8.2], [22.7, -13], [24.6, -16.2]]), depth: 0.05, dark: 0.16 }],
  });
  return parts;
}
