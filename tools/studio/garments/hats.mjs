// Caps, beanies, brimmed hats.

import { ellipse, offset, roundRect, shape, spline } from '../render/geometry.mjs';
import { darker } from '../render/colour.mjs';
import { contrast } from './contrast.mjs';

export function cap({ seed, color, weave = 'twill', brim, mark }) {
  const material = { weave, color };
  const peak = { weave, color: brim ?? color };
  const sewn = contrast(color);
  const parts = [];
  parts.push({
    outline: shape([
      [-10, 12.6],
      [-5, 11.4],
      [0, 10.8],
      [5, 11.4],
      [10, 12.6],
      [11, 16.6],
      [9.4, 20],
      [4, 21.8],
      [0, 22.1],
      [-4, 21.8],
      [-9.4, 20],
      [-11, 16.6],
    ]),
    material: peak,
    lift: 0,
    roll: 0.5,
    rollHeight: 0.24,
    puff: [2.4, 1],
    inherit: 0,
    crumple: 0.02,
    marks: [0.7, 1.5, 2.3, 3.1, 3.9].map((d) => ({
      kind: 'stitch',
      path: offset(
        spline([
          [10.9, 16.4],
          [9.4, 20],
          [4, 21.8],
          [0, 22.1],
          [-4, 21.8],
          [-9.4, 20],
          [-10.9, 16.4],
        ]),
        d,
      ),
      color: contrast(peak.color),
      alpha: 0.5,
    })),
  });
  const crown = shape([
    [-9.9, 13.4],
    [-10, 8],
    [-7.4, 1.2],
    [-3, -2.6],
    [0, -3.2],
    [3, -2.6],
    [7.4, 1.2],
    [10, 8],
    [9.9, 13.4],
    [6, 14.3],
    [0, 13.2],
    [-6, 14.3],
  ]);
  const seams = [
    spline([
      [0, -3.2],
      [-0.2, 5],
      [0, 13.4],
    ]),
    spline([
      [0, -3.2],
      [-5, 1],
      [-7.2, 8],
      [-7.4, 14],
    ]),
    spline([
      [0, -3.2],
      [5, 1],
      [7.2, 8],
      [7.4, 14],
    ]),
  ];
  parts.push({
    outline: crown,
    material,
    lift: 0.4,
    roll: 1,
    rollHeight: 0.4,
    puff: [3, 2.6],
    inherit: 0.1,
    crumple: 0.16,
    marks: seams.flatMap((p) => [
      { kind: 'seam', path: p, dark: 0.24 },
      { kind: 'stitch', path: offset(p, 0.35), color: sewn, alpha: 0.45 },
      { kind: 'stitch', path: offset(p, -0.35), color: sewn, alpha: 0.45 },
    ]),
  });
  for (const s of [-1, 1])
    parts.push({
      outline: [ellipse(s * 4.2, 3.4, 0.5, 0.5, 14), ellipse(s * 4.2, 3.4, 0.22, 0.22, 10)],
      material: { weave: 'canvas', color: sewn },
      lift: 0.05,
      roll: 0.2,
      rollHeight: 0.1,
      inherit: 0.8,
    });
  parts.push({ outline: ellipse(0, -3, 0.9, 0.7, 18), material, lift: 0.12, roll: 0.4, rollHeight: 0.4, inherit: 0.3 });
  if (mark)
    parts.push({
      outline: roundRect(0, 8.2, 5.4, 3.6, 0.5),
      material: { weave: 'canvas', color: mark },
      lift: 0.05,
      roll: 0.15,
      rollHeight: 0.04,
      inherit: 0.95,
      drape: 0.8,
      marks: [
        {
          kind: 'line',
          path: [
            [-1.6, 7.6],
            [1.6, 7.6],
          ],
          color: darker(mark, 0.6),
          w: 0.34,
        },
        {
          kind: 'line',
          path: [
            [-1, 8.9],
            [1, 8.9],
          ],
          color: darker(mark, 0.6),
          w: 0.34,
        },
      ],
    });
  return { seed, parts, wobble: 0.25, wobbleLength: 12, puff: {} };
}

export function beanie({ seed, color, weave = 'rib', gauge = 0.85, heather = 0.06, pom }) {
  const material = { weave, color, gauge, heather };
  const parts = [];
  if (pom)
    parts.push({
      outline: shape(
        Array.from({ length: 26 }, (_, i) => {
          const a = (i / 26) * 6.283;
          const r = 4 + (i % 2) * 0.45;
          return [Math.cos(a) * r, -5 + Math.sin(a) * r];
        }),
      ),
      material: { weave: 'wool', color: pom, heather: 0.5 },
      lift: 0.1,
      roll: 2,
      rollHeight: 1,
      puff: [1.6, 1.6],
      inherit: 0,
    });
  const lines = [-8, -5.4, -2.8, 0, 2.8, 5.4, 8].map((x) => ({
    path: spline([
      [x * 0.12, -2.4],
      [x * 0.8, 4],
      [x, 14],
    ]),
    w: 0.7,
    amp: -0.16,
    taper: 'none',
  }));
  parts.push({
    outline: shape([
      [-10.6, 14.6, 1],
      [-10.6, 8],
      [-7.8, 0.6],
      [-2.6, -2.8],
      [0, -3.1],
      [2.6, -2.8],
      [7.8, 0.6],
      [10.6, 8],
      [10.6, 14.6, 1],
    ]),
    material,
    lift: 0.3,
    roll: 1,
    rollHeight: 0.5,
    puff: [2.4, 1.6],
    inherit: 0,
    crumple: 0.2,
    folds: lines,
  });
  parts.push({
    outline: shape([
      [-11.4, 12.2, 1],
      [0, 13],
      [11.4, 12.2, 1],
      [11.2, 16],
      [10.8, 19.6, 1],
      [0, 20.4],
      [-10.8, 19.6, 1],
      [-11.2, 16],
    ]),
    material,
    lift: 0.3,
    roll: 1,
    rollHeight: 0.5,
    inherit: 0.2,
    crumple: 0.16,
  });
  parts.push({
    outline: roundRect(0, 16.6, 3.4, 2.2, 0.1),
    material: { weave: 'poplin', color: '#efe8db' },
    lift: 0.08,
    roll: 0.2,
    rollHeight: 0.06,
    inherit: 0.7,
    marks: [
      {
        kind: 'line',
        path: [
          [-0.9, 16.6],
          [0.9, 16.6],
        ],
        color: '#4a453e',
        w: 0.3,
      },
    ],
  });
  return { seed, parts, wobble: 0.35, wobbleLength: 12, puff: {} };
}

/** Wide-brimmed hat from above. */
export function brimHat({ seed, color, weave = 'straw', ribbon = '#2a2724' }) {
  const material = { weave, color };
  const circle = (r, sx = 1, sy = 1) => ellipse(0, 0, r * sx, r * sy, 72);
  const along = (r) => [...circle(r), circle(r)[0]];
  const parts = [
    {
      outline: circle(18.5, 1, 0.96),
      material,
      along: along(9),
      lift: 0,
      roll: 0.6,
      rollHeight: 0.24,
      puff: [3.4, 0.8],
      inherit: 0,
      across: true,
      folds: [
        {
          path: spline([
            [-17, 3],
            [-12, 8],
            [-5, 14.6],
          ]),
          w: 3,
          amp: 0.5,
        },
        {
          path: spline([
            [8, -14],
            [13, -9],
            [16, -2],
          ]),
          w: 3,
          amp: -0.4,
        },
      ],
    },
    {
      outline: circle(9.6, 0.94, 1.04),
      material: { weave: 'satin', color: ribbon },
      lift: 0.5,
      roll: 0.8,
      rollHeight: 0.6,
      inherit: 0.1,
      crumple: 0.03,
    },
    {
      outline: circle(8.7, 0.94, 1.04),
      material,
      along: along(4.4),
      across: true,
      lift: 0.1,
      roll: 1,
      rollHeight: 0.6,
      puff: [2.2, 2],
      inherit: 0.2,
      folds: [
        {
          path: spline([
            [0.4, -7],
            [-0.3, 0],
            [0.2, 6],
          ]),
          w: 2,
          amp: -1,
          taper: 'both',
        },
        {
          path: spline([
            [-5, -5],
            [-4.2, -1],
          ]),
          w: 1.5,
          amp: -0.5,
        },
        {
          path: spline([
            [5, -5],
            [4.2, -1],
          ]),
          w: 1.5,
          amp: -0.5,
        },
      ],
    },
  ];
  return { seed, parts, wobble: 0.5, wobbleLength: 16, puff: {} };
}

export function bucketHat({ seed, color, weave = 'canvas' }) {
  const material = { weave, color };
  const sewn = contrast(color);
  const brim = (y) =>
    spline([
      [-13.4, y],
      [-7, y + 3],
      [0, y + 3.9],
      [7, y + 3],
      [13.4, y],
    ]);
  const parts = [
    {
      outline: shape([
        [-9.4, 10.4, 1],
        [0, 12.4],
        [9.4, 10.4, 1],
        [12, 14.6],
        [14.4, 19.4],
        [7, 23],
        [0, 24],
        [-7, 23],
        [-14.4, 19.4],
        [-12, 14.6],
      ]),
      material,
      lift: 0,
      roll: 0.5,
      rollHeight: 0.24,
      puff: [1.6, 0.7],
      inherit: 0,
      crumple: 0.14,
      marks: [0, 1.2, 2.4, 3.6, 4.8, 6].map((d) => ({
        kind: 'stitch',
        path: brim(18.8 - d).map(([x, y]) => [x * (1 - d * 0.035), y]),
        color: sewn,
        alpha: 0.5,
      })),
    },
    {
      outline: shape([
        [-9.9, 11.4, 1],
        [-8.6, 5],
        [-7.2, 0.6, 1],
        [0, -1.4],
        [7.2, 0.6, 1],
        [8.6, 5],
        [9.9, 11.4, 1],
        [0, 13.4],
      ]),
      material,
      lift: 0.3,
      roll: 0.6,
      rollHeight: 0.3,
      puff: [2.2, 1.4],
      inherit: 0.1,
      crumple: 0.18,
      marks: [
        {
          kind: 'seam',
          path: spline([
            [-7.4, 1.4],
            [0, 3.2],
            [7.4, 1.4],
          ]),
          dark: 0.28,
        },
        {
          kind: 'stitch',
          path: spline([
            [-7.4, 1.9],
            [0, 3.7],
            [7.4, 1.9],
          ]),
          color: sewn,
          alpha: 0.5,
        },
        {
          kind: 'seam',
          path: spline([
            [-4, 2.8],
            [-4.6, 13],
          ]),
          dark: 0.2,
        },
      ],
    },
  ];
  return { seed, parts, wobble: 0.4, wobbleLength: 14, puff: {} };
}
