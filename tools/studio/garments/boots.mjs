// Boots and pumps, standing and seen from above like the low shoes of `flats.mjs`.

import { band, ellipse, inset, offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { LASTS, lacing, opening, pair } from './shoemaking.mjs';

/** The shaft of a boot: its middle, and the radii of its rim. It is nearer to the eye than the foot, hence wider than the heel. */
const SHAFT = { x: 0.1, y: 21.6, rx: 5, ry: 6.5 };

/** Chelsea boots (`kind: 'chelsea'`) or laced ones (`'lace'`). */
export function boots({ seed, color, kind = 'chelsea', weave = 'leather', sole, lace, lining = '#a98058', metal = '#cfae6d', elastic }) {
  const rng = random(seed);
  const ground = sole ?? darker(color, 0.45);
  const sewn = lightness(color) > 0.45 ? darker(color, 0.3) : lighter(color, 0.24);
  const isLaced = kind === 'lace';
  const make = (r) => {
    const parts = foot({ color, weave, ground, sewn, last: isLaced ? LASTS.chunky : LASTS.round, isCapped: isLaced });
    parts.push(...shaft({ color, weave, lining }));
    if (isLaced) {
      lacing(parts, { color, cloth: weave, second: color, strings: lace ?? '#c9a46a', sewn, rows: 5, from: 8.6, to: 14.4, r });
      parts.push(...eyelets(metal));
    } else parts.push(...elasticSides(elastic ?? darker(color, 0.3)));
    parts.push(pullTab(isLaced ? darker(color, 0.2) : (elastic ?? darker(color, 0.35))));
    return parts;
  };
  return { seed, parts: pair(make, rng, 7), wobble: 0.12, wobbleLength: 12, puff: {} };
}

/** Sole and upper, with the creases behind the toes. */
function foot({ color, weave, ground, sewn, last, isCapped }) {
  const base = shape(last);
  const upper = inset(base, 0.45);
  const cap = spline([
    [-4.2, 7],
    [0.3, 5.6],
    [4.6, 7],
  ]);
  return [
    { outline: base, material: { weave: 'rubber', color: ground }, lift: 0, roll: 0.4, rollHeight: 0.3, inherit: 0 },
    {
      outline: upper,
      material: { weave, color },
      lift: 0.14,
      roll: 0.8,
      rollHeight: 0.34,
      puff: [1.6, 2.1],
      inherit: 0.2,
      crumple: 0.04,
      folds: [9.6, 11.4].map((y) => ({
        path: spline([
          [-3.6, y],
          [0.2, y + 0.8],
          [3.8, y - 0.2],
        ]),
        w: 0.55,
        amp: -0.16,
      })),
      marks: [
        { kind: 'stitch', path: inset(base, 0.75), color: sewn, alpha: 0.55 },
        ...(isCapped
          ? [
              { kind: 'seam', path: cap, dark: 0.3 },
              { kind: 'stitch', path: offset(cap, 0.4), color: sewn, alpha: 0.6 },
            ]
          : []),
      ],
    },
  ];
}

/** The shaft from above: its wall, the dark inside with the insole far below, the rim. */
function shaft({ color, weave, lining }) {
  const { x, y, rx, ry } = SHAFT;
  const parts = [
    {
      outline: ellipse(x, y, rx, ry),
      material: { weave, color },
      lift: 0.7,
      roll: 1.2,
      rollHeight: 0.5,
      inherit: 0.3,
      crumple: 0.03,
      folds: [
        {
          path: spline([
            [x - 3.4, y - 4.6],
            [x, y - 6],
            [x + 3.4, y - 4.6],
          ]),
          w: 0.5,
          amp: -0.14,
        },
      ],
    },
  ];
  opening(parts, ellipse(x, y + 0.2, rx - 1.15, ry - 1.25), { weave: 'leather', color: darker(lining, 0.5) }, { weave, color }, 0.5);
  return parts;
}

/** The elastic of a Chelsea boot, on both sides of the rim. */
function elasticSides(color) {
  const { x, y, rx } = SHAFT;
  return [-1, 1].map((side) => {
    const wall = spline([
      [x + side * (rx - 0.62), y - 2.9],
      [x + side * (rx - 0.32), y],
      [x + side * (rx - 0.62), y + 2.9],
    ]);
    return {
      outline: band(wall, 1.15),
      material: { weave: 'rib', color, gauge: 0.5 },
      along: wall,
      across: true,
      lift: 0.05,
      roll: 0.3,
      rollHeight: 0.12,
      inherit: 0.8,
      crumple: 0,
    };
  });
}

/** The loop at the back of the shaft. */
function pullTab(color) {
  const { x, y, ry } = SHAFT;
  const loop = spline([
    [x, y + ry - 2],
    [x, y + ry + 1.5],
  ]);
  return {
    outline: band(loop, 1.5),
    material: { weave: 'canvas', color },
    along: loop,
    lift: 0.16,
    roll: 0.3,
    rollHeight: 0.16,
    inherit: 0.4,
  };
}

/** Two rows of metal rings beside the laces. */
function eyelets(metal) {
  return [9.2, 10.7, 12.2, 13.7].flatMap((y) =>
    [-1, 1].map((side) => ({
      outline: [ellipse(0.1 + side * 2.15, y, 0.36, 0.36, 14), ellipse(0.1 + side * 2.15, y, 0.14, 0.14, 10)],
      material: { weave: 'metal', color: metal },
      lift: 0.06,
      roll: 0.2,
      rollHeight: 0.12,
      inherit: 0.7,
    })),
  );
}

/** Shorter than its last, because the foot stands on a heel. */
const PUMP = [
  [0.25, -2.6, 1],
  [1.9, 0.6],
  [3.6, 5],
  [4, 9.4],
  [3.2, 14.4],
  [2.5, 19.6],
  [2.5, 23.8],
  [1.7, 26.8],
  [0.05, 27.6],
  [-1.6, 26.8],
  [-2.4, 23.8],
  [-2.2, 19.6],
  [-2.8, 14.4],
  [-3.6, 9.4],
  [-3.1, 5],
  [-1.4, 0.6],
];

/** Pumps with a pointed toe and a slim heel, of which only the end shows. */
export function pumps({ seed, color, weave = 'leather', lining = '#b98f66' }) {
  const rng = random(seed);
  const sewn = lightness(color) > 0.45 ? darker(color, 0.3) : lighter(color, 0.2);
  const make = () => {
    const base = shape(PUMP);
    const parts = [
      {
        outline: ellipse(0.05, 27.2, 1.15, 1.5, 24),
        material: { weave: 'leather', color: darker(color, 0.3) },
        lift: 0,
        roll: 0.4,
        rollHeight: 0.3,
        inherit: 0,
      },
      {
        outline: base,
        material: { weave, color },
        lift: 0.2,
        roll: 0.8,
        rollHeight: 0.34,
        puff: [1.3, 1.6],
        inherit: 0.1,
        crumple: 0.02,
        marks: [{ kind: 'stitch', path: inset(base, 0.4), color: sewn, alpha: 0.25 }],
      },
    ];
    const throat = shape([
      [0.1, 7.4],
      [1.7, 8.8],
      [2.5, 12.2],
      [1.9, 17],
      [1.65, 22.6],
      [1.15, 25.6],
      [0.05, 26.5],
      [-1.05, 25.6],
      [-1.55, 22.6],
      [-1.6, 17],
      [-2.2, 12.2],
      [-1.5, 8.8],
    ]);
    opening(parts, throat, { weave: 'leather', color: lining }, { weave, color }, 0.32);
    return parts;
  };
  return { seed, parts: pair(make, rng, 6), wobble: 0.12, wobbleLength: 12, puff: {} };
}
