// Knitwear and sweats: jumpers, roll necks, cardigans, vests, sweatshirts, hoodies.

import { flip, lerp, mirrored, offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { sleevePose } from './pose.mjs';
import { button, cord, zip } from './fittings.mjs';
import { backLine, backNeck, longSleeve, neckband, shortSleeve, torso, torsoFolds } from './torso.mjs';

const FIT = {
  regular: { shoulder: 22.5, slope: 4.8, chest: 27, waist: 26.6, hem: 25, armhole: 25.5, length: 64 },
  relaxed: { shoulder: 26, slope: 6, chest: 30.5, waist: 30.5, hem: 28, armhole: 28, length: 63 },
  fine: { shoulder: 20.5, slope: 4.4, chest: 25, waist: 24, hem: 24, armhole: 24, length: 63, neck: 8.2 },
  crop: { shoulder: 22, slope: 4.8, chest: 26, waist: 26, hem: 24, armhole: 24.5, length: 52 },
};

/** Ribbed hem band hanging from the torso. */
function hemBand(c, material, depth = 6) {
  const top = spline([
    [-c.hem - 0.1, c.length - 0.6],
    [0, c.length + c.hemCurve - 0.6],
    [c.hem + 0.1, c.length - 0.6],
  ]);
  const low = spline([
    [-c.hem + 0.9, c.length + depth - 0.4],
    [0, c.length + c.hemCurve + depth - 0.2],
    [c.hem - 0.9, c.length + depth - 0.4],
  ]);
  return {
    outline: [...top, ...low.reverse()],
    material,
    lift: 0.02,
    roll: 0.7,
    rollHeight: 0.22,
    inherit: 0.25,
    crumple: 0.06,
    marks: [{ kind: 'seam', path: top, depth: 0.06, dark: 0.2 }],
  };
}

export function knit({
  seed,
  color,
  weave = 'knit',
  gauge = 1,
  pattern,
  heather = 0.05,
  fit = 'regular',
  neck = 'crew',
  sleeve = 'long',
  trim,
  buttons,
  kangaroo,
  cords,
  zipped,
  inner,
}) {
  const rng = random(seed);
  const open = neck === 'cardigan';
  const roll = neck === 'roll' || neck === 'mock';
  const hood = neck === 'hood';
  const sweat = weave === 'fleece';
  const depth = { crew: 7.6, roll: 6.4, mock: 6.6, v: 17, cardigan: 25, polo: 7, hood: 9 }[neck];
  const base = FIT[fit];
  const t = torso({ ...base, depth, ...(roll ? { neck: 8 } : {}) }, neck === 'v' || open ? 'v' : 'crew');
  const { c } = t;
  const ribGauge = sweat ? 0.62 : Math.max(0.6, gauge * 0.85);
  const material = { weave, color, gauge, pattern, heather };
  const rib = { weave: 'rib', color: trim ?? color, gauge: ribGauge, heather };
  const parts = [];
  if (hood) hoodBack(parts, material, inner);
  else if (!roll) parts.push(...backNeck(c, { ...material, pattern: undefined }, { label: '#efe8db', tint: 0.6 }));

  for (const left of [true, false]) {
    const f = left ? flip : (p) => p;
    if (sleeve === 'none') continue;
    const s =
      sleeve === 'long'
        ? longSleeve(c, {
            length: fit === 'fine' ? 54 : fit === 'crop' ? 53 : 55,
            top: fit === 'relaxed' ? 22 : 19.5,
            wrist: 10.5,
            ...sleevePose(seed, left, 63 + rng.range(-2, 2), rng.range(2, 9)),
            puff: fit === 'relaxed' ? 1.5 : 0.8,
          })
        : shortSleeve(c, { length: 18, width: 18, angle: 44 });
    // Cuff first: it comes out from under the sleeve.
    const d = s.dir;
    const long = sleeve === 'long';
    const [o, i] = long ? [s.o, s.i] : [s.cuff[0], s.cuff[s.cuff.length - 1]];
    const cl = long ? 6.2 : 2.4;
    const q = long ? 0.13 : 0.03;
    const cuff = shape([
      [...lerp(o, i, 0.05), 1],
      [...lerp(o, i, 0.95), 1],
      [lerp(o, i, 1 - q)[0] + d[0] * cl, lerp(o, i, 1 - q)[1] + d[1] * cl, 1],
      [lerp(o, i, 0.5)[0] + d[0] * (cl + 0.35), lerp(o, i, 0.5)[1] + d[1] * (cl + 0.35)],
      [lerp(o, i, q)[0] + d[0] * cl, lerp(o, i, q)[1] + d[1] * cl, 1],
    ]);
    parts.push({
      outline: f(cuff),
      material: rib,
      grain: left ? -s.grain : s.grain,
      origin: f([o])[0],
      lift: 0,
      roll: 0.7,
      rollHeight: 0.26,
      inherit: 0,
      crumple: 0.05,
    });
    parts.push({
      outline: f(s.outline),
      group: 'body',
      material,
      grain: left ? -s.grain : s.grain,
      origin: f([[c.shoulder, c.slope]])[0],
      lift: 0.1,
      roll: 0.6,
      rollHeight: 0.1,
      folds: s.folds.map((x) => ({ ...x, w: x.w * 1.2, path: f(x.path), amp: x.amp * rng.range(0.8, 1.3) })),
      marks: [{ kind: 'seam', path: f(spline([o, i])), depth: 0.06, dark: 0.2 }],
    });
  }
  parts.push(hemBand(c, rib, sweat ? 6.4 : 5.6));
  const marks =
    sleeve === 'none'
      ? []
      : [
          { kind: 'seam', path: offset(t.armhole, 0.3), depth: 0.09 },
          { kind: 'seam', path: flip(offset(t.armhole, 0.3)), depth: 0.09 },
        ];
  parts.push({
    outline: t.outline,
    group: 'body',
    material,
    lift: 0.1,
    roll: 0.5,
    rollHeight: 0.07,
    folds: torsoFolds(c, rng, sweat ? 1.4 : 1.15).map((f) => ({ ...f, w: f.w * 1.15 })),
    marks,
  });

  if (sleeve === 'none')
    for (const left of [true, false]) {
      const line = left ? flip(t.armhole) : t.armhole;
      parts.push({
        outline: [...line, ...offset(line, left ? -2 : 2).reverse()],
        material: rib,
        along: line,
        across: true,
        lift: 0.08,
        roll: 0.6,
        rollHeight: 0.12,
        inherit: 0.4,
        crumple: 0,
      });
    }
  if (kangaroo) pouch(parts, c, material, color);
  if (roll) rollNeck(parts, c, rib, neck === 'roll');
  else if (hood) hoodFront(parts, c, material, color, cords, rng);
  else if (open) cardiganFront(parts, c, t, rib, buttons ?? darker(color, 0.35));
  else if (neck === 'polo') poloFront(parts, c, rib, material, buttons ?? '#e9e1d2');
  else parts.push(...neckband(t.neckline, backLine(c), rib, sweat ? 2.2 : 2.5));
  if (zipped) {
    const line = spline([
      [0.2, c.depth - 1],
      [rng.range(-0.4, 0.4), c.length * 0.5],
      [0, c.length + c.hemCurve + 5.4],
    ]);
    parts.push(...zip(line, { tape: darker(color, 0.15), width: 2 }));
  }
  if (sweat && neck === 'crew') {
    const v = [
      [-1.9, c.depth + 0.3],
      [0, c.depth + 4.2],
      [1.9, c.depth + 0.3],
    ];
    parts
      .find((p) => p.outline === t.outline)
      .marks.push({
        kind: 'stitch',
        path: spline(v.map((p, i) => (i === 1 ? [...p, 1] : p))),
        color: lightness(color) > 0.5 ? darker(color, 0.25) : lighter(color, 0.25),
        alpha: 0.6,
      });
  }
  return { seed, parts, wobble: 0.6, puff: { body: { radius: 1.6, height: sweat ? 1 : 0.85 } } };
}

function rollNeck(parts, c, rib, folded) {
  const h = folded ? 8.2 : 4.6;
  // Tube seen from the front: inside at the top, then the turned-down collar.
  parts.push({
    outline: shape([
      [-c.neck + 0.6, -h + 1.2, 1],
      [0, -h - 0.6],
      [c.neck - 0.6, -h + 1.2, 1],
      [c.neck - 1, -h + 3.4],
      [0, -h + 4.6],
      [-c.neck + 1, -h + 3.4],
    ]),
    material: rib,
    tint: 0.5,
    lift: 0,
    inherit: 0,
    rollHeight: 0.1,
  });
  const line = spline([
    [-c.neck + 0.4, -h + 1],
    [-c.neck * 0.4, -h + 3.1],
    [c.neck * 0.4, -h + 3.1],
    [c.neck - 0.4, -h + 1],
  ]);
  const outline = shape([
    [-c.neck + 0.5, -h + 0.9, 1],
    [-c.neck * 0.4, -h + 2.9],
    [c.neck * 0.4, -h + 2.9],
    [c.neck - 0.5, -h + 0.9, 1],
    [c.neck + 1.1, -h * 0.4],
    [c.neck + 1.3, 1.4, 1],
    [c.neck * 0.6, c.depth - 0.9],
    [0, c.depth + 0.5],
    [-c.neck * 0.6, c.depth - 0.9],
    [-c.neck - 1.3, 1.4, 1],
    [-c.neck - 1.1, -h * 0.4],
  ]);
  parts.push({
    outline,
    material: rib,
    lift: 0.24,
    roll: 1,
    rollHeight: 0.4,
    inherit: 0.3,
    crumple: 0.12,
    puff: [1.6, 0.5],
    folds: [
      {
        path: spline([
          [-c.neck, -h * 0.3],
          [-2, 0.6],
          [c.neck * 0.7, -0.6],
        ]),
        w: 1.2,
        amp: 0.12,
      },
      ...(folded ? [{ path: offset(line, -0.5), w: 0.8, amp: 0.16, taper: 'none' }] : []),
    ],
  });
}

function cardiganFront(parts, c, t, rib, bead) {
  const bottom = c.length + c.hemCurve + 5.5;
  const edge = (s) =>
    spline([
      [s * (c.neck - 0.2), -0.9],
      [s * c.neck * 0.62, c.depth * 0.36],
      [s * 0.2, c.depth + 1],
      [s * 0.1, c.depth + 12],
      [0, bottom],
    ]);
  const back = spline([
    [-c.neck, -0.6],
    [0, 0.5],
    [c.neck, -0.6],
  ]);
  parts.push({
    outline: [...offset(back, 0.4), ...offset(back, -2.4).reverse()],
    material: rib,
    along: back,
    across: true,
    tint: 0.82,
    lift: 0.05,
    roll: 0.6,
    rollHeight: 0.14,
    inherit: 0,
    crumple: 0,
  });
  for (const s of [-1, 1]) {
    const line = edge(s);
    const wide = offset(line, s > 0 ? -3 : 3);
    const other = offset(line, s > 0 ? 0.7 : -0.7);
    parts.push({
      outline: [...wide, ...other.reverse()],
      material: rib,
      along: line,
      across: false,
      lift: 0.18,
      roll: 0.6,
      rollHeight: 0.16,
      inherit: 0.6,
      crumple: 0.05,
    });
  }
  for (let i = 0; i < 5; i++) parts.push(...button(1.2, c.depth + 3.4 + (i * (bottom - c.depth - 6.6)) / 4, 0.95, bead));
}

function poloFront(parts, c, rib, material, bead) {
  parts.push({
    outline: shape([
      [-1.7, c.depth - 2, 1],
      [1.7, c.depth - 2, 1],
      [1.7, 21, 1],
      [-1.7, 21, 1],
    ]),
    material,
    lift: 0.1,
    roll: 0.3,
    rollHeight: 0.08,
    inherit: 1,
    marks: [
      {
        kind: 'seam',
        path: [
          [-1.7, 19.6],
          [1.7, 19.6],
        ],
      },
    ],
  });
  for (let i = 0; i < 3; i++) parts.push(...button(0, 10 + i * 3.8, 0.55, bead));
  const up = spline([
    [-c.neck - 0.8, 0.2],
    [0, -2.6],
    [c.neck + 0.8, 0.2],
  ]);
  parts.push({
    outline: [
      ...up,
      ...spline([
        [-c.neck * 0.84, 2.4],
        [0, 1],
        [c.neck * 0.84, 2.4],
      ]).reverse(),
    ],
    material: rib,
    tint: 0.86,
    lift: 0.1,
    roll: 0.5,
    rollHeight: 0.15,
    inherit: 0,
  });
  for (const s of [-1, 1]) {
    const leaf = shape([
      [c.neck + 0.9, 0, 1],
      [c.neck + 1.6, 4],
      [c.neck * 0.95, 10, 1],
      [c.neck * 0.4, 9],
      [0.2, c.depth - 0.4, 1],
      [c.neck * 0.56, c.depth * 0.5],
      [c.neck * 0.86, -1.3, 1],
    ]);
    parts.push({ outline: s < 0 ? flip(leaf) : leaf, material: rib, grain: s * -34, lift: 0.18, roll: 0.4, rollHeight: 0.16, inherit: 0.25 });
  }
}

function pouch(parts, c, material, color) {
  const y = c.length - 22;
  const w = c.chest * 0.66;
  const right = [
    [0, y],
    [w * 0.6, y, 1],
    [w * 0.72, y + 3],
    [w, y + 12.5, 1],
    [w, c.length + 0.5, 1],
    [0, c.length + 0.8],
  ];
  const outline = shape([...right, ...mirrored(right).filter(([x]) => x !== 0)]);
  const ink = lightness(color) > 0.5 ? darker(color, 0.25) : lighter(color, 0.25);
  const mouth = spline([
    [w * 0.6, y],
    [w * 0.72, y + 3],
    [w, y + 12.5],
  ]);
  parts.push({
    outline,
    material,
    lift: 0.22,
    roll: 0.5,
    rollHeight: 0.16,
    inherit: 0.9,
    crumple: 0.1,
    marks: [
      {
        kind: 'stitch',
        path: [
          [-w * 0.6, y + 0.5],
          [w * 0.6, y + 0.5],
        ],
        color: ink,
        alpha: 0.5,
      },
      { kind: 'stitch', path: offset(mouth, -1.4), color: ink, alpha: 0.5 },
      { kind: 'stitch', path: flip(offset(mouth, -1.4)), color: ink, alpha: 0.5 },
    ],
    folds: [
      {
        path: spline([
          [-w * 0.7, y + 8],
          [0, y + 10],
          [w * 0.6, y + 9],
        ]),
        w: 2,
        amp: 0.16,
      },
    ],
  });
}

function hoodBack(parts, material, inner) {
  parts.push({
    outline: shape([
      [-11, 4, 1],
      [-12.5, -6],
      [-11, -17],
      [-5, -24],
      [0, -25.2],
      [5.4, -24],
      [11.4, -17],
      [12.6, -6],
      [11, 4, 1],
      [0, 13],
    ]),
    material: inner ? { ...material, color: inner } : material,
    tint: 0.66,
    lift: 0,
    inherit: 0,
    rollHeight: 0.1,
    crumple: 0.2,
    folds: [
      {
        path: spline([
          [0, -23],
          [0.6, -10],
          [0, 3],
        ]),
        w: 0.7,
        amp: -0.1,
        taper: 'none',
      },
    ],
    marks: [
      {
        kind: 'seam',
        path: spline([
          [0, -24],
          [0.6, -10],
          [0, 3],
        ]),
      },
    ],
  });
  parts.push({
    outline: [
      [-2, 1.6],
      [2, 1.6],
      [2, 3.6],
      [-2, 3.6],
    ],
    material: { weave: 'poplin', color: '#efe8db' },
    tint: 0.9,
    lift: 0.05,
    roll: 0.1,
    rollHeight: 0.03,
    marks: [
      {
        kind: 'line',
        path: [
          [-1.2, 2.6],
          [1.2, 2.6],
        ],
        color: '#6f695f',
        w: 0.3,
        alpha: 0.7,
      },
    ],
  });
}

function hoodFront(parts, c, material, color, cords, rng) {
  const ink = lightness(color) > 0.5 ? darker(color, 0.25) : lighter(color, 0.25);
  for (const s of [-1, 1]) {
    const g = s < 0 ? flip : (p) => p;
    const outer = spline([
      [0.4 * s, c.depth + 2.6],
      [6.4, 8],
      [11, 3.4],
      [13.4, -6],
      [12.2, -18],
      [6, -26],
      [-0.4, -27.4],
    ]);
    const inner = spline([
      [-0.6, -22.4],
      [4.6, -20.4],
      [8.2, -13],
      [8.4, -5],
      [5.4, 3],
      [1, c.depth - 2.4],
    ]);
    parts.push({
      outline: g([...outer, ...inner]),
      material,
      grain: s * 12,
      lift: 0.25,
      roll: 0.6,
      rollHeight: 0.22,
      inherit: 0.25,
      puff: [1.6, 0.45],
      folds: [
        {
          path: g(
            spline([
              [11.5, 2],
              [9.5, -5],
              [10.6, -14],
            ]),
          ),
          w: 1.4,
          amp: 0.22,
        },
        {
          path: g(
            spline([
              [5, 8],
              [8.4, 2.4],
              [12.4, 0],
            ]),
          ),
          w: 1.1,
          amp: 0.2,
        },
        {
          path: g(
            spline([
              [8.6, -19],
              [10, -12],
              [9.4, -6],
            ]),
          ),
          w: 1.2,
          amp: -0.16,
        },
      ],
      marks: [{ kind: 'stitch', path: g(offset(inner, 1.7)), color: ink, alpha: 0.5 }],
    });
  }
  const tip = '#bfb8aa';
  const rope = cords ?? lighter(color, 0.4);
  parts.push(
    ...cord(
      spline([
        [-2.6, 5.6],
        [-3.6, 10],
        [-5, 17],
        [-4.2, 25 + rng.range(-2, 1)],
      ]),
      rope,
      0.8,
      { tip },
    ),
  );
  parts.push(
    ...cord(
      spline([
        [2.6, 5.8],
        [3.4, 11],
        [3, 17],
        [4.4, 22 + rng.range(-1, 2)],
      ]),
      rope,
      0.8,
      { tip },
    ),
  );
}
