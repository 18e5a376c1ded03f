// Scarves: wool with fringe, silk folded to a triangle.

import { band, move, offset, shape, spline, turn } from '../render/geometry.mjs';
import { random } from '../render/noise.mjs';

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
        const q = spline([
          [a[0] - d[0], a[1] - d[1]],
          [a[0] + d[0] * 2.4 + n[0] * s * 0.5, a[1] + d[1] * 2.4 + n[1] * s * 0.5],
          [a[0] + d[0] * (4.6 + rng.range(-0.5, 0.5)) + n[0] * s, a[1] + d[1] * 4.6 + n[1] * s],
        ]);
        out.push({
          outline: band(q, (t) => 0.62 - 0.2 * t),
          material: { weave: 'wool', color },
          along: q,
          lift: 0.08,
          roll: 0.3,
          rollHeight: 0.2,
          inherit: 0,
        });
      }
    const half = offset(path, w * 0.2);
    out.push({
      outline: band(path, (t) => w * (1 + 0.05 * Math.sin(t * 7))),
      material,
      along: path,
      lift: 0.4,
      roll: 0.8,
      rollHeight: 0.4,
      inherit: 0.25,
      crumple: 0.24,
      folds: [
        { path: half, w: 1.3, amp: 0.3, taper: 'none' },
        { path: offset(path, -w * 0.16), w: 1, amp: -0.22, taper: 'none' },
        { path: offset(path, -w * 0.34), w: 0.9, amp: 0.16, taper: 'none' },
      ],
    });
    return out;
  };
  parts.push(
    ...tail(
      spline([
        [7, 4],
        [9.6, 18],
        [8.4, 34],
        [9.6, 52],
      ]),
      13,
    ),
  );
  const loop = spline([
    [-9, 12],
    [-12.6, 0],
    [-6, -10],
    [4, -11.4],
    [12, -4],
    [10.6, 8],
  ]);
  parts.push({
    outline: band(loop, 12),
    material,
    along: loop,
    lift: 0.3,
    roll: 1,
    rollHeight: 0.5,
    inherit: 0.2,
    crumple: 0.24,
    folds: [2.6, -1.4, -3.8, 4.6].map((o, i) => ({ path: offset(loop, o), w: 1.1, amp: i % 2 ? -0.28 : 0.32, taper: 'none' })),
  });
  parts.push(
    ...tail(
      spline([
        [8, 2],
        [0, 9],
        [-7.4, 18],
        [-9.4, 30],
        [-8, 43 + rng.range(-2, 2)],
      ]),
      13,
    ),
  );
  return { seed, parts, wobble: 0.7, wobbleLength: 20, puff: {} };
}

/** A square of silk, folded to a triangle. */
export function silkScarf({ seed, color, pattern, border }) {
  const material = { weave: 'satin', color, pattern };
  const tri = (r) =>
    shape([
      [-29 * r, 0, 1],
      [0, -1.2],
      [29 * r, 0, 1],
      [13 * r, 14 * r],
      [1, 27 * r, 1],
      [-13 * r, 14 * r],
    ]);
  const parts = [
    {
      outline: turn(tri(1), 3, [0, 8]),
      material: { ...material, pattern: undefined, color: border },
      lift: 0,
      roll: 0.4,
      rollHeight: 0.14,
      inherit: 0,
      crumple: 0.2,
    },
    {
      outline: tri(0.985),
      group: 'body',
      material: { ...material, color: border, pattern: undefined },
      lift: 0.16,
      roll: 0.4,
      rollHeight: 0.12,
      crumple: 0.2,
    },
    {
      outline: move(tri(0.86), 0, 1.9),
      material,
      lift: 0,
      rollHeight: 0,
      inherit: 1,
      crumple: 0.05,
      marks: [],
      folds: [
        {
          path: spline([
            [-14, 3],
            [-5, 10],
            [0, 21],
          ]),
          w: 1.6,
          amp: 0.3,
        },
        {
          path: spline([
            [15, 3],
            [6, 9],
            [2, 18],
          ]),
          w: 1.6,
          amp: -0.24,
        },
        {
          path: spline([
            [0, 2],
            [1, 12],
            [0, 24],
          ]),
          w: 1.2,
          amp: 0.2,
        },
      ],
    },
  ];
  return { seed, parts, wobble: 0.6, wobbleLength: 16, puff: { body: { radius: 0.9, height: 0.3 } } };
}
