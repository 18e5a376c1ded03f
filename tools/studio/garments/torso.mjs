// The upper body that all tops share: torso, sleeves, necklines, and the folds at the joints. Measures are in cm of a
// garment lying flat.

import { flip, lerp, offset, shape, spline, symmetric } from '../render/geometry.mjs';

export const CUT = {
  neck: 8.6,
  depth: 8,
  slope: 4.4,
  shoulder: 21.5,
  chest: 26,
  waist: 25.4,
  hem: 26,
  armhole: 25,
  length: 70,
  hemCurve: 0.8,
};

/** Right half of the torso, neck to hem, as nodes. */
function rightHalf(c, opening) {
  const mid = (c.armhole + c.length) / 2;
  return [
    ...opening,
    [c.shoulder, c.slope, 1],
    [c.shoulder - 1.5, c.slope + (c.armhole - c.slope) * 0.52],
    [c.chest, c.armhole, 1],
    [c.waist, mid],
    [c.hem, c.length, 1],
    [c.hem * 0.5, c.length + c.hemCurve * 0.8],
    [0, c.length + c.hemCurve],
  ];
}

const NECKLINES = {
  crew: (c) => [
    [0, c.depth],
    [c.neck * 0.6, c.depth * 0.8],
    [c.neck * 0.95, c.depth * 0.3],
    [c.neck, 0, 1],
  ],
  v: (c) => [
    [0, c.depth, 1],
    [c.neck * 0.56, c.depth * 0.42],
    [c.neck, 0, 1],
  ],
  scoop: (c) => [
    [0, c.depth],
    [c.neck * 0.72, c.depth * 0.84],
    [c.neck * 1.02, c.depth * 0.36],
    [c.neck, 0, 1],
  ],
  boat: (c) => [
    [0, c.depth],
    [c.neck * 0.6, c.depth * 0.82],
    [c.neck, 0, 1],
  ],
  square: (c) => [
    [0, c.depth],
    [c.neck * 0.78, c.depth, 1],
    [c.neck, 0, 1],
  ],
};

/** Torso outline with the named neckline and the paths seams run on. */
export function torso(cut, neckline = 'crew') {
  const c = { ...CUT, ...cut };
  const right = NECKLINES[neckline](c);
  const outline = symmetric(rightHalf(c, right));
  const half = spline(right);
  const line = [...flip(half).reverse(), ...half.slice(1)];
  const arm = spline([
    [c.shoulder, c.slope],
    [c.shoulder - 1.5, c.slope + (c.armhole - c.slope) * 0.52],
    [c.chest, c.armhole],
  ]);
  const hem = spline([
    [-c.hem, c.length],
    [-c.hem * 0.5, c.length + c.hemCurve * 0.8],
    [0, c.length + c.hemCurve],
    [c.hem * 0.5, c.length + c.hemCurve * 0.8],
    [c.hem, c.length],
  ]);
  return { c, outline, neckline: line, armhole: arm, hem };
}

/** Inside of the back, seen through the neck opening. */
export function backNeck(c, material, { rise = 1.2, label, tint = 0.62 } = {}) {
  const up = 0.6;
  const outline = shape([
    [-c.neck - 0.5, -0.1, 1],
    [-c.neck * 0.5, rise * 0.85 - up],
    [0, rise - up],
    [c.neck * 0.5, rise * 0.85 - up],
    [c.neck + 0.5, -0.1, 1],
    [c.neck * 0.98, c.depth * 0.6],
    [0, c.depth + 2.4],
    [-c.neck * 0.98, c.depth * 0.6],
  ]);
  const parts = [{ outline, material, tint, lift: 0, inherit: 0, rollHeight: 0.05 }];
  if (label)
    parts.push({
      outline: [
        [-1.7, rise + 1.5],
        [1.7, rise + 1.5],
        [1.7, rise + 3.1],
        [-1.7, rise + 3.1],
      ],
      material: { weave: 'poplin', color: label },
      lift: 0.05,
      roll: 0.1,
      rollHeight: 0.03,
      marks: [
        {
          kind: 'line',
          path: [
            [-1, rise + 2.3],
            [1, rise + 2.3],
          ],
          color: '#7b756d',
          w: 0.3,
          alpha: 0.75,
        },
      ],
    });
  return parts;
}

/** Ribbed band round a neckline; `line` runs left to right through the front. */
export function neckband(line, back, material, width = 1.9) {
  const inner = offset(line, width);
  const backLine = back ?? [];
  const parts = [];
  if (backLine.length)
    parts.push({
      outline: [...backLine, ...offset(backLine, -width * 0.85).reverse()],
      material,
      along: backLine,
      across: true,
      tint: 0.9,
      lift: 0.06,
      inherit: 0,
      roll: 0.5,
      rollHeight: 0.1,
      crumple: 0,
    });
  parts.push({
    outline: [...line, ...inner.reverse()],
    material,
    along: line,
    across: true,
    lift: 0.12,
    roll: 0.6,
    rollHeight: 0.14,
    inherit: 0.5,
    crumple: 0.02,
    marks: [{ kind: 'seam', path: offset(line, 0.08), depth: 0.08, dark: 0.25 }],
  });
  return parts;
}

export const backLine = (c, rise = 0.6) =>
  spline([
    [-c.neck, 0],
    [-c.neck * 0.5, rise * 0.85],
    [0, rise],
    [c.neck * 0.5, rise * 0.85],
    [c.neck, 0],
  ]);

/** Short sleeve on the right; flip for the left. */
export function shortSleeve(c, { length = 23, width = 19, angle = 43, cuffCurve = 0.6 } = {}) {
  const a = (angle * Math.PI) / 180;
  const dir = [Math.cos(a), Math.sin(a)];
  const down = [-dir[1], dir[0]];
  const s = [c.shoulder, c.slope];
  const o = [s[0] + dir[0] * length, s[1] + dir[1] * length];
  const i = [o[0] + down[0] * width, o[1] + down[1] * width];
  const under = [c.chest, c.armhole];
  const outline = shape([
    [...lerp([c.neck, 0], s, 0.8), 1],
    [s[0], s[1]],
    [s[0] + dir[0] * length * 0.5 + 0.5, s[1] + dir[1] * length * 0.5 - 0.7],
    [...o, 1],
    [(o[0] + i[0]) / 2 + dir[0] * cuffCurve, (o[1] + i[1]) / 2 + dir[1] * cuffCurve],
    [...i, 1],
    [...under, 1],
    [c.shoulder - 4, c.slope + (c.armhole - c.slope) * 0.55],
  ]);
  const cuff = spline([o, [(o[0] + i[0]) / 2 + dir[0] * cuffCurve, (o[1] + i[1]) / 2 + dir[1] * cuffCurve], i]);
  const folds = [
    { path: spline([[under[0] - 0.5, under[1] - 2], lerp(under, o, 0.45), lerp(s, o, 0.72)]), w: 1.3, amp: 0.24, taper: 'end' },
    { path: spline([lerp(under, i, 0.4), lerp(i, o, 0.35)]), w: 1.1, amp: 0.16, taper: 'end' },
    { path: spline([[s[0] + 1, s[1] + 5], lerp(s, i, 0.55)]), w: 1.6, amp: -0.14 },
  ];
  return { outline, cuff, folds, grain: angle - 90, dir };
}

/**
 * Long sleeve on the right, hanging at `angle` below the horizontal, the
 * forearm turned further by `bend` degrees.
 */
export function longSleeve(c, { length = 60, top = 19.5, wrist = 10, angle = 63, bend = 6, puff = 0.8 } = {}) {
  const s = [c.shoulder, c.slope];
  const under = [c.chest, c.armhole];
  const rad = (d) => (d * Math.PI) / 180;
  const d1 = [Math.cos(rad(angle)), Math.sin(rad(angle))];
  const d2 = [Math.cos(rad(angle + bend)), Math.sin(rad(angle + bend))];
  const n2 = [-d2[1], d2[0]];
  const n1 = [-d1[1], d1[0]];
  const elbow = [s[0] + d1[0] * length * 0.52, s[1] + d1[1] * length * 0.52];
  const o = [elbow[0] + d2[0] * length * 0.48, elbow[1] + d2[1] * length * 0.48];
  const i = [o[0] + n2[0] * wrist, o[1] + n2[1] * wrist];
  const ew = (top * 0.42 + wrist * 0.58) * 1.02;
  const inElbow = [elbow[0] + n1[0] * ew, elbow[1] + n1[1] * ew];
  const outline = shape([
    [...lerp([c.neck, 0], s, 0.8), 1],
    [s[0], s[1]],
    [s[0] + d1[0] * length * 0.2 + puff, s[1] + d1[1] * length * 0.2 - puff * 0.5],
    [elbow[0] + puff * 0.6, elbow[1]],
    [...o, 1],
    [(o[0] + i[0]) / 2 + d2[0] * 0.4, (o[1] + i[1]) / 2 + d2[1] * 0.4],
    [...i, 1],
    [inElbow[0], inElbow[1]],
    [under[0] - 1, under[1] + 3],
    [under[0] - 3, under[1] + 1, 1],
    [c.shoulder - 4, c.slope + (c.armhole - c.slope) * 0.55],
  ]);
  const cuff = spline([o, [(o[0] + i[0]) / 2 + d2[0] * 0.4, (o[1] + i[1]) / 2 + d2[1] * 0.4], i]);
  const folds = [
    { path: spline([[under[0] + 0.5, under[1] + 1], lerp(under, elbow, 0.34), lerp(s, elbow, 0.6)]), w: 1.5, amp: 0.28, taper: 'end' },
    { path: spline([lerp(under, inElbow, 0.35), lerp(inElbow, elbow, 0.5)]), w: 1.3, amp: 0.2, taper: 'end' },
    { path: spline([inElbow, lerp(inElbow, elbow, 0.42), lerp(elbow, s, 0.16)]), w: 1.2, amp: -0.24, taper: 'end' },
    { path: spline([lerp(inElbow, i, 0.12), lerp(lerp(inElbow, i, 0.3), lerp(elbow, o, 0.3), 0.6)]), w: 1.2, amp: 0.22, taper: 'end' },
    { path: spline([lerp(elbow, o, 0.15), lerp(lerp(inElbow, i, 0.5), lerp(elbow, o, 0.5), 0.45), lerp(inElbow, i, 0.66)]), w: 1.4, amp: 0.16 },
    { path: spline([lerp(elbow, o, 0.62), lerp(inElbow, i, 0.82)]), w: 1, amp: 0.14 },
  ];
  // A cuff across the end of the sleeve.
  const cuffBand = (depth, flare = 0) => {
    const up = (p) => [p[0] - d2[0] * depth, p[1] - d2[1] * depth];
    const oo = [o[0] - n2[0] * flare, o[1] - n2[1] * flare];
    const ii = [i[0] + n2[0] * flare, i[1] + n2[1] * flare];
    const t = lengthRatio(elbow, o, depth);
    const a = lerp(o, elbow, t);
    const b = up(ii);
    return shape([
      [oo[0] - 0.1, oo[1], 1],
      [(oo[0] + ii[0]) / 2 + d2[0] * 0.4, (oo[1] + ii[1]) / 2 + d2[1] * 0.4],
      [...ii, 1],
      [...b, 1],
      [(a[0] + b[0]) / 2 + d2[0] * 0.4, (a[1] + b[1]) / 2 + d2[1] * 0.4],
      [a[0] + 0.1, a[1], 1],
    ]);
  };
  return { outline, cuff, folds, cuffBand, grain: angle + bend - 90, dir: d2, across: n2, o, i, elbow };
}

const lengthRatio = (a, b, d) => Math.min(0.9, d / Math.hypot(b[0] - a[0], b[1] - a[1]));

/** Soft folds of a torso lying flat: from the armpits, along the sides, at the hem. */
export function torsoFolds(c, rng, strength = 1) {
  const out = [];
  for (const side of [-1, 1]) {
    const j = () => rng.range(0.75, 1.25) * strength;
    const x = (v) => side * v;
    out.push(
      {
        path: spline([
          [x(c.chest - 0.5), c.armhole + 1],
          [x(c.chest - 6), c.armhole + 3 + rng.range(-1, 2)],
          [x(c.chest - 13), c.armhole + 3.5 + rng.range(-2, 3)],
        ]),
        w: 1.5,
        amp: 0.26 * j(),
        taper: 'end',
      },
      {
        path: spline([
          [x(c.chest - 1), c.armhole + 4],
          [x(c.chest - 5), c.armhole + 10],
          [x(c.chest - 8), c.armhole + 18 + rng.range(-2, 4)],
        ]),
        w: 1.9,
        amp: 0.22 * j(),
        taper: 'end',
      },
      {
        path: spline([
          [x(c.shoulder - 2.6), c.slope + 12],
          [x(c.shoulder - 6), c.slope + 17],
          [x(c.shoulder - 8.5), c.armhole + 6],
        ]),
        w: 1.8,
        amp: -0.16 * j(),
      },
      {
        path: spline([
          [x(c.hem - rng.range(4, 9)), c.length],
          [x(c.hem - rng.range(5, 10)), c.length - 12],
          [x(c.hem - rng.range(4, 12)), c.length - 26],
        ]),
        w: 2.2,
        amp: 0.18 * j(),
        taper: 'end',
      },
    );
  }
  const k = rng.range(-5, 5);
  out.push({
    path: spline([
      [k, c.length],
      [k + rng.range(-2, 2), c.length - 14],
      [k + rng.range(-4, 4), c.length - 30],
    ]),
    w: 2.6,
    amp: -0.15 * strength,
    taper: 'end',
  });
  const m = rng.range(-8, 8);
  out.push({
    path: spline([
      [m - 9, c.armhole + 14],
      [m, c.armhole + 16.5],
      [m + 8, c.armhole + 15],
    ]),
    w: 2,
    amp: 0.12 * strength,
  });
  return out;
}

/** Two rows of stitching above a hem. */
export function hemStitch(hem, color, distance = 2, twin = true) {
  const marks = [{ kind: 'stitch', path: offset(hem, distance), color, alpha: 0.4 }];
  if (twin) marks.push({ kind: 'stitch', path: offset(hem, distance + 0.35), color, alpha: 0.4 });
  return marks;
}
