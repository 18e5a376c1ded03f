// Parts that several shoes share: pairs, outlines of soles, openings, laces. Low shoes stand and are seen from above.
// Local coordinates: the toe at the top (y = 0), the heel at y = 30.

import { band, ellipse, flip, inset, move, shape, spline, turn } from '../render/geometry.mjs';
import { darker, lighter } from '../render/colour.mjs';
import { cord } from './fittings.mjs';

/** Applies a plane map to everything a part draws with. */
export function carry(part, f) {
  const map = (o) => (Array.isArray(o[0][0]) ? o.map(f) : f(o));
  return {
    ...part,
    outline: map(part.outline),
    along: part.along && f(part.along),
    folds: part.folds?.map((x) => ({ ...x, path: f(x.path) })),
    marks: part.marks?.map((m) => ({ ...m, path: m.path && f(m.path), fills: m.fills?.map(map) })),
  };
}

/** Two mirrored shoes side by side, with small random differences. */
export function pair(make, rng, gap = 7.2) {
  const right = make(rng).map((p) => carry(p, (pts) => move(turn(pts, 4 + rng.range(-2, 2), [0, 15]), gap, rng.range(-0.3, 0.3))));
  const left = make(rng).map((p) => carry(p, (pts) => move(turn(flip(pts), -5 + rng.range(-2, 2), [0, 15]), -gap, 0.8)));
  return [...left.map((p) => ({ ...p, group: p.group && `${p.group}L` })), ...right.map((p) => ({ ...p, group: p.group && `${p.group}R` }))];
}

export const LASTS = {
  round: [
    [0.5, 0],
    [3.9, 2.2],
    [5.1, 7],
    [4.9, 12],
    [4, 18],
    [3.9, 25],
    [2.6, 28.8],
    [0.1, 29.8],
    [-2.5, 28.8],
    [-3.7, 25],
    [-3.3, 18],
    [-4.4, 11.5],
    [-4.5, 6.5],
    [-2.8, 1.9],
  ],
  slim: [
    [0.3, -0.6],
    [2.9, 1.7],
    [4.4, 6.8],
    [4.5, 11.5],
    [3.5, 18],
    [3.4, 25],
    [2.3, 28.6],
    [0.1, 29.4],
    [-2.1, 28.6],
    [-3.2, 25],
    [-2.8, 18],
    [-4, 11.5],
    [-4, 6.6],
    [-2.3, 1.6],
  ],
  chunky: [
    [0.5, -0.4],
    [4.4, 1.8],
    [5.8, 7],
    [5.5, 12],
    [4.7, 18],
    [4.7, 25],
    [3.2, 29.6],
    [0.1, 30.8],
    [-3.1, 29.6],
    [-4.5, 25],
    [-4, 18],
    [-5, 11.5],
    [-5.1, 6.5],
    [-3.3, 1.8],
  ],
};

/** Dark inside with an insole, and the padded rim. */
export function opening(parts, line, inside, rim, width) {
  parts.push({ outline: line, material: inside, tint: 0.42, lift: 0, roll: 0.6, rollHeight: -0.4, inherit: 0, crumple: 0 });
  const soleLine = inset(line, 0.75);
  parts.push({
    outline: soleLine,
    material: inside,
    tint: 0.66,
    lift: 0,
    roll: 0.8,
    rollHeight: -0.2,
    inherit: 0,
    crumple: 0,
    marks: [
      {
        kind: 'line',
        path: [
          [-0.7, 24.4],
          [0.9, 24.4],
        ],
        color: darker(inside.color, 0.5),
        w: 0.36,
        alpha: 0.5,
      },
    ],
  });
  parts.push({
    outline: [inset(line, -width * 0.45), inset(line, width * 0.55)],
    material: rim,
    lift: 0.1,
    roll: width * 0.8,
    rollHeight: width * 0.45,
    inherit: 0.55,
    crumple: 0.02,
  });
}

export function lacing(parts, { color, cloth, second, strings, sewn, rows, from, to, r }) {
  // Tongue, eyelet stays, bars and bow.
  parts.push({
    outline: shape([
      [-1.5, from - 0.2, 1],
      [0.1, from - 0.9],
      [1.7, from - 0.2, 1],
      [2, to],
      [1.9, to + 2.6],
      [0.1, to + 3.5],
      [-1.7, to + 2.6],
      [-1.8, to],
    ]),
    material: { weave: cloth === 'canvas' ? 'canvas' : 'leather', color: lighter(color, 0.04) },
    lift: 0.14,
    roll: 0.7,
    rollHeight: 0.3,
    inherit: 0.7,
    crumple: 0.02,
    marks: [
      {
        kind: 'stitch',
        path: spline([
          [-1.3, to + 2.2],
          [0.1, to + 2.9],
          [1.5, to + 2.2],
        ]),
        color: sewn,
        alpha: 0.5,
      },
    ],
  });
  for (const s of [-1, 1])
    parts.push({
      outline: shape([
        [s * 1 + 0.1, from - 0.6, 1],
        [s * 2.3 + 0.1, from - 0.4],
        [s * 2.7 + 0.1, from + 2],
        [s * 2.9 + 0.1, to + 0.6],
        [s * 2.2 + 0.1, to + 1.6, 1],
        [s * 1.25 + 0.1, to + 1, 1],
        [s * 0.95 + 0.1, from + 1.6],
      ]),
      material: { weave: cloth === 'canvas' ? 'canvas' : cloth === 'mesh' ? 'suede' : cloth, color: second },
      lift: 0.12,
      roll: 0.4,
      rollHeight: 0.12,
      inherit: 0.95,
      crumple: 0.01,
      marks: [
        {
          kind: 'stitch',
          path: spline([
            [s * 2.25 + 0.1, from],
            [s * 2.5 + 0.1, from + 3],
            [s * 2.6 + 0.1, to + 0.4],
          ]),
          color: sewn,
          alpha: 0.6,
        },
      ],
    });
  for (let i = 0; i < rows; i++) {
    const y = from + 0.5 + (i * (to - from)) / (rows - 0.2);
    const d = r.range(-0.12, 0.12);
    const path = spline([
      [-1.75, y + 0.15 + d],
      [0.1, y - 0.25],
      [1.95, y + 0.15 - d],
    ]);
    parts.push({
      outline: band(path, 0.78),
      material: { weave: 'canvas', color: strings },
      along: path,
      lift: 0.16,
      roll: 0.4,
      rollHeight: 0.3,
      inherit: 0.4,
      crumple: 0,
    });
  }
  const y = to + 0.3;
  const j = () => r.range(-0.5, 0.5);
  for (const path of [
    spline([
      [0.1, y],
      [2.2, y - 1.6 + j()],
      [4 + j(), y - 0.6],
      [3.4 + j(), y + 1],
      [1.6, y + 0.9],
      [0.1, y + 0.1],
    ]),
    spline([
      [0.1, y],
      [-2, y - 1.4 + j()],
      [-3.9 + j(), y - 0.2],
      [-3.1 + j(), y + 1.3],
      [-1.4, y + 0.9],
      [0.1, y + 0.1],
    ]),
    spline([
      [0.1, y],
      [1.6, y + 2 + j()],
      [3.4, y + 3.4 + j()],
      [3.9 + j(), y + 5.6],
    ]),
    spline([
      [0.1, y],
      [-1.2, y + 2.2 + j()],
      [-3, y + 3.4 + j()],
      [-3.7 + j(), y + 5],
    ]),
  ])
    parts.push(...cord(path, strings, 0.6, { lift: 0.2 }));
  parts.push({
    outline: ellipse(0.1, y + 0.05, 0.65, 0.5, 16),
    material: { weave: 'canvas', color: strings },
    lift: 0.15,
    roll: 0.4,
    rollHeight: 0.3,
    inherit: 0.3,
  });
}
