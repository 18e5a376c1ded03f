// Boots and heels, lying on their side.

import { band, between, ellipse, frames, lerp, move, offset, shape, spline, turn } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { cord } from './fittings.mjs';
import { carry } from './shoemaking.mjs';

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
  parts.push({
    outline: shape([
      [0.4, -1.8],
      [8, -2, 1],
      [29.4, -2.4, 1],
      [29.6, 0.6 + chunk * 0.4, 1],
      [21.4, 0.9 + chunk * 0.5, 1],
      [20.4, -0.5 + chunk * 0.6, 1],
      [12, -0.3 + chunk],
      [4, -0.2 + chunk * 0.8],
      [0.2, -0.8],
    ]),
    material: rubber,
    lift: 0.2,
    roll: 0.4,
    rollHeight: 0.3,
    inherit: 0.1,
    marks: chunk
      ? Array.from({ length: 13 }, (_, i) => ({
          kind: 'seam',
          path: [
            [2 + i * 2.1, 0.6],
            [2 + i * 2.1, 1.4],
          ],
          dark: 0.5,
          depth: 0.1,
        }))
      : [],
  });
  const upper = shape([
    [0.3, -2.2],
    [0.6, -4.2],
    [3.2, -6.4],
    [8.6, -8.4],
    [13.4, -11.2],
    [16.8, -15.4],
    [17.6, -tall * 0.82],
    [17.2, -tall, 1],
    [23, -tall - 0.7],
    [29, -tall + 0.2, 1],
    [28.6, -15],
    [28.5, -9],
    [29.4, -4.6],
    [29, -2, 1],
    [14, -1.7],
    [3, -1.6],
  ]);
  parts.push({
    outline: shape([
      [17.6, -tall + 0.3, 1],
      [23, -tall - 1.5],
      [28.7, -tall + 0.4, 1],
      [23, -tall + 1.4],
    ]),
    material: { weave: 'leather', color: darker(color, 0.3) },
    tint: 0.6,
    lift: 0,
    inherit: 0,
  });
  const creases = [
    {
      path: spline([
        [9.4, -8.6],
        [12.6, -6.4],
        [14.4, -3.6],
      ]),
      w: 0.7,
      amp: -0.24,
    },
    {
      path: spline([
        [12, -10.4],
        [15, -8],
        [17.4, -6.4],
      ]),
      w: 0.7,
      amp: -0.2,
    },
    {
      path: spline([
        [16.8, -15],
        [20.4, -13.2],
        [25, -13.6],
      ]),
      w: 1,
      amp: -0.26,
      taper: 'end',
    },
    {
      path: spline([
        [28.4, -12.8],
        [25.6, -11.6],
        [22, -12],
      ]),
      w: 0.9,
      amp: -0.22,
      taper: 'end',
    },
    {
      path: spline([
        [17.6, -18.6],
        [21, -17],
        [25, -17.6],
      ]),
      w: 1,
      amp: 0.2,
      taper: 'end',
    },
  ];
  const host = {
    outline: upper,
    material,
    lift: 0.2,
    roll: 1,
    rollHeight: 0.4,
    puff: [1.6, 1.9],
    inherit: 0.1,
    folds: creases,
    marks: [
      {
        kind: 'stitch',
        path: spline([
          [1, -2.9],
          [10, -2.7],
          [20, -2.7],
          [28.8, -3.1],
        ]),
        color: sewn,
        alpha: 0.35,
      },
    ],
  };
  parts.push(host);
  const counter = spline([
    [22.4, -2.4],
    [22.8, -6.4],
    [25.4, -9.6],
    [28.6, -10.4],
  ]);
  host.marks.push({ kind: 'seam', path: counter, dark: 0.24 }, { kind: 'stitch', path: offset(counter, 0.4), color: sewn, alpha: 0.4 });
  if (kind === 'chelsea') {
    const gore = shape([
      [19.4, -tall + 0.5, 1],
      [26.4, -tall + 0.3, 1],
      [25, -14],
      [23.8, -9.6],
      [22.4, -9.4],
      [20.6, -13.6],
    ]);
    parts.push({
      outline: gore,
      material: { weave: 'rib', color: elastic ?? darker(color, 0.25), gauge: 0.55 },
      lift: 0,
      roll: 0.4,
      rollHeight: -0.1,
      inherit: 1,
      crumple: 0.02,
      marks: [{ kind: 'seam', path: [...gore, gore[0]], dark: 0.3, depth: 0.1 }],
    });
    host.marks.push({
      kind: 'seam',
      path: spline([
        [22.8, -9.4],
        [20, -6],
        [17, -2.4],
      ]),
      dark: 0.26,
    });
    const tab = spline([
      [26.8, -tall + 4],
      [27.6, -tall - 2.4],
      [28.8, -tall - 2],
      [28.2, -tall + 4],
    ]);
    parts.push({
      outline: band(tab, 1.3),
      material: { weave: 'canvas', color: elastic ?? darker(color, 0.3) },
      along: tab,
      lift: 0.12,
      roll: 0.3,
      rollHeight: 0.14,
      inherit: 0.5,
    });
  } else if (kind === 'lace') {
    const stay = spline([
      [12.4, -9.6],
      [15.6, -12.6],
      [18.4, -16.6],
      [19.4, -tall + 0.4],
    ]);
    const edge = offset(stay, -1.9);
    host.marks.push({ kind: 'seam', path: edge, dark: 0.3 }, { kind: 'stitch', path: offset(stay, -1.4), color: sewn, alpha: 0.7 });
    host.marks.push(
      {
        kind: 'seam',
        path: spline([
          [13.6, -8.4],
          [13, -5],
          [11.6, -2.6],
        ]),
        dark: 0.26,
      },
      {
        kind: 'stitch',
        path: spline([
          [14.2, -8.4],
          [13.6, -5],
          [12.2, -2.6],
        ]),
        color: sewn,
        alpha: 0.7,
      },
    );
    for (const { at, normal, t } of frames(between(stay, 0.04, 0.98), 2)) {
      const eye = [at[0] - normal[0] * 0.9, at[1] - normal[1] * 0.9];
      parts.push({
        outline: [ellipse(eye[0], eye[1], 0.42, 0.42, 14), ellipse(eye[0], eye[1], 0.18, 0.18, 10)],
        material: { weave: 'metal', color: metal },
        lift: 0.08,
        roll: 0.2,
        rollHeight: 0.14,
        inherit: 0.6,
      });
      const out = [at[0] + normal[0] * 1.5 - 0.2, at[1] + normal[1] * 1.5 + (t > 0.5 ? 0.5 : 0.9)];
      parts.push(...cord(spline([eye, lerp(eye, out, 0.5), out]), lace ?? '#c9a46a', 0.6, { lift: 0.14 }));
    }
    const k = stay[stay.length - 1];
    parts.push(
      ...cord(
        spline([
          [k[0], k[1] + 1],
          [14.6, -tall + 3.6],
          [12.6, -tall + 7],
          [14 + rng.range(-1, 1), -tall + 10],
        ]),
        lace ?? '#c9a46a',
        0.55,
        { tip: metal },
      ),
    );
    parts.push(
      ...cord(
        spline([
          [k[0], k[1] + 1],
          [16, -tall - 1.6],
          [12.8, -tall - 1],
          [13.6, -tall + 1.6],
          [17, -tall + 1.6],
        ]),
        lace ?? '#c9a46a',
        0.55,
      ),
    );
  }
  return parts;
}

function heel(color, weave, ground, lining) {
  const material = { weave, color };
  const parts = [];
  // Heel, sole, inside, upper: a long low toe, a deep throat, a high counter.
  parts.push({
    outline: shape([
      [20.6, -9.2],
      [26, -11.4, 1],
      [25.6, -6],
      [25.1, 0.7, 1],
      [23.9, 0.7, 1],
      [23.6, -4],
      [22.2, -7.4],
    ]),
    material,
    lift: 0.2,
    roll: 0.5,
    rollHeight: 0.34,
    inherit: 0,
  });
  parts.push({
    outline: shape([
      [-2.6, -0.1],
      [2, 0.45],
      [7, 0.35],
      [11, -0.9],
      [16, -4.8],
      [21.6, -8.6, 1],
      [21, -9.8],
      [15, -5.8],
      [10, -1.9],
      [4, -0.7],
    ]),
    material: { weave: 'leather', color: ground },
    lift: 0.14,
    roll: 0.3,
    rollHeight: 0.18,
    inherit: 0,
  });
  parts.push({
    outline: shape([
      [6.4, -2.8],
      [12, -4.6],
      [18, -9.6],
      [23.4, -15.2],
      [25, -17, 1],
      [23.6, -11],
      [16, -4.6],
      [10, -1.6],
    ]),
    material: { weave: 'leather', color: lining },
    tint: 0.82,
    lift: 0,
    inherit: 0,
    rollHeight: 0.1,
  });
  parts.push({
    outline: shape([
      [-3, -0.25],
      [0, -1.15],
      [3.6, -2.5],
      [6, -3.7, 1],
      [7.8, -2.9],
      [11, -3],
      [15.4, -5.9],
      [19.6, -10.2],
      [22.6, -14.6],
      [24.6, -17.4, 1],
      [26.3, -16],
      [26.6, -13.4],
      [25.9, -11, 1],
      [21.2, -8.4],
      [15.6, -4.4],
      [10.6, -0.7],
      [6, 0.25],
      [1, 0.25],
    ]),
    material,
    lift: 0.16,
    roll: 0.8,
    rollHeight: 0.36,
    puff: [0.9, 1.1],
    inherit: 0.1,
    crumple: 0.02,
    marks: [
      {
        kind: 'seam',
        path: spline([
          [6, -3.3],
          [7.9, -2.5],
          [11.1, -2.6],
          [15.6, -5.5],
          [19.9, -9.8],
          [23, -14.4],
          [24.8, -16.9],
        ]),
        depth: 0.05,
        dark: 0.16,
      },
    ],
  });
  return parts;
}
