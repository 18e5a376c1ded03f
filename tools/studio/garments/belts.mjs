// Belts and socks.

import { band, ellipse, frames, move, offset, roundRect, shape, spline, turn } from '../render/geometry.mjs';
import { darker } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { contrast } from './contrast.mjs';

/** A belt rolled into a loose coil, buckle outward. */
export function belt({ seed, color, weave = 'leather', metal = '#c9a563', width = 3 }) {
  const rng = random(seed);
  const sewn = contrast(color, 0.25);
  // Laid in an open loop.
  const path = spline([
    [-14, 9],
    [-16, -2],
    [-9, -11],
    [2, -13],
    [13, -9],
    [17, 1],
    [12, 10],
    [2, 13.6],
    [-8, 12.4],
    [-19, 8 + rng.range(-0.5, 0.5)],
  ]);
  const parts = [
    {
      outline: band(path, width),
      material: { weave, color },
      along: path,
      lift: 0.3,
      roll: 0.4,
      rollHeight: 0.26,
      inherit: 0.3,
      crumple: 0.02,
      marks: [
        { kind: 'stitch', path: offset(path, width / 2 - 0.35), color: sewn, alpha: 0.55 },
        { kind: 'stitch', path: offset(path, -width / 2 + 0.35), color: sewn, alpha: 0.55 },
        {
          kind: 'ink',
          fills: frames(path, 2.5)
            .slice(-5, -1)
            .map(({ at }) => ellipse(at[0], at[1], 0.28, 0.28, 12)),
          color: darker(color, 0.7),
          raise: -0.08,
        },
      ],
    },
  ];
  const c = [-14, 9.6];
  const t = (p) => turn(p, 72, c);
  parts.push({
    outline: [t(roundRect(c[0], c[1], 4.2, width + 1.8, 0.8)), t(roundRect(c[0] - 0.1, c[1], 2.7, width + 0.3, 0.5))],
    material: { weave: 'metal', color: metal },
    lift: 0.25,
    roll: 0.4,
    rollHeight: 0.3,
    inherit: 0.2,
  });
  parts.push({
    outline: t(roundRect(c[0] + 0.4, c[1], 3.4, 0.5, 0.2)),
    material: { weave: 'metal', color: metal },
    lift: 0.15,
    roll: 0.25,
    rollHeight: 0.2,
    inherit: 0.2,
  });
  const keeper = path[Math.floor(path.length * 0.1)];
  parts.push({
    outline: turn(roundRect(keeper[0], keeper[1], width + 0.7, 1.1, 0.3), 10, keeper),
    material: { weave, color: darker(color, 0.08) },
    lift: 0.16,
    roll: 0.3,
    rollHeight: 0.2,
    inherit: 0.3,
  });
  return { seed, parts, wobble: 0.2, wobbleLength: 14, puff: {} };
}

export function socks({ seed, color, stripe, weave = 'rib', heather = 0.04 }) {
  const rng = random(seed);
  const pattern = stripe ? { kind: 'blocks', colors: [stripe, color, stripe, color], edges: [2.4, 3.8, 5, 6.4] } : undefined;
  const material = { weave, color, gauge: 0.5, heather, pattern };
  const one = (dx, deg) => {
    const f = (pts) => move(turn(pts, deg, [0, 14]), dx, 0);
    return [
      {
        outline: f(
          shape([
            [-4, 0, 1],
            [4.4, 0, 1],
            [4.6, 12],
            [5.2, 21],
            [6.6, 25.4],
            [13, 30],
            [15.4, 34],
            [13.4, 37.6],
            [9, 37.6],
            [2, 33.6],
            [-3.4, 28.6],
            [-4.6, 24],
            [-4, 14],
          ]),
        ),
        material,
        lift: 0.3,
        roll: 0.8,
        rollHeight: 0.3,
        puff: [1.4, 0.6],
        inherit: 0.2,
        crumple: 0.2,
        folds: [
          {
            path: f(
              spline([
                [5, 22],
                [1.6, 24],
                [-3, 22.6],
              ]),
            ),
            w: 1,
            amp: 0.24,
          },
          {
            path: f(
              spline([
                [5.4, 24.4],
                [1, 27.4],
                [-2.4, 28],
              ]),
            ),
            w: 1,
            amp: -0.22,
          },
          {
            path: f(
              spline([
                [-3.6, 10],
                [0, 12],
                [4, 11],
              ]),
            ),
            w: 1.2,
            amp: 0.16,
          },
        ],
        marks: [
          {
            kind: 'seam',
            path: f(
              spline([
                [10.4, 38],
                [11.6, 34],
                [13.6, 30.4],
              ]),
            ),
            dark: 0.16,
          },
        ],
      },
      {
        outline: f(
          shape([
            [-4.2, -0.4, 1],
            [0, -0.1],
            [4.6, -0.4, 1],
            [4.6, 2.6, 1],
            [0, 2.9],
            [-4.2, 2.6, 1],
          ]),
        ),
        material: { ...material, color: stripe ?? color, pattern: undefined },
        lift: 0.05,
        roll: 0.5,
        rollHeight: 0.16,
        inherit: 0.7,
      },
    ];
  };
  return { seed, parts: [...one(-6, -5 + rng.range(-2, 2)), ...one(5, 4 + rng.range(-2, 2))], wobble: 0.3, wobbleLength: 14, puff: {} };
}
