// Blazers, overcoats and trenches: lapels, flap pockets, buttons, belts.

import { band, between, flip, inset, lerp, offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { sleevePose } from './pose.mjs';
import { button, patchPocket } from './fittings.mjs';
import { longSleeve, torsoFolds } from './torso.mjs';

const CUTS = {
  blazer: { neck: 8.4, shoulder: 23, slope: 4.4, chest: 27, waist: 25, hem: 28, armhole: 26.5, length: 75, stance: 43, sleeve: 61 },
  womens: { neck: 8, shoulder: 20.5, slope: 4.2, chest: 24.5, waist: 22.5, hem: 26.5, armhole: 24.5, length: 72, stance: 40, sleeve: 58 },
  oversized: { neck: 8.6, shoulder: 26, slope: 5, chest: 30, waist: 29.5, hem: 31, armhole: 29, length: 80, stance: 46, sleeve: 59 },
  coat: { neck: 8.8, shoulder: 24.5, slope: 4.8, chest: 29, waist: 28.5, hem: 33.5, armhole: 28.5, length: 108, stance: 42, sleeve: 62 },
  womenscoat: { neck: 8.4, shoulder: 23, slope: 4.8, chest: 27.5, waist: 26.5, hem: 33, armhole: 27, length: 112, stance: 42, sleeve: 59 },
};

export function tailored({
  seed,
  color,
  weave = 'wool',
  pattern,
  heather = 0.04,
  cut = 'blazer',
  breasted = 1,
  lapel = 'notch',
  lining,
  buttons,
  pockets = 'flap',
  trench,
  belt,
  chest = true,
  count,
}) {
  const rng = random(seed);
  const c = { ...CUTS[cut] };
  const long = c.length > 95;
  const material = { weave, color, pattern, heather };
  const inside = lining ?? darker(color, 0.35);
  const bead = buttons ?? darker(color, 0.45);
  const thread = lightness(color) > 0.45 ? darker(color, 0.22) : lighter(color, 0.14);
  const stitched = Boolean(trench);
  const over = breasted === 2 ? 8.5 : 2.2;
  const parts = [];

  // Lining and back collar.
  parts.push({
    outline: shape([
      [-c.neck - 2, -0.6, 1],
      [0, -2.8],
      [c.neck + 2, -0.6, 1],
      [c.neck + 4, c.stance * 0.5],
      [0, c.stance + 4],
      [-c.neck - 4, c.stance * 0.5],
    ]),
    material: { weave: 'satin', color: inside },
    tint: 0.8,
    lift: 0,
    inherit: 0,
    rollHeight: 0.05,
    crumple: 0.14,
    marks: [
      {
        kind: 'seam',
        path: spline([
          [0, 2],
          [0.2, c.stance],
        ]),
        dark: 0.2,
      },
    ],
  });
  parts.push({
    outline: shape([
      [-c.neck - 1, 1.4, 1],
      [0, 0.4],
      [c.neck + 1, 1.4, 1],
      [c.neck * 0.9, 5.6],
      [0, 7.6],
      [-c.neck * 0.9, 5.6],
    ]),
    material,
    tint: 0.72,
    lift: 0.06,
    inherit: 0,
    rollHeight: 0.05,
  });
  parts.push({
    outline: [
      [-3, 3.2],
      [3, 3.2],
      [3, 5.4],
      [-3, 5.4],
    ],
    material: { weave: 'satin', color: '#ece4d5' },
    tint: 0.92,
    lift: 0.05,
    roll: 0.1,
    rollHeight: 0.03,
    crumple: 0,
    marks: [
      {
        kind: 'line',
        path: [
          [-1.7, 4.3],
          [1.7, 4.3],
        ],
        color: '#5f594f',
        w: 0.36,
        alpha: 0.7,
      },
    ],
  });

  for (const left of [true, false]) {
    const f = left ? flip : (p) => p;
    const s = longSleeve(c, {
      length: c.sleeve,
      top: c.armhole - c.slope - 1.6,
      wrist: 13,
      ...sleevePose(seed, left, 66 + rng.range(-1.5, 2), rng.range(5, 10)),
      puff: 1.1,
    });
    parts.push({
      outline: f(s.outline),
      group: 'body',
      material,
      grain: left ? -s.grain : s.grain,
      origin: f([[c.shoulder, c.slope]])[0],
      lift: 0,
      roll: 0.5,
      rollHeight: 0.08,
      folds: s.folds.map((x) => ({ ...x, w: x.w * 1.2, path: f(x.path), amp: x.amp * rng.range(0.7, 1.05) })),
      marks: [
        { kind: 'seam', path: f(spline([[c.chest - 2, c.armhole - 2], lerp(s.elbow, s.i, 0.1), lerp(s.o, s.i, 0.62)])), depth: 0.04, dark: 0.12 },
        ...(stitched ? [{ kind: 'stitch', path: offset(f(s.cuff), left ? -2 : 2), color: thread, alpha: 0.4 }] : []),
      ],
    });
    if (trench) {
      const strap = f(s.cuffBand(2.6, 0.5).map(([x, y]) => [x - s.dir[0] * 6, y - s.dir[1] * 6]));
      parts.push({
        outline: strap,
        material,
        grain: left ? -s.grain : s.grain,
        lift: 0.16,
        roll: 0.3,
        rollHeight: 0.12,
        inherit: 0.4,
        crumple: 0,
        marks: [{ kind: 'stitch', path: inset(strap, 0.3), color: thread, alpha: 0.4 }],
      });
    } else {
      for (let k = 0; k < (long ? 3 : 4); k++) {
        const p = lerp(lerp(s.o, s.elbow, 0.08 + k * 0.052), s.i, 0.16);
        parts.push(...button(f([p])[0][0], p[1], 0.55, bead));
      }
    }
  }

  // Fronts: right one (viewer's left) below, left one over it.
  const fronts = [];
  for (const left of [true, false]) {
    const f = left ? flip : (p) => p;
    const mid = (c.armhole + c.length) / 2;
    const edge = left ? over - 0.4 : over;
    const cut = long || breasted === 2 ? 0.4 : 7;
    const outline = f(
      shape([
        [c.neck, 0, 1],
        [c.shoulder, c.slope, 1],
        [c.shoulder - 1.6, c.slope + (c.armhole - c.slope) * 0.52],
        [c.chest, c.armhole, 1],
        [c.waist, lerp([0, c.armhole], [0, mid], 0.85)[1]],
        [lerp([c.waist, 0], [c.hem, 0], 0.6)[0], lerp([0, mid], [0, c.length], 0.4)[1]],
        [c.hem, c.length, 1],
        [c.hem * 0.5, c.length + 1],
        [cut > 1 ? 6 : -edge + 1, c.length + 0.9, cut > 1 ? 0 : 1],
        ...(cut > 1
          ? [
              [0.6, c.length - 4],
              [-edge + 0.3, c.length - 20],
            ]
          : [[-edge, (c.stance + c.length) / 2]]),
        [-edge, c.stance + 2],
        [-edge + 0.2, c.stance, 1],
        [c.neck * 0.42, c.stance * 0.3],
      ]),
    );
    const side = f(
      spline([
        [c.chest * 0.62, c.armhole + 6],
        [c.waist * 0.56, mid - 6],
        [c.hem * 0.55, mid + 14],
        [c.hem * 0.58, c.length],
      ]),
    );
    const folds = torsoFolds(c, rng, long ? 1.15 : 0.85)
      .filter((x) => (left ? x.path[0][0] < 0 : x.path[0][0] > 0))
      .map((x) => ({ ...x, w: x.w * 1.2 }));
    if (long) {
      folds.push({
        path: f(
          spline([
            [c.waist * 0.5, c.length * 0.5],
            [c.hem * 0.56, c.length * 0.75],
            [c.hem * 0.6, c.length],
          ]),
        ),
        w: 3,
        amp: 0.26,
        taper: 'start',
      });
      folds.push({
        path: f(
          spline([
            [c.waist * 0.16, c.length * 0.58],
            [c.hem * 0.18, c.length * 0.8],
            [c.hem * 0.2, c.length],
          ]),
        ),
        w: 2.6,
        amp: -0.18,
        taper: 'start',
      });
    }
    const arm = f(
      offset(
        spline([
          [c.shoulder, c.slope],
          [c.shoulder - 1.6, c.slope + (c.armhole - c.slope) * 0.52],
          [c.chest, c.armhole],
        ]),
        0.3,
      ),
    );
    const front = {
      outline,
      group: 'body',
      material,
      lift: left ? 0.05 : 0.22,
      roll: 0.5,
      rollHeight: 0.1,
      folds,
      marks: [
        { kind: 'seam', path: arm, depth: 0.08, dark: 0.26 },
        ...(stitched ? [{ kind: 'stitch', path: offset(arm, left ? -0.6 : 0.6), color: thread, alpha: 0.4 }] : []),
        ...(!long && !trench ? [{ kind: 'seam', path: between(side, 0, 0.6), depth: 0.03, dark: 0.1 }] : []),
        ...(stitched
          ? [
              {
                kind: 'stitch',
                path: f([
                  [-edge + 0.8, c.stance + 2],
                  [-edge + 0.8, c.length],
                ]),
                color: thread,
                alpha: 0.4,
              },
            ]
          : []),
      ],
    };
    fronts.push(front);
    parts.push(front);
  }

  // Pockets.
  const py = long ? c.length * 0.56 : c.stance + 10;
  const px = c.hem * (long ? 0.56 : 0.58);
  for (const s of [-1, 1]) {
    if (pockets === 'patch')
      parts.push(...patchPocket(s * px, py, long ? 17 : 15.5, long ? 19 : 17.5, material, { round: 3, hem: 2.4, degrees: s * 2, lift: 0.14 }));
    else if (pockets === 'welt') parts.push(flapPart(s * px, py, 4, 15, s * (trench ? 68 : 62), material, thread, stitched));
    else parts.push(flapPart(s * px, py, 15, 5, s * 3.5, material, thread, stitched));
  }
  if (chest && !long) parts.push(flapPart(13.4, 26.5, 10, 2.2, -6, material, thread, false));

  if (trench) {
    const flapShape = shape([
      [c.shoulder - 0.8, c.slope + 1.2, 1],
      [c.shoulder - 2.4, 15],
      [c.chest - 8, 29, 1],
      [8, 31],
      [4.4, 22, 1],
      [9, 8],
      [c.neck + 2, 2, 1],
    ]);
    parts.push({
      outline: flapShape,
      material,
      lift: 0.2,
      roll: 0.4,
      rollHeight: 0.1,
      inherit: 0.85,
      marks: [{ kind: 'stitch', path: inset(flapShape, 0.6), color: thread, alpha: 0.42 }],
    });
  }

  lapels(parts, c, over, material, { lapel, thread, stitched, breasted });

  // Buttons.
  const rows = count ?? (breasted === 2 ? 3 : long ? 3 : 2);
  const gap = long ? 13.5 : breasted === 2 ? 10 : 10.5;
  for (let i = 0; i < rows; i++) {
    const y = c.stance + 2.4 + i * gap + (trench && i === 1 ? 10 : 0);
    if ((trench || belt) && Math.abs(y - c.stance - 13) < 5) continue;
    if (breasted === 2) {
      parts.push(...button(-over + 2.4, y, 1.25, bead), ...button(over - 2.6 + (i === 0 && rows > 2 ? 1.2 : 0), y, 1.25, bead));
    } else parts.push(...button(-0.2, y, 1.2, bead));
  }
  if (belt || trench) sash(parts, c, material, thread, rng, trench ? '#5a4632' : null);
  return { seed, parts, wobble: 0.55, puff: { body: { radius: 1.7, height: 1 } } };
}

function flapPart(x, y, w, h, degrees, material, thread, stitched) {
  const a = (degrees * Math.PI) / 180;
  const at = (u, v) => [x + u * Math.cos(a) - v * Math.sin(a), y + u * Math.sin(a) + v * Math.cos(a)];
  const r = Math.min(1, h * 0.3);
  const outline = spline(
    [
      [...at(-w / 2, -h / 2), 1],
      [...at(w / 2, -h / 2), 1],
      [...at(w / 2 - 0.1, h / 2 - r)],
      [...at(w / 2 - r, h / 2)],
      [...at(0, h / 2 + 0.15)],
      [...at(-w / 2 + r, h / 2)],
      [...at(-w / 2 + 0.1, h / 2 - r)],
    ],
    { closed: true },
  );
  return {
    outline,
    material,
    lift: 0.14,
    roll: 0.35,
    rollHeight: 0.1,
    inherit: 0.95,
    crumple: 0.03,
    marks: [
      { kind: 'seam', path: [at(-w / 2, -h / 2 + 0.15), at(w / 2, -h / 2 + 0.15)], depth: 0.08, dark: 0.4 },
      ...(stitched ? [{ kind: 'stitch', path: inset(outline, 0.35), color: thread, alpha: 0.42 }] : []),
    ],
  };
}

function lapels(parts, c, over, material, { lapel, thread, stitched, breasted }) {
  const wide = breasted === 2 ? 1.16 : 1;
  if (lapel === 'shawl') {
    const up = spline([
      [-c.neck - 0.8, 0.6],
      [-c.neck * 0.6, -2.6],
      [0, -3.6],
      [c.neck * 0.6, -2.6],
      [c.neck + 0.8, 0.6],
    ]);
    parts.push({
      outline: [
        ...up,
        ...spline([
          [-c.neck + 0.4, 1],
          [0, 0.4],
          [c.neck - 0.4, 1],
        ]).reverse(),
      ],
      material,
      lift: 0.14,
      roll: 0.5,
      rollHeight: 0.2,
      inherit: 0,
      crumple: 0.03,
    });
  }
  for (const s of [-1, 1]) {
    const g = s < 0 ? flip : (p) => p;
    const edge = -over + (s < 0 ? 0.2 : 0);
    const foot = [edge + 0.1, c.stance + 0.6, 1];
    const turnLine = [
      [c.neck * 0.46, c.stance * 0.3],
      [c.neck - 0.4, -0.6, 1],
    ];
    let outline;
    if (lapel === 'shawl')
      outline = shape([
        [c.neck - 0.2, -2.4, 1],
        [c.neck + 4, 2],
        [c.neck + 6.6, 12],
        [c.neck + 4.2, 24],
        [1, c.stance - 5],
        foot,
        turnLine[0],
        turnLine[1],
      ]);
    else {
      const tip = lapel === 'peak' ? [17.6 * wide, 11.2, 1] : [15 * wide, 16.4, 1];
      const notch = lapel === 'peak' ? [11.6 * wide, 12.6, 1] : [10.4 * wide, 14, 1];
      outline = shape([[c.neck - 1.6, 4, 1], notch, tip, [12.2 * wide, 24], [4, c.stance - 8], foot, turnLine[0], turnLine[1]]);
    }
    const rim = inset(outline, 0.6);
    parts.push({
      outline: g(outline),
      material,
      grain: s * -16,
      lift: 0.26,
      roll: 0.6,
      rollHeight: 0.2,
      inherit: 0.3,
      crumple: 0.05,
      folds: [{ path: g(spline([[foot[0], foot[1]], turnLine[0], [c.neck - 0.4, 0]])), w: 1, amp: 0.14, taper: 'none' }],
      marks: [
        ...(stitched ? [{ kind: 'stitch', path: g(between([...rim, rim[0]], 0.06, 0.6)), color: thread, alpha: 0.42 }] : []),
        ...(lapel !== 'shawl' && s > 0
          ? [
              {
                kind: 'line',
                path: g([
                  [lapel === 'peak' ? 13.4 : 11.2, 16.4],
                  [lapel === 'peak' ? 15.6 : 13.4, 15.4],
                ]),
                color: darker(material.color, 0.45),
                w: 0.22,
                alpha: 0.8,
              },
            ]
          : []),
      ],
    });
  }
  if (lapel === 'shawl') return;
  // Collar: one piece round the neck.
  const peak = lapel === 'peak';
  const tip = peak ? [12.6 * wide, 10] : [13.6 * wide, 10.4];
  const notch = peak ? [11.4 * wide, 12.4] : [10.8 * wide, 13.8];
  const outer = spline([
    [...tip, 1],
    [c.neck + 4, 4.6],
    [c.neck + 1.5, -1.4],
    [c.neck * 0.5, -3.7],
    [0, -4.2],
    [-c.neck * 0.5, -3.7],
    [-c.neck - 1.5, -1.4],
    [-c.neck - 4, 4.6],
    [-tip[0], tip[1], 1],
  ]);
  const inner = spline([
    [-c.neck * 0.72, 8.4, 1],
    [-c.neck + 1.2, 2.4],
    [-c.neck * 0.5, 0.5],
    [0, 0.2],
    [c.neck * 0.5, 0.5],
    [c.neck - 1.2, 2.4],
    [c.neck * 0.72, 8.4, 1],
  ]);
  const collar = [...outer, [-notch[0], notch[1]], ...inner, notch];
  parts.push({
    outline: collar,
    material,
    lift: 0.22,
    roll: 0.5,
    rollHeight: 0.2,
    inherit: 0.25,
    crumple: 0.04,
    marks: stitched ? [{ kind: 'stitch', path: offset(outer, 0.5), color: thread, alpha: 0.42 }] : [],
  });
}

function sash(parts, c, material, thread, rng, buckle) {
  const y = c.stance + 13;
  const w = 4.6;
  const line = spline([
    [-c.waist - 1.4, y - 0.6],
    [-c.waist * 0.4, y + 0.6],
    [c.waist * 0.4, y + 0.4],
    [c.waist + 1.4, y - 0.4],
  ]);
  const strap = band(line, w);
  parts.push({
    outline: strap,
    material,
    along: line,
    across: true,
    lift: 0.24,
    roll: 0.4,
    rollHeight: 0.16,
    inherit: 0.5,
    crumple: 0.06,
    marks: [
      { kind: 'stitch', path: offset(line, w / 2 - 0.5), color: thread, alpha: 0.42 },
      { kind: 'stitch', path: offset(line, -w / 2 + 0.5), color: thread, alpha: 0.42 },
    ],
  });
  const end = spline([
    [2, y],
    [-2.4, y + 9],
    [-4.6, y + 20],
    [-4 + rng.range(-1, 1), y + 32],
  ]);
  const end2 = spline([
    [2.6, y],
    [6, y + 8],
    [7.4, y + 17],
    [6.8, y + 25],
  ]);
  for (const e of buckle ? [end] : [end, end2])
    parts.push({
      outline: band(e, (t) => w - (t > 0.97 ? 1 : 0)),
      material,
      along: e,
      across: true,
      lift: 0.24,
      roll: 0.4,
      rollHeight: 0.16,
      inherit: 0.4,
      crumple: 0.1,
      marks: [
        { kind: 'stitch', path: offset(e, w / 2 - 0.5), color: thread, alpha: 0.42 },
        { kind: 'stitch', path: offset(e, -w / 2 + 0.5), color: thread, alpha: 0.42 },
      ],
    });
  if (buckle) {
    const o = shape(
      [
        [-1.4, y - 3.4],
        [5.4, y - 3.4],
        [5.4, y + 4.2],
        [-1.4, y + 4.2],
      ],
      { ease: 0.16 },
    );
    const i = shape(
      [
        [0, y - 2],
        [4, y - 2],
        [4, y + 2.8],
        [0, y + 2.8],
      ],
      { ease: 0.1 },
    );
    parts.push({ outline: [o, i], material: { weave: 'leather', color: buckle }, lift: 0.2, roll: 0.5, rollHeight: 0.24, inherit: 0.3, crumple: 0 });
  } else
    parts.push({
      outline: shape([
        [-1.6, y - 3],
        [4, y - 3.4],
        [5, y + 0.6],
        [3.4, y + 4],
        [-1, y + 3.8],
        [-2.2, y + 0.4],
      ]),
      material,
      grain: 30,
      lift: 0.3,
      roll: 0.8,
      rollHeight: 0.4,
      inherit: 0.2,
      folds: [
        {
          path: spline([
            [-1.4, y - 1],
            [1.4, y + 0.6],
            [4.4, y - 0.6],
          ]),
          w: 0.7,
          amp: -0.16,
        },
      ],
    });
}
