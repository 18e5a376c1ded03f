// Skirts, from mini to pleated midi.

import { offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { flutes } from './dress.mjs';
import { button } from './fittings.mjs';

const SKIRTS = {
  midi: { waist: 17.5, hip: 24, hem: 31, length: 76 },
  bias: { waist: 17.5, hip: 23.5, hem: 33, length: 78 },
  pleated: { waist: 17.5, hip: 26, hem: 40, length: 74 },
  mini: { waist: 18.5, hip: 24, hem: 27.5, length: 40 },
  pencil: { waist: 17.5, hip: 23.5, hem: 21, length: 66 },
  aline: { waist: 17.5, hip: 25, hem: 36, length: 62 },
};

export function skirt({ seed, color, weave = 'twill', pattern, heather, cut = 'midi', buttons, thread, wash = 0, slit }) {
  const rng = random(seed);
  const c = SKIRTS[cut];
  const denim = weave === 'denim';
  const material = { weave, color, pattern, heather };
  const sewn = thread ?? (denim ? '#b98a52' : lightness(color) > 0.5 ? darker(color, 0.2) : lighter(color, 0.2));
  const parts = [];
  parts.push({
    outline: shape([
      [-c.waist + 0.4, 0.2, 1],
      [0, -2],
      [c.waist - 0.4, 0.2, 1],
      [c.waist * 0.6, 3],
      [0, 4],
      [-c.waist * 0.6, 3],
    ]),
    material: { ...material, pattern: undefined },
    tint: 0.6,
    lift: 0,
    rollHeight: 0.06,
    inherit: 0,
  });
  parts.push({
    outline: [
      [-1.8, -1.1],
      [1.8, -1.1],
      [1.8, 0.7],
      [-1.8, 0.7],
    ],
    material: { weave: 'poplin', color: '#eee7da' },
    lift: 0.04,
    roll: 0.1,
    rollHeight: 0.03,
  });
  const bh = cut === 'bias' ? 2 : 3.8;
  const wavy = cut === 'pleated';
  const hemNodes = wavy
    ? Array.from({ length: 21 }, (_, i) => [
        c.hem - (i * c.hem) / 10,
        c.length + 1.8 * (1 - ((i - 10) / 10) ** 2) + (i % 2 ? 0.55 : -0.3),
        i === 0 || i === 20 ? 1 : 0,
      ])
    : [
        [c.hem, c.length, 1],
        [c.hem * 0.5, c.length + 1.5],
        [0, c.length + 1.9],
        [-c.hem * 0.5, c.length + 1.5],
        [-c.hem, c.length, 1],
      ];
  const outline = shape([
    [0, 1.4],
    [c.waist * 0.55, 1],
    [c.waist, 0, 1],
    [c.hip - 1, 14],
    [c.hip, 21],
    ...hemNodes,
    [-c.hip, 21],
    [-c.hip + 1, 14],
    [-c.waist, 0, 1],
    [-c.waist * 0.55, 1],
  ]);
  const hem = spline([
    [-c.hem, c.length],
    [0, c.length + 1.9],
    [c.hem, c.length],
  ]);
  const folds = [];
  const marks = [];
  if (wavy) {
    for (let i = 1; i < 20; i++) {
      const k = i / 10 - 1;
      const line = spline([
        [k * c.waist, bh + 1],
        [k * c.hip * 0.98, 22],
        [k * c.hem, c.length + 1.6],
      ]);
      folds.push({ path: line, w: 0.55 + 0.7 * Math.abs(0.4), amp: 0.3, taper: 'none', skew: -0.6 });
      marks.push({ kind: 'seam', path: offset(line, -0.7), depth: 0.08, dark: 0.26 });
    }
  } else {
    const f = flutes(
      { waist: c.waist, hem: c.hem, length: c.length },
      rng,
      bh + 8,
      cut === 'bias' ? 8 : cut === 'aline' ? 7 : 4,
      weave === 'leather' ? 0.16 : cut === 'bias' ? 0.4 : 0.24,
    );
    folds.push(...f);
    if (!denim || cut !== 'mini') marks.push({ kind: 'stitch', path: offset(hem, 1.6), color: sewn, alpha: denim ? 0.85 : 0.35 });
    else marks.push({ kind: 'stitch', path: offset(hem, 1.4), color: sewn, alpha: 0.85 });
  }
  for (const s of [-1, 1])
    folds.push({
      path: spline([
        [s * (c.hip - 1), 14],
        [s * c.hip * 0.5, 12],
        [s * 3, 15],
      ]),
      w: 1.4,
      amp: 0.16,
      taper: 'end',
    });
  if (slit) {
    const x = c.hem * 0.34;
    marks.push({
      kind: 'seam',
      path: spline([
        [x * 0.8, c.length * 0.56],
        [x, c.length + 1.8],
      ]),
      w: 2,
      dark: 0.6,
      depth: 0.2,
    });
    folds.push({
      path: spline([
        [x * 0.8 - 0.9, c.length * 0.54],
        [x - 1, c.length + 1.8],
      ]),
      w: 1,
      amp: 0.18,
      taper: 'start',
    });
  }
  const body = {
    outline,
    group: 'body',
    material,
    grain: cut === 'bias' ? 40 : 0,
    lift: 0.1,
    roll: 0.4,
    rollHeight: 0.08,
    folds,
    marks,
    fades: wash
      ? [
          { x: -9, y: 26, rx: 8, ry: 16, amount: wash * 0.5, to: [0.5, 0.56, 0.64] },
          { x: 9, y: 26, rx: 8, ry: 16, amount: wash * 0.5, to: [0.5, 0.56, 0.64] },
        ]
      : [],
  };
  parts.push(body);
  const top = spline([
    [-c.waist, 0],
    [-c.waist * 0.55, 1],
    [0, 1.4],
    [c.waist * 0.55, 1],
    [c.waist, 0],
  ]);
  const low = spline([
    [-c.waist - 0.7, bh],
    [0, bh + 1.4],
    [c.waist + 0.7, bh],
  ]);
  if (denim || buttons) {
    body.marks.push(
      {
        kind: 'seam',
        path: [
          [0, bh + 1],
          [0, c.length + 1.6],
        ],
        dark: 0.3,
        depth: 0.1,
      },
      {
        kind: 'stitch',
        path: [
          [2.2, bh + 1],
          [2.2, c.length + 1.6],
        ],
        color: sewn,
        alpha: 0.7,
      },
    );
    for (const s of [-1, 1]) {
      const scoop = spline([
        [s * c.waist * 0.52, bh + 0.8],
        [s * c.waist * 0.6, bh + 5],
        [s * c.waist * 0.9, bh + 7.2],
        [s * (c.hip - 0.8), bh + 7.6],
      ]);
      body.marks.push(
        { kind: 'seam', path: scoop, w: 1.4, dark: 0.45, depth: 0.1 },
        { kind: 'stitch', path: offset(scoop, s * 0.5), color: sewn, alpha: 0.85 },
      );
    }
    const n = Math.floor((c.length - 12) / 9);
    for (let i = 0; i < n; i++) parts.push(...button(1, bh + 7 + i * 9, 0.85, buttons ?? '#b0764a', { metal: !buttons }));
  }
  parts.push({
    outline: [...top, ...[...low].reverse()],
    material,
    lift: 0.12,
    roll: 0.4,
    rollHeight: 0.12,
    inherit: 0.6,
    crumple: 0.04,
    marks: [
      { kind: 'stitch', path: offset(top, -0.4), color: sewn, alpha: denim ? 0.85 : 0.3 },
      { kind: 'stitch', path: offset(low, 0.45), color: sewn, alpha: denim ? 0.85 : 0.3 },
    ],
  });
  if (denim || buttons) parts.push(...button(1, bh * 0.5 + 1.3, 0.95, buttons ?? '#b0764a', { metal: !buttons }));
  return { seed, parts, wobble: 0.6, puff: { body: { radius: 1.3, height: 0.7 } } };
}
