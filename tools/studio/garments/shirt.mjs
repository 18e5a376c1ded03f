// Shirts: collar, placket, cuffs. Long or short sleeves, camp collar, overshirt.

import { between, flip, inset, lerp, offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { sleevePose } from './pose.mjs';
import { button, patchPocket } from './fittings.mjs';
import { longSleeve, shortSleeve, torso, torsoFolds } from './torso.mjs';

const FIT = {
  regular: { shoulder: 23, slope: 5, chest: 28, waist: 27, hem: 27.5, armhole: 26.5, length: 75, neck: 8, depth: 5.4, hemCurve: 3.4 },
  relaxed: { shoulder: 26, slope: 5.6, chest: 31, waist: 31, hem: 31, armhole: 28.5, length: 74, neck: 8, depth: 5.4, hemCurve: 3 },
  slim: { shoulder: 19, slope: 4.4, chest: 24, waist: 22.4, hem: 24, armhole: 23.5, length: 68, neck: 7.4, depth: 5.4, hemCurve: 3.6 },
  camp: { shoulder: 25, slope: 5, chest: 29.5, waist: 29.5, hem: 29.5, armhole: 27, length: 68, neck: 8, depth: 15, hemCurve: 0.4 },
  over: { shoulder: 26, slope: 5.4, chest: 31, waist: 30.5, hem: 30, armhole: 28.5, length: 72, neck: 8.2, depth: 5.4, hemCurve: 0.6 },
};

export function shirt({
  seed,
  color,
  weave = 'poplin',
  pattern,
  heather,
  fit = 'regular',
  collar = 'point',
  sleeve = 'long',
  pockets = 1,
  buttons,
  open = 0,
  thread,
  flap,
  tails = true,
}) {
  const rng = random(seed);
  const camp = collar === 'camp';
  const base = FIT[camp && fit === 'regular' ? 'camp' : fit];
  const t = torso({ ...base, ...(camp ? { depth: 15 } : {}), ...(tails ? {} : { hemCurve: 0.5 }) }, camp ? 'v' : 'crew');
  const { c } = t;
  const material = { weave, color, pattern, heather };
  const sewn = thread ?? (lightness(color) > 0.5 ? darker(color, 0.2) : lighter(color, 0.2));
  const bead = buttons ?? (lightness(color) > 0.7 ? '#efe9dd' : lightness(color) > 0.35 ? '#e6dfd0' : '#3a3330');
  const parts = [];
  stand(parts, c, material, sewn, camp);
  for (const left of [true, false]) {
    const f = left ? flip : (p) => p;
    const s =
      sleeve === 'long'
        ? longSleeve(c, {
            length: fit === 'slim' ? 61 : 64,
            top: fit === 'slim' ? 17 : 21,
            wrist: 11.5,
            ...sleevePose(seed, left, 62 + rng.range(-2, 2), rng.range(3, 10)),
          })
        : shortSleeve(c, { length: 24, width: 21, angle: 44 + rng.range(-2, 3) });
    parts.push({
      outline: f(s.outline),
      group: 'body',
      material,
      grain: left ? -s.grain : s.grain,
      origin: f([[c.shoulder, c.slope]])[0],
      lift: 0,
      roll: 0.4,
      rollHeight: 0.06,
      folds: s.folds.map((x) => ({ ...x, path: f(x.path), amp: x.amp * rng.range(0.8, 1.3) })),
      marks: sleeve === 'long' ? [] : [{ kind: 'stitch', path: offset(f(s.cuff), left ? -2.2 : 2.2), color: sewn, alpha: 0.45 }],
    });
    if (sleeve === 'long') {
      const cuff = f(s.cuffBand(6.4, 0.2));
      parts.push({
        outline: cuff,
        material,
        grain: left ? -s.grain : s.grain,
        lift: 0.1,
        roll: 0.3,
        rollHeight: 0.12,
        inherit: 0.4,
        crumple: 0.03,
        marks: [{ kind: 'stitch', path: inset(cuff, 0.35), color: sewn, alpha: 0.45 }],
      });
      const mid = f([lerp(lerp(s.o, s.i, 0.2), lerp(s.elbow, s.o, 0.9), 0.35)])[0];
      parts.push(...button(mid[0], mid[1], 0.55, bead));
    }
  }
  const marks = [
    { kind: 'stitch', path: offset(t.hem, 0.7), color: sewn, alpha: 0.4 },
    { kind: 'seam', path: offset(t.armhole, 0.3) },
    { kind: 'seam', path: flip(offset(t.armhole, 0.3)) },
    { kind: 'stitch', path: offset(t.armhole, 0.8), color: sewn, alpha: 0.3 },
    { kind: 'stitch', path: flip(offset(t.armhole, 0.8)), color: sewn, alpha: 0.3 },
    // The yoke comes over the shoulder.
    {
      kind: 'seam',
      path: spline([
        [c.neck + 1, 4.6],
        [c.shoulder - 1, c.slope + 3.6],
      ]),
      depth: 0.05,
      dark: 0.16,
    },
    {
      kind: 'seam',
      path: spline([
        [-c.neck - 1, 4.6],
        [-c.shoulder + 1, c.slope + 3.6],
      ]),
      depth: 0.05,
      dark: 0.16,
    },
  ];
  parts.push({
    outline: t.outline,
    group: 'body',
    material,
    lift: 0.04,
    roll: 0.3,
    rollHeight: 0.05,
    folds: torsoFolds(c, rng, weave === 'linen' ? 1.3 : 1),
    marks,
  });

  // Placket and buttons.
  const top = c.depth - 0.4;
  const bottom = c.length + c.hemCurve - 0.1;
  const lean = rng.range(-0.3, 0.3);
  const placket = spline(
    [
      [-1.7, top, 1],
      [1.7, top, 1],
      [1.7 + lean, (top + bottom) / 2],
      [1.7, bottom, 1],
      [-1.7, bottom, 1],
      [-1.7 + lean, (top + bottom) / 2],
    ],
    { closed: true },
  );
  parts.push({
    outline: placket,
    clip: 'body',
    material,
    lift: 0.12,
    roll: 0.3,
    rollHeight: 0.07,
    inherit: 1,
    crumple: 0.04,
    marks: [
      {
        kind: 'stitch',
        path: [
          [1.2, top],
          [1.2 + lean, (top + bottom) / 2],
          [1.2, bottom],
        ],
        color: sewn,
        alpha: 0.45,
      },
      {
        kind: 'stitch',
        path: [
          [-1.2, top],
          [-1.2 + lean, (top + bottom) / 2],
          [-1.2, bottom],
        ],
        color: sewn,
        alpha: 0.45,
      },
    ],
  });
  const count = camp ? 5 : 6;
  for (let i = 0; i < count; i++) {
    const y = top + (camp ? 3 : 5.5) + (i * (bottom - top - 15)) / (count - 1);
    parts.push(...button(rng.range(-0.1, 0.1) + lean * 0.6, y, 0.6, bead, { turnBy: rng.range(0, 60) }));
  }
  for (let i = 0; i < pockets; i++) {
    const x = (i ? -1 : 1) * (c.chest * 0.44);
    parts.push(
      ...patchPocket(x, c.armhole - 4.5, 11.5, 13, material, {
        thread: sewn,
        point: 2,
        hem: flap ? 0 : 2.4,
        flap: flap ? 4.6 : 0,
        degrees: rng.range(-0.8, 0.8),
      }),
    );
    if (flap) parts.push(...button(x, c.armhole - 2.2, 0.6, bead));
  }
  collarLeaves(parts, c, material, sewn, { camp, button: collar === 'button' ? bead : null, open });
  if (!camp) parts.push(...button(0.1, c.depth - 1.6, 0.55, bead));
  return { seed, parts, puff: { body: { radius: 1.2, height: 0.6 } } };
}

/** Inside of back yoke and the collar stand. */
function stand(parts, c, material, sewn, camp) {
  parts.push({
    outline: shape([
      [-c.neck - 0.6, 0, 1],
      [0, -2.4],
      [c.neck + 0.6, 0, 1],
      [c.neck, c.depth * 0.6],
      [0, c.depth + 2],
      [-c.neck, c.depth * 0.6],
    ]),
    material,
    tint: 0.68,
    lift: 0,
    inherit: 0,
    rollHeight: 0.05,
  });
  parts.push({
    outline: [
      [-2, 2.6],
      [2, 2.6],
      [2, 4.4],
      [-2, 4.4],
    ],
    material: { weave: 'poplin', color: '#f2ede3' },
    tint: 0.92,
    lift: 0.05,
    roll: 0.1,
    rollHeight: 0.03,
    marks: [
      {
        kind: 'line',
        path: [
          [-1.2, 3.5],
          [1.2, 3.5],
        ],
        color: '#6f695f',
        w: 0.3,
        alpha: 0.7,
      },
    ],
  });
  // Collar at the back of the neck, folded over.
  const up = spline([
    [-c.neck - 1.2, 0.2],
    [-c.neck * 0.6, -2.2],
    [0, -3],
    [c.neck * 0.6, -2.2],
    [c.neck + 1.2, 0.2],
  ]);
  const low = spline([
    [-c.neck * 0.86, 2.4],
    [-c.neck * 0.5, 1.2],
    [0, 0.8],
    [c.neck * 0.5, 1.2],
    [c.neck * 0.86, 2.4],
  ]);
  parts.push({
    outline: [...up, ...[...low].reverse()],
    material,
    grain: 90,
    tint: camp ? 0.9 : 0.84,
    lift: 0.12,
    roll: 0.5,
    rollHeight: 0.16,
    inherit: 0,
    crumple: 0.02,
    marks: [{ kind: 'seam', path: offset(low, 0.9), depth: 0.04, dark: 0.14 }],
  });
}

/** The two collar leaves in front. */
function collarLeaves(parts, c, material, sewn, { camp, button: bead }) {
  for (const s of [-1, 1]) {
    const g = s < 0 ? flip : (p) => p;
    const leaf = camp
      ? shape([
          [c.neck + 1.4, 0.2, 1],
          [c.neck + 3.6, 5.6],
          [c.neck + 4.4, 8.4, 1],
          [c.neck + 0.6, 9.6, 1],
          [0.6, c.depth + 0.2, 1],
          [c.neck * 0.44, c.depth * 0.4],
          [c.neck * 0.8, -1.2, 1],
        ])
      : shape([
          [c.neck + 1.3, 0, 1],
          [c.neck + 1.9, 3.6],
          [c.neck * 0.92, 10.2, 1],
          [c.neck * 0.42, 7.4],
          [0.2, c.depth - 0.9, 1],
          [c.neck * 0.56, c.depth * 0.52],
          [c.neck * 0.86, -1.3, 1],
        ]);
    const outline = g(leaf);
    parts.push({
      outline,
      material,
      grain: s * (camp ? -20 : -32),
      lift: 0.2,
      roll: 0.4,
      rollHeight: 0.14,
      inherit: 0.25,
      crumple: 0.05,
      marks: [{ kind: 'stitch', path: between(offset(g([...leaf, leaf[0]]), s * -0.5), 0.08, 0.62), color: sewn, alpha: 0.42 }],
    });
    if (camp) {
      // Lapel below the collar notch.
      const lapel = shape([
        [c.neck + 0.6, 9, 1],
        [c.neck + 2.6, 12.2, 1],
        [c.neck * 0.62, c.depth],
        [0.3, c.depth + 1.6, 1],
        [c.neck * 0.6, 8.2],
      ]);
      parts.splice(parts.length - 1, 0, {
        outline: g(lapel),
        material,
        grain: s * -24,
        lift: 0.16,
        roll: 0.4,
        rollHeight: 0.1,
        inherit: 0.4,
        crumple: 0.05,
        marks: [{ kind: 'stitch', path: between(offset(g([...lapel, lapel[0]]), s * -0.45), 0.02, 0.5), color: sewn, alpha: 0.35 }],
      });
    }
    if (bead) parts.push(...button(s * (c.neck * 0.86), 9, 0.42, bead));
  }
}
