// Dresses: slip, wrap, shirt, knit, tea and mini.

import { band, between, flip, lerp, offset, shape, spline, symmetric } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { sleevePose } from './pose.mjs';
import { button } from './fittings.mjs';
import { backLine, backNeck, longSleeve, neckband, shortSleeve } from './torso.mjs';

const CUTS = {
  slip: { top: 10.6, apex: 12.5, chest: 21, waist: 19, hip: 24, hem: 32, length: 112 },
  aline: { neck: 8.4, depth: 8, shoulder: 17.5, slope: 4, chest: 22, waist: 19.5, hip: 27, hem: 40, length: 98, armhole: 22 },
  shirt: { neck: 7.6, depth: 5.4, shoulder: 21, slope: 4.6, chest: 26, waist: 24, hip: 27.5, hem: 34, length: 112, armhole: 25 },
  knit: { neck: 8.2, depth: 7, shoulder: 19.5, slope: 4.4, chest: 22.5, waist: 19.5, hip: 23.5, hem: 23, length: 108, armhole: 23 },
  wrap: { neck: 7.8, depth: 26, shoulder: 19.5, slope: 4.2, chest: 23, waist: 18.5, hip: 26, hem: 37, length: 108, armhole: 23.5 },
  mini: { neck: 8.4, depth: 8.5, shoulder: 18.5, slope: 4.2, chest: 22.5, waist: 22, hip: 26, hem: 32, length: 84, armhole: 23 },
};

/** Long soft flutes falling from the waist to the hem. */
export function flutes(c, rng, from, count, amp) {
  return Array.from({ length: count }, (_, i) => {
    const k = ((i + 0.5) / count) * 2 - 1;
    const x0 = k * c.waist * 0.92;
    const x1 = k * c.hem * 0.96 + rng.range(-1, 1);
    return {
      path: spline([
        [x0, from],
        [lerp([x0, 0], [x1, 0], 0.4)[0], lerp([0, from], [0, c.length], 0.45)[1]],
        [x1, c.length],
      ]),
      w: 1.5 + rng.range(0, 1.4),
      amp: (i % 2 ? -amp : amp) * rng.range(0.7, 1.25),
      taper: 'start',
    };
  });
}

export function dress({ seed, color, weave = 'satin', pattern, heather, cut = 'slip', sleeve = 'none', buttons, belt, tie }) {
  const rng = random(seed);
  const c = CUTS[cut];
  const material = { weave, color, pattern, heather };
  const parts = [];
  const sewn = lightness(color) > 0.5 ? darker(color, 0.2) : lighter(color, 0.2);
  if (cut === 'slip') return slip(c, material, rng, seed, sewn);

  const v = cut === 'wrap';
  const collar = cut === 'shirt';
  const waistY = c.armhole + 18;
  parts.push(...backNeck(c, { ...material, pattern: undefined }, { label: '#efe8db', tint: 0.62 }));
  if (sleeve !== 'none')
    for (const left of [true, false]) {
      const f = left ? flip : (p) => p;
      const s =
        sleeve === 'long'
          ? longSleeve(c, {
              length: 56,
              top: 17,
              wrist: cut === 'knit' ? 8.6 : 10.5,
              ...sleevePose(seed, left, 66 + rng.range(-2, 2), rng.range(2, 8)),
              puff: cut === 'knit' ? 0.5 : 1.5,
            })
          : shortSleeve(c, { length: 18, width: 16.5, angle: 46 });
      parts.push({
        outline: f(s.outline),
        group: 'body',
        material,
        grain: left ? -s.grain : s.grain,
        origin: f([[c.shoulder, c.slope]])[0],
        lift: 0,
        roll: 0.4,
        rollHeight: 0.07,
        folds: s.folds.map((x) => ({ ...x, path: f(x.path), amp: x.amp * rng.range(0.8, 1.3) })),
        marks: [{ kind: 'stitch', path: offset(f(s.cuff), left ? -1.2 : 1.2), color: sewn, alpha: 0.35 }],
      });
      if (sleeve === 'long' && cut !== 'knit') {
        const cuff = f(s.cuffBand(4.4, 0.1));
        parts.push({ outline: cuff, material, grain: left ? -s.grain : s.grain, lift: 0.1, roll: 0.3, rollHeight: 0.1, inherit: 0.5 });
      }
    }
  const opening = v
    ? [
        [-2, c.depth, 1],
        [c.neck * 0.5, c.depth * 0.46],
        [c.neck, 0, 1],
      ]
    : [
        [0, c.depth],
        [c.neck * 0.6, c.depth * 0.8],
        [c.neck * 0.95, c.depth * 0.3],
        [c.neck, 0, 1],
      ];
  const right = [
    ...(v
      ? [
          [0, c.depth * 0.96, 1],
          [c.neck * 0.62, c.depth * 0.46],
          [c.neck, 0, 1],
        ]
      : opening),
    [c.shoulder, c.slope, 1],
    [c.shoulder - 1.4, c.slope + (c.armhole - c.slope) * 0.52],
    [c.chest, c.armhole, 1],
    [c.waist, waistY],
    [c.hip, waistY + 21],
    [c.hem, c.length, 1],
    [c.hem * 0.5, c.length + 1.6],
    [0, c.length + 2],
  ];
  const arm = spline([
    [c.shoulder, c.slope],
    [c.shoulder - 1.4, c.slope + (c.armhole - c.slope) * 0.52],
    [c.chest, c.armhole],
  ]);
  const hem = spline([
    [-c.hem, c.length],
    [0, c.length + 2],
    [c.hem, c.length],
  ]);
  const soft = weave === 'rib' || weave === 'knit' ? 0.5 : 1;
  const folds = flutes(c, rng, waistY, cut === 'knit' ? 5 : 9, (cut === 'knit' ? 0.14 : 0.34) * soft);
  for (const s of [-1, 1]) {
    folds.push({
      path: spline([
        [s * (c.chest - 0.5), c.armhole + 1],
        [s * (c.chest - 6), c.armhole + 4],
        [s * (c.chest - 12), c.armhole + 4.6],
      ]),
      w: 1.4,
      amp: 0.24,
      taper: 'end',
    });
    folds.push({
      path: spline([
        [s * c.waist, waistY],
        [s * c.waist * 0.7, waistY - 4],
        [s * c.waist * 0.5, waistY - 12],
      ]),
      w: 1.3,
      amp: 0.2,
      taper: 'end',
    });
    folds.push({
      path: spline([
        [s * c.waist, waistY + 1],
        [s * c.waist * 0.66, waistY + 2],
        [s * c.waist * 0.3, waistY + 1],
      ]),
      w: 1,
      amp: 0.18,
      taper: 'end',
    });
  }
  const marks = [
    { kind: 'stitch', path: offset(hem, 1.6), color: sewn, alpha: 0.35 },
    { kind: 'seam', path: offset(arm, 0.3) },
    { kind: 'seam', path: flip(offset(arm, 0.3)) },
  ];
  if (cut === 'aline' || v)
    marks.push({
      kind: 'seam',
      path: spline([
        [-c.waist - 0.5, waistY],
        [0, waistY + 0.8],
        [c.waist + 0.5, waistY],
      ]),
      w: 1.3,
      dark: 0.3,
    });
  const body = { outline: symmetric(right), group: 'body', material, lift: 0.05, roll: 0.4, rollHeight: 0.06, folds, marks };
  parts.push(body);

  if (v) {
    // The crossing front and its edge.
    const cross = spline([
      [-c.neck, 0],
      [-c.neck * 0.4, c.depth * 0.5],
      [4, c.depth + 4],
      [c.waist - 2, waistY + 0.5],
    ]);
    parts.push({
      outline: [...cross, [-c.waist + 0.5, waistY + 0.4], [-c.chest + 0.2, c.armhole], ...flip(arm).reverse()],
      material,
      clip: 'body',
      lift: 0.2,
      roll: 0.4,
      rollHeight: 0.08,
      inherit: 0.8,
      folds: [1, 2, 3].map((i) => ({
        path: spline([
          [c.waist - 4, waistY - i],
          [2 - i, waistY - 3 - i * 2.6],
          [-c.chest * 0.5, c.armhole + 2 + i * 2],
        ]),
        w: 1,
        amp: 0.2,
        taper: 'start',
      })),
      marks: [{ kind: 'stitch', path: offset(cross, 0.5), color: sewn, alpha: 0.3 }],
    });
    const fall = spline([
      [c.waist - 3, waistY + 1],
      [c.waist * 0.3, waistY + 26],
      [c.waist * 0.1, c.length + 1.6],
    ]);
    body.marks.push({ kind: 'seam', path: fall, dark: 0.35, depth: 0.1, w: 1.3 });
  } else if (collar) {
    const bead = buttons ?? (lightness(color) > 0.6 ? '#efe9dd' : darker(color, 0.4));
    parts.push({
      outline: shape([
        [-1.7, c.depth - 0.4, 1],
        [1.7, c.depth - 0.4, 1],
        [1.6, c.length * 0.5],
        [1.7, c.length + 1.9, 1],
        [-1.7, c.length + 1.9, 1],
        [-1.8, c.length * 0.5],
      ]),
      clip: 'body',
      material,
      lift: 0.12,
      roll: 0.3,
      rollHeight: 0.07,
      inherit: 1,
      crumple: 0.04,
      marks: [-1.2, 1.2].map((x) => ({
        kind: 'stitch',
        path: [
          [x, c.depth],
          [x, c.length + 1.6],
        ],
        color: sewn,
        alpha: 0.4,
      })),
    });
    for (let i = 0; i < 9; i++) parts.push(...button(0, c.depth + 5 + i * 11, 0.62, bead, { turnBy: rng.range(0, 60) }));
    const up = spline([
      [-c.neck - 1.2, 0.2],
      [0, -3],
      [c.neck + 1.2, 0.2],
    ]);
    parts.push({
      outline: [
        ...up,
        ...spline([
          [-c.neck * 0.86, 2.4],
          [0, 0.8],
          [c.neck * 0.86, 2.4],
        ]).reverse(),
      ],
      material,
      tint: 0.84,
      lift: 0.12,
      roll: 0.5,
      rollHeight: 0.16,
      inherit: 0,
    });
    for (const s of [-1, 1]) {
      const leaf = shape([
        [c.neck + 1.3, 0, 1],
        [c.neck + 1.9, 3.6],
        [c.neck * 0.92, 10.2, 1],
        [c.neck * 0.42, 7.4],
        [0.2, c.depth - 0.9, 1],
        [c.neck * 0.56, c.depth * 0.52],
        [c.neck * 0.86, -1.3, 1],
      ]);
      const o = s < 0 ? flip(leaf) : leaf;
      parts.push({
        outline: o,
        material,
        grain: s * -32,
        lift: 0.2,
        roll: 0.4,
        rollHeight: 0.14,
        inherit: 0.25,
        marks: [{ kind: 'stitch', path: between(offset([...o, o[0]], s * -0.5), 0.08, 0.62), color: sewn, alpha: 0.42 }],
      });
    }
  } else {
    const half = spline(opening);
    const line = [...flip(half).reverse(), ...half.slice(1)];
    parts.push(
      ...neckband(
        line,
        backLine(c),
        cut === 'knit' ? { weave: 'rib', color, gauge: 0.6, heather } : { ...material, pattern: undefined, color: pattern ? color : color },
        cut === 'knit' ? 2.2 : 1.1,
      ),
    );
  }
  if (belt || tie) {
    const line = spline([
      [-c.waist - 0.8, waistY - 0.3],
      [0, waistY + 0.6],
      [c.waist + 0.8, waistY - 0.3],
    ]);
    const cloth = belt && belt !== true ? { weave: 'leather', color: belt } : { ...material };
    parts.push({
      outline: band(line, 3),
      material: cloth,
      along: line,
      across: true,
      lift: 0.22,
      roll: 0.4,
      rollHeight: 0.16,
      inherit: 0.5,
      crumple: 0.05,
    });
    for (const e of [
      spline([
        [0, waistY],
        [-3.4, waistY + 9],
        [-4.4, waistY + 20],
        [-6, waistY + 31],
      ]),
      spline([
        [0.6, waistY],
        [3, waistY + 9],
        [6, waistY + 18],
        [6, waistY + 25],
      ]),
    ])
      parts.push({
        outline: band(e, 2.8),
        material: cloth,
        along: e,
        across: true,
        lift: 0.2,
        roll: 0.4,
        rollHeight: 0.14,
        inherit: 0.4,
        crumple: 0.08,
      });
    parts.push({
      outline: shape([
        [-2, waistY - 1.6],
        [2.2, waistY - 2],
        [2.8, waistY + 1.2],
        [0.6, waistY + 2.8],
        [-2.2, waistY + 1.8],
      ]),
      material: cloth,
      grain: 24,
      lift: 0.26,
      roll: 0.6,
      rollHeight: 0.36,
      inherit: 0.2,
    });
  }
  return { seed, parts, wobble: 0.6, puff: { body: { radius: 1.3, height: 0.7 } } };
}

function slip(c, material, rng, seed, sewn) {
  const parts = [];
  const y0 = 14;
  const wy = y0 + 30;
  for (const s of [-1, 1]) {
    const strap = spline([
      [s * 10.4, y0 + 1],
      [s * 9.2, 6],
      [s * 7.4, 0.6],
      [s * 6.8, 3],
      [s * 8, y0 + 6],
    ]);
    parts.push({
      outline: band(strap, 0.75),
      material: { ...material, pattern: undefined },
      along: strap,
      lift: 0.1,
      roll: 0.4,
      rollHeight: 0.18,
      inherit: 0.2,
    });
    parts.push({
      outline: [
        [s * 10 - 0.7, 7.4],
        [s * 10 + 0.3, 7.4],
        [s * 10 + 0.3, 8.6],
        [s * 10 - 0.7, 8.6],
      ].map(([x, y]) => [x - s * 0.5, y]),
      material: { weave: 'metal', color: '#d3b377' },
      lift: 0.08,
      roll: 0.2,
      rollHeight: 0.1,
    });
  }
  parts.push({
    outline: shape([
      [-c.chest + 2, y0 + 9, 1],
      [0, y0 + 8.4],
      [c.chest - 2, y0 + 9, 1],
      [c.chest - 4, y0 + 14],
      [0, y0 + 17],
      [-c.chest + 4, y0 + 14],
    ]),
    material: { ...material, pattern: undefined },
    tint: 0.6,
    lift: 0,
    inherit: 0,
  });
  const right = [
    [0, y0 + 8],
    [5.4, y0 + 6.4],
    [10.2, y0, 1],
    [14, y0 + 4],
    [c.chest, y0 + 10, 1],
    [c.waist, wy],
    [c.hip, wy + 20],
    [c.hem, c.length, 1],
    [c.hem * 0.5, c.length + 2],
    [0, c.length + 2.4],
  ];
  const folds = flutes({ ...c }, rng, wy - 4, 8, 0.33);
  // The cowl and the bust.
  for (let i = 0; i < 3; i++)
    folds.push({
      path: spline([
        [-9.6 + i, y0 + 3 + i * 3],
        [0, y0 + 9.6 + i * 3.6],
        [9.6 - i, y0 + 3 + i * 3],
      ]),
      w: 1.3,
      amp: 0.24 - i * 0.05,
    });
  for (const s of [-1, 1]) {
    folds.push({
      path: spline([
        [s * c.waist, wy],
        [s * c.waist * 0.5, wy - 6],
        [s * 4, wy - 14],
      ]),
      w: 1.6,
      amp: 0.3,
      taper: 'end',
    });
    folds.push({
      path: spline([
        [s * c.waist, wy + 4],
        [s * c.waist * 0.4, wy + 8],
        [-s * 3, wy + 18],
      ]),
      w: 1.8,
      amp: 0.28,
      taper: 'end',
    });
  }
  const top = spline([
    [-c.chest, y0 + 10],
    [-14, y0 + 4],
    [-10.2, y0, 1],
    [-5.4, y0 + 6.4],
    [0, y0 + 8],
    [5.4, y0 + 6.4],
    [10.2, y0, 1],
    [14, y0 + 4],
    [c.chest, y0 + 10],
  ]);
  const hem = spline([
    [-c.hem, c.length],
    [0, c.length + 2.4],
    [c.hem, c.length],
  ]);
  parts.push({
    outline: symmetric(right),
    group: 'body',
    material,
    grain: 24,
    lift: 0.12,
    roll: 0.4,
    rollHeight: 0.08,
    folds,
    marks: [
      { kind: 'seam', path: offset(top, -0.9), depth: 0.05, dark: 0.14 },
      { kind: 'stitch', path: offset(hem, 1), color: sewn, alpha: 0.3 },
    ],
  });
  return { seed, parts, wobble: 0.8, puff: { body: { radius: 1.2, height: 0.6 } } };
}
