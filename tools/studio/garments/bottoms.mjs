// Jeans, trousers, joggers and shorts, laid flat, front up. y = 0 is the waist.

import { between, flip, lerp, offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness, rgb } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { button, cord, patchPocket, rivet } from './fittings.mjs';

const FIT = {
  straight: { waist: 20.5, hip: 26, knee: 22, hem: 20.5, length: 103, rise: 28, spread: 26.5 },
  slim: { waist: 19.5, hip: 24, knee: 18.4, hem: 16, length: 102, rise: 26.5, spread: 22.5 },
  wide: { waist: 20, hip: 27, knee: 28, hem: 29.5, length: 104, rise: 30, spread: 33 },
  flare: { waist: 18.5, hip: 23.5, knee: 18.6, hem: 25.5, length: 105, rise: 26, spread: 28 },
  tapered: { waist: 20, hip: 27, knee: 22.5, hem: 16.5, length: 99, rise: 30, spread: 23.5 },
  barrel: { waist: 19.5, hip: 27, knee: 28, hem: 19, length: 97, rise: 30, spread: 26.5 },
  cropped: { waist: 19.5, hip: 26, knee: 25.5, hem: 25, length: 88, rise: 30, spread: 29.5 },
  shorts: { waist: 20.5, hip: 27.5, knee: 0, hem: 28.5, length: 48, rise: 29, spread: 31.5 },
  mini: { waist: 18.5, hip: 25, knee: 0, hem: 26.5, length: 36, rise: 27, spread: 28.5 },
};

/** Outline and lines of the right leg. */
function leg(f, rng) {
  const s = f.spread + rng.range(-0.5, 0.5);
  const drop = 1.4;
  const outer = f.knee
    ? [
        [f.waist, 0, 1],
        [f.hip - 0.6, f.rise * 0.48],
        [f.hip + (s - f.hip) * 0.1, f.rise * 0.85],
        [lerp([f.hip, 0], [s, 0], 0.52)[0] + (f.knee - f.hem) * 0.3, f.length * 0.58],
        [s, f.length, 1],
      ]
    : [
        [f.waist, 0, 1],
        [f.hip - 0.4, f.rise * 0.5],
        [lerp([f.hip, 0], [s, 0], 0.6)[0], f.length * 0.76],
        [s, f.length, 1],
      ];
  const kneeOuter = f.knee ? outer[3][0] : 0;
  const inner = f.knee
    ? [
        [s - f.hem, f.length + 0.8, 1],
        [kneeOuter - f.knee, f.length * 0.58],
        [0.9, f.rise + 6],
        [0.1, f.rise, 1],
      ]
    : [
        [s - f.hem, f.length + 0.8, 1],
        [0.8, f.rise + 3.5],
        [0.1, f.rise, 1],
      ];
  const outline = shape([...outer, [s - f.hem / 2, f.length + 0.9], ...inner, [-0.3, f.rise * 0.6], [0, drop, 1], [f.waist * 0.55, drop * 0.7]]);
  return {
    outline,
    side: spline(outer),
    inseam: spline(inner),
    hem: spline([
      [s - f.hem, f.length + 0.8],
      [s - f.hem / 2, f.length + 0.9],
      [s, f.length],
    ]),
    centre: (t) => {
      const y = f.rise + (f.length - f.rise) * t;
      const at = (pts) => pts.reduce((best, p) => (Math.abs(p[1] - y) < Math.abs(best[1] - y) ? p : best))[0];
      return [(at(spline(outer)) + at(spline(inner))) / 2, y];
    },
  };
}

/** Folds of a leg: from the crotch, behind the knee, stacking at the hem. */
function legFolds(f, l, rng, soft = 1) {
  const a = (lo, hi) => rng.range(lo, hi) * soft;
  const folds = [
    {
      path: spline([
        [0.8, f.rise - 1],
        [f.hip * 0.35, f.rise - 4],
        [f.hip * 0.72, f.rise - 9],
      ]),
      w: 1.3,
      amp: a(0.2, 0.3),
      taper: 'end',
    },
    {
      path: spline([
        [1, f.rise + 2],
        [f.hip * 0.4, f.rise + 1],
        [f.hip * 0.8, f.rise - 3],
      ]),
      w: 1.4,
      amp: a(0.16, 0.26),
      taper: 'end',
    },
  ];
  if (!f.knee) {
    folds.push({
      path: spline([
        [3, f.rise + 4],
        [f.hip * 0.5, f.rise + 8],
        [f.hip * 0.7, f.length],
      ]),
      w: 2,
      amp: a(0.14, 0.24),
    });
    return folds;
  }
  folds.push({
    path: spline([
      [1.6, f.rise + 6],
      [f.hip * 0.45, f.rise + 10],
      [f.hip * 0.7, f.rise + 20],
    ]),
    w: 1.8,
    amp: a(0.12, 0.22),
    taper: 'end',
  });
  const k = f.length * 0.58;
  const [kx] = l.centre((k - f.rise) / (f.length - f.rise));
  const kw = f.knee / 2;
  for (let i = 0; i < 4; i++) {
    const y = k - 6 + i * 4.2 + rng.range(-1, 1);
    const from = i % 2 ? kx + kw : kx - kw;
    const to = i % 2 ? kx - kw * rng.range(-0.2, 0.5) : kx + kw * rng.range(-0.2, 0.5);
    folds.push({
      path: spline([
        [from, y],
        [(from + to) / 2, y + rng.range(-1, 1.4)],
        [to, y + rng.range(0, 3)],
      ]),
      w: 1.3,
      amp: a(0.12, 0.24),
      taper: 'end',
    });
  }
  const long = l.centre(0.5)[0];
  folds.push({ path: spline([[long - 1, f.rise + 16], l.centre(0.35), [l.centre(0.55)[0] + 1.5, l.centre(0.55)[1]]]), w: 2.6, amp: a(0.1, 0.18) });
  folds.push({ path: spline([l.centre(0.62), l.centre(0.78), l.centre(0.95)]), w: 2.4, amp: a(-0.16, 0.2) });
  for (let i = 0; i < 2; i++) {
    const y = f.length - 4 - i * 5.5;
    const [cx] = l.centre((y - f.rise) / (f.length - f.rise));
    const h = f.hem / 2;
    folds.push({
      path: spline([
        [cx - h * (i ? 1 : 0.2), y + 1],
        [cx, y - 0.5],
        [cx + h * (i ? 0.3 : 1), y + 1.5],
      ]),
      w: 1.3,
      amp: a(0.1, 0.2),
      taper: 'both',
    });
  }
  return folds;
}

export function bottoms({
  seed,
  kind = 'jeans',
  color,
  weave,
  pattern,
  heather,
  fit = 'straight',
  thread,
  wash = 0,
  pleats = 0,
  crease = false,
  cuff,
  cargo,
  loops,
  metal = '#b0764a',
  hemRaw,
}) {
  const rng = random(seed);
  const f = { ...FIT[fit] };
  const jogger = kind === 'jogger';
  const denim = kind === 'jeans';
  const material = { weave: weave ?? (denim ? 'denim' : jogger ? 'fleece' : 'twill'), color, pattern, heather };
  const sewn = thread ?? (denim ? '#b98a52' : lightness(color) > 0.45 ? darker(color, 0.28) : lighter(color, 0.22));
  const right = leg(f, rng);
  const left = leg(f, rng);
  const parts = [];

  // Inside of the back waist.
  parts.push({
    outline: shape([
      [-f.waist + 0.4, 0.2, 1],
      [-f.waist * 0.5, -1.5],
      [0, -2],
      [f.waist * 0.5, -1.5],
      [f.waist - 0.4, 0.2, 1],
      [f.waist * 0.6, 3],
      [0, 4],
      [-f.waist * 0.6, 3],
    ]),
    material: { ...material, pattern: undefined },
    tint: denim ? 0.8 : 0.6,
    lift: 0,
    rollHeight: 0.06,
    inherit: 0,
    marks: [
      {
        kind: 'stitch',
        path: spline([
          [-f.waist, 1.4],
          [0, 1],
          [f.waist, 1.4],
        ]),
        color: sewn,
        alpha: 0.4,
      },
    ],
  });
  if (!jogger)
    parts.push({
      outline: [
        [-2.2, -1.1],
        [2.2, -1.1],
        [2.2, 0.9],
        [-2.2, 0.9],
      ],
      material: { weave: denim ? 'leather' : 'poplin', color: denim ? '#a9713f' : '#eee7da' },
      lift: 0.04,
      roll: 0.1,
      rollHeight: 0.03,
      marks: [
        {
          kind: 'line',
          path: [
            [-1.3, -0.2],
            [1.3, -0.2],
          ],
          color: '#5a4630',
          w: 0.3,
          alpha: 0.6,
        },
      ],
    });

  const pale = wash ? rgb(lighter(color, 0.55)) : null;
  const side = (l, isLeft) => {
    const g = isLeft ? flip : (p) => p;
    const marks = [
      ...(hemRaw ? [] : [{ kind: 'stitch', path: offset(g(l.hem), isLeft ? -1.3 : 1.3), color: sewn, alpha: denim ? 0.8 : crease ? 0 : 0.35 }]),
      { kind: 'seam', path: offset(g(l.side), isLeft ? -0.5 : 0.5), dark: 0.14, depth: 0.04 },
    ];
    if (denim) {
      marks.push({ kind: 'stitch', path: offset(g(l.inseam), isLeft ? -0.35 : 0.35), color: sewn, alpha: 0.5 });
      marks.push({ kind: 'stitch', path: between(offset(g(l.side), isLeft ? 0.5 : -0.5), 0.03, 0.24), color: sewn, alpha: 0.6 });
    }
    const folds = legFolds(f, l, rng, crease ? 0.55 : jogger ? 1.15 : 1).map((x) => ({ ...x, path: g(x.path) }));
    if (crease) {
      const line = g(spline([[f.hip * 0.5, 6], [f.hip * 0.5, f.rise], l.centre(0.25), l.centre(0.6), l.centre(1)]));
      folds.push({ path: line, w: 0.7, amp: 0.14, taper: 'start' });
      marks.push({ kind: 'line', path: offset(line, -0.25), color: darker(color, 0.5), w: 0.16, alpha: 0.16 });
    }
    const fades = wash
      ? [
          { x: (isLeft ? -1 : 1) * f.hip * 0.52, y: f.rise + 13, rx: 9, ry: 24, amount: 0.62 * wash, to: pale },
          { x: (isLeft ? -1 : 1) * l.centre(0.45)[0], y: f.length * 0.62, rx: 7, ry: 15, amount: 0.4 * wash, to: pale },
        ]
      : [];
    parts.push({
      outline: g(l.outline),
      group: 'body',
      material,
      lift: 0.08,
      roll: 0.35,
      rollHeight: 0.09,
      grain: (isLeft ? 1 : -1) * 1.2,
      folds,
      marks,
      fades,
    });
  };
  if (cuff === 'rib')
    for (const [l, g] of [
      [left, flip],
      [right, (p) => p],
    ]) {
      const [a, b] = [l.hem[0], l.hem[l.hem.length - 1]];
      parts.push({
        outline: g(
          shape([
            [a[0] + 0.8, a[1] - 2, 1],
            [b[0] - 0.8, b[1] - 2, 1],
            [b[0] - 1.8, b[1] + 5.2, 1],
            [(a[0] + b[0]) / 2, a[1] + 5.2],
            [a[0] + 1.8, a[1] + 5, 1],
          ]),
        ),
        material: { weave: 'rib', color, gauge: 0.7, heather },
        lift: 0,
        roll: 0.6,
        rollHeight: 0.3,
        inherit: 0,
      });
    }
  side(left, true);
  side(right, false);

  frontDetails(parts, { f, denim, jogger, material, sewn, pleats, color, rng, metal, loops, crease });

  if (cargo)
    for (const s of [-1, 1]) {
      const x = s * (right.centre(0.28)[0] + f.knee * 0.24);
      parts.push(...patchPocket(x, f.length * 0.47, 15, 17, material, { thread: sewn, round: 1, flap: 5.2, degrees: -s * 2, lift: 0.2 }));
      parts.push(...button(x, f.length * 0.47 + 3, 0.65, darker(color, 0.3)));
    }
  if (cuff === 'turnup')
    for (const [l, g] of [
      [left, flip],
      [right, (p) => p],
    ]) {
      const up = offset(l.hem, 5);
      parts.push({
        outline: g([...l.hem.map(([x, y]) => [x, y + 0.3]), ...up.reverse()]),
        material: denim ? { weave: 'denim', color: lighter(color, 0.5) } : material,
        lift: 0.18,
        roll: 0.4,
        rollHeight: 0.14,
        inherit: 0.7,
        marks: [{ kind: 'stitch', path: g(offset(l.hem, 1.1)), color: denim ? '#efe6d4' : sewn, alpha: 0.5 }],
      });
    }
  return { seed, parts, wobble: 0.55, puff: { body: { radius: 1.4, height: 0.75 } } };
}

/** Waistband, fly, pockets, loops, button or drawcord. */
function frontDetails(parts, { f, denim, jogger, material, sewn, pleats, color, rng, metal, loops, crease }) {
  const bandH = jogger ? 4.4 : 3.9;
  const top = spline([
    [-f.waist, 0],
    [-f.waist * 0.55, 1],
    [0, 1.4],
    [f.waist * 0.55, 1],
    [f.waist, 0],
  ]);
  const low = spline([
    [-f.waist - 0.7, bandH],
    [-f.waist * 0.55, bandH + 1],
    [0, bandH + 1.4],
    [f.waist * 0.55, bandH + 1],
    [f.waist + 0.7, bandH],
  ]);

  // Pocket openings first: they sit under the band.
  for (const s of [-1, 1]) {
    const g = s < 0 ? flip : (p) => p;
    if (denim) {
      const scoop = spline([
        [f.waist * 0.52, bandH + 0.6],
        [f.waist * 0.6, bandH + 5.4],
        [f.waist * 0.86, bandH + 7.6],
        [f.hip - 0.3, bandH + 8.2],
      ]);
      parts.push({
        outline: g([...scoop, [f.hip + 0.6, bandH + 4], [f.waist + 1, bandH]]),
        material,
        clip: 'body',
        tint: 0.86,
        lift: 0,
        roll: 0.3,
        rollHeight: -0.03,
        inherit: 1,
        crumple: 0.02,
        marks:
          s > 0
            ? [
                {
                  kind: 'stitch',
                  path: spline([
                    [f.waist * 0.66, bandH + 3.2],
                    [f.hip, bandH + 3.4],
                  ]),
                  color: sewn,
                  alpha: 0.7,
                },
              ]
            : [],
      });
      parts[parts.length - 1].marks.push({ kind: 'seam', path: g(scoop), w: 1.5, depth: 0.1, dark: 0.5 });
      const host = parts[s < 0 ? parts.findIndex((p) => p.group) : parts.findLastIndex((p) => p.group)];
      host.marks.push(
        { kind: 'stitch', path: g(offset(scoop, s > 0 ? 0.4 : 0.4)), color: sewn, alpha: 0.9 },
        { kind: 'stitch', path: g(offset(scoop, 0.9)), color: sewn, alpha: 0.9 },
      );
    } else {
      const slit =
        crease || pleats
          ? spline([
              [f.waist * 0.8, bandH + 0.6],
              [f.hip * 0.9, bandH + 10],
              [f.hip - 0.4, bandH + 16],
            ])
          : spline([
              [f.waist * 0.68, bandH + 0.6],
              [f.hip * 0.78, bandH + 9],
              [f.hip - 0.6, bandH + 15],
            ]);
      const host = parts[s < 0 ? parts.findIndex((p) => p.group) : parts.findLastIndex((p) => p.group)];
      host.marks.push(
        { kind: 'seam', path: g(slit), w: 1.5, depth: 0.14, dark: 0.5 },
        { kind: 'stitch', path: g(offset(slit, 0.5)), color: sewn, alpha: crease ? 0.2 : 0.5 },
      );
      host.folds.push({ path: g(offset(slit, 0.8)), w: 0.6, amp: 0.1 });
    }
  }
  const host = parts.findLast((p) => p.group);
  const other = parts.find((p) => p.group);
  for (let i = 0; i < pleats; i++) {
    const x = f.waist * (0.42 + i * 0.18);
    const line = spline([
      [x, bandH + 0.8],
      [x + 0.5, bandH + 9],
      [x + 0.4, bandH + 20 - i * 4],
    ]);
    host.folds.push({ path: line, w: 0.8, amp: 0.28, taper: 'end' });
    other.folds.push({ path: flip(line), w: 0.8, amp: 0.28, taper: 'end' });
    host.marks.push({ kind: 'seam', path: between(line, 0, 0.42), dark: 0.4, depth: 0.1 });
    other.marks.push({ kind: 'seam', path: flip(between(line, 0, 0.42)), dark: 0.4, depth: 0.1 });
  }
  if (!jogger) {
    // Fly: the J of stitching and the seam below it.
    const j = spline([
      [4, bandH + 1],
      [4, f.rise * 0.5],
      [3.4, f.rise * 0.62],
      [1.4, f.rise * 0.72],
      [0.1, f.rise * 0.76],
    ]);
    host.marks.push({ kind: 'stitch', path: j, color: sewn, alpha: denim ? 0.9 : crease ? 0.28 : 0.45 });
    if (denim) host.marks.push({ kind: 'stitch', path: offset(j, 0.5), color: sewn, alpha: 0.9 });
    host.folds.push({
      path: spline([
        [0.6, bandH + 1],
        [0.5, f.rise * 0.7],
      ]),
      w: 0.8,
      amp: 0.12,
      taper: 'none',
    });
  }
  host.marks.push({
    kind: 'seam',
    path: spline([
      [0, bandH + 1],
      [-0.3, f.rise * 0.6],
      [0.1, f.rise],
    ]),
    w: 1.2,
    dark: 0.36,
    depth: 0.1,
  });
  if (denim)
    host.marks.push({
      kind: 'stitch',
      path: spline([
        [0.5, f.rise * 0.76],
        [0.5, f.rise - 1],
      ]),
      color: sewn,
      alpha: 0.8,
    });

  const bandMaterial = jogger ? { weave: 'rib', color, gauge: 0.8, heather: material.heather } : { ...material, pattern: material.pattern };
  parts.push({
    outline: [...top, ...[...low].reverse()],
    material: bandMaterial,
    grain: denim ? 90 : 0,
    lift: 0.12,
    roll: 0.4,
    rollHeight: 0.12,
    inherit: 0.6,
    crumple: 0.04,
    folds: jogger
      ? Array.from({ length: 26 }, (_, i) => ({
          path: spline([
            [-f.waist + i * (f.waist / 12.5), 0.4],
            [-f.waist + i * (f.waist / 12.5) + rng.range(-0.6, 0.6), bandH + 1],
          ]),
          w: 0.4,
          amp: rng.range(-0.1, 0.12),
          taper: 'none',
        }))
      : [],
    marks: jogger
      ? [{ kind: 'stitch', path: offset(low, 1.4), color: sewn, alpha: 0.4 }]
      : [
          { kind: 'stitch', path: offset(top, -0.4), color: sewn, alpha: denim ? 0.85 : crease ? 0.15 : 0.4 },
          { kind: 'stitch', path: offset(low, 0.45), color: sewn, alpha: denim ? 0.85 : crease ? 0.15 : 0.4 },
          {
            kind: 'seam',
            path: spline([
              [-1.4, 1],
              [-1.4, bandH + 1.4],
            ]),
            dark: 0.35,
            depth: 0.1,
          },
        ],
  });
  if (jogger) {
    parts.push(
      ...cord(
        spline([
          [-1.6, 3.2],
          [-3.4, 7],
          [-4.6, 12],
          [-3.8, 17 + rng.range(-1, 1)],
        ]),
        lighter(color, 0.5),
        0.7,
        { tip: '#c9c2b5' },
      ),
    );
    parts.push(
      ...cord(
        spline([
          [1.6, 3.2],
          [2.6, 8],
          [4.6, 13],
          [4.2, 19 + rng.range(-1, 1)],
        ]),
        lighter(color, 0.5),
        0.7,
        { tip: '#c9c2b5' },
      ),
    );
    return;
  }
  if (loops ?? true)
    for (const x of [-f.waist * 0.86, -f.waist * 0.42, f.waist * 0.42, f.waist * 0.86]) {
      const y = 1.2 - Math.abs(x / f.waist) * 1.2;
      parts.push({
        outline: spline(
          [
            [x - 0.65, y - 0.5, 1],
            [x + 0.65, y - 0.5, 1],
            [x + 0.6, y + bandH + 1, 1],
            [x - 0.7, y + bandH + 1, 1],
          ],
          { closed: true },
        ),
        material,
        grain: 0,
        lift: 0.18,
        roll: 0.3,
        rollHeight: 0.12,
        inherit: 0.6,
        crumple: 0,
        marks: denim
          ? [
              {
                kind: 'stitch',
                path: [
                  [x - 0.3, y],
                  [x - 0.3, y + bandH],
                ],
                color: sewn,
                alpha: 0.7,
              },
              {
                kind: 'stitch',
                path: [
                  [x + 0.3, y],
                  [x + 0.3, y + bandH],
                ],
                color: sewn,
                alpha: 0.7,
              },
            ]
          : [],
      });
    }
  if (denim) {
    parts.push(...button(1.1, bandH * 0.5 + 1.3, 1, metal, { metal: true }));
    for (const s of [-1, 1]) parts.push(rivet(s * f.waist * 0.54, bandH + 1.8, 0.38, metal), rivet(s * (f.hip - 1.4), bandH + 7.4, 0.38, metal));
  } else if (!crease) parts.push(...button(1.2, bandH * 0.5 + 1.3, 0.9, darker(color, 0.35)));
}
