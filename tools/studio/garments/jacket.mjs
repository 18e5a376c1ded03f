// Casual jackets: bomber, denim, chore, leather, puffer, gilet, shell.

import { band, between, flip, inset, lerp, offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { sleevePose } from './pose.mjs';
import { button, patchPocket, rivet, zip } from './fittings.mjs';
import { longSleeve, torso, torsoFolds } from './torso.mjs';

const CUTS = {
  bomber: { neck: 8, depth: 7, shoulder: 25.5, slope: 5.6, chest: 30, waist: 30.5, hem: 28, armhole: 28, length: 60 },
  denim: { neck: 7.8, depth: 5.4, shoulder: 24, slope: 5, chest: 28, waist: 27, hem: 25.5, armhole: 26.5, length: 58 },
  chore: { neck: 8, depth: 5.6, shoulder: 25.5, slope: 5.2, chest: 30, waist: 30, hem: 30.5, armhole: 28, length: 73 },
  leather: { neck: 8, depth: 6, shoulder: 23, slope: 4.8, chest: 27.5, waist: 26, hem: 26, armhole: 26, length: 60 },
  puffer: { neck: 8.4, depth: 5, shoulder: 26, slope: 6, chest: 32, waist: 32, hem: 30.5, armhole: 29, length: 66 },
  gilet: { neck: 8.4, depth: 5, shoulder: 21, slope: 5, chest: 29, waist: 29, hem: 28, armhole: 27, length: 64 },
  shell: { neck: 8.6, depth: 6.4, shoulder: 26, slope: 5.8, chest: 31, waist: 31, hem: 31.5, armhole: 29, length: 78 },
};

const CLOTH = { bomber: 'nylon', denim: 'denim', chore: 'canvas', leather: 'leather', puffer: 'nylon', gilet: 'nylon', shell: 'nylon' };

export function jacket({
  seed,
  color,
  kind = 'bomber',
  weave,
  pattern,
  heather,
  lining,
  trim,
  metal = '#b9b4aa',
  thread,
  buttons,
  wash = 0,
  collarColor,
  short,
}) {
  const rng = random(seed);
  const cut = { ...CUTS[kind] };
  if (short) cut.length -= short;
  const t = torso(cut, 'crew');
  const { c } = t;
  const material = { weave: weave ?? CLOTH[kind], color, pattern, heather };
  const quilted = kind === 'puffer' || kind === 'gilet';
  const sewn = thread ?? (kind === 'denim' ? '#b98a52' : lightness(color) > 0.45 ? darker(color, 0.25) : lighter(color, 0.2));
  const inside = lining ?? darker(color, 0.3);
  const rib = { weave: 'rib', color: trim ?? darker(color, 0.12), gauge: 0.62 };
  const ribbed = kind === 'bomber';
  const parts = [];

  parts.push({
    outline: shape([
      [-c.neck - 1, 0, 1],
      [0, -2.6],
      [c.neck + 1, 0, 1],
      [c.neck, c.depth * 0.7],
      [0, c.depth + 3],
      [-c.neck, c.depth * 0.7],
    ]),
    material: { weave: quilted || kind === 'shell' ? 'nylon' : 'twill', color: inside },
    tint: 0.7,
    lift: 0,
    inherit: 0,
    rollHeight: 0.05,
  });
  parts.push({
    outline: [
      [-2.6, 1.4],
      [2.6, 1.4],
      [2.6, 3.6],
      [-2.6, 3.6],
    ],
    material: { weave: 'poplin', color: '#e9e1d2' },
    tint: 0.92,
    lift: 0.05,
    roll: 0.1,
    rollHeight: 0.03,
    marks: [
      {
        kind: 'line',
        path: [
          [-1.5, 2.5],
          [1.5, 2.5],
        ],
        color: '#5f594f',
        w: 0.36,
        alpha: 0.7,
      },
    ],
  });
  if (kind === 'shell') hood(parts, material, inside);

  const sleeveSeams = [];
  if (kind !== 'gilet')
    for (const left of [true, false]) {
      const f = left ? flip : (p) => p;
      const s = longSleeve(c, {
        length: ribbed ? 55 : quilted ? 58 : kind === 'denim' ? 59 : 60,
        top: c.armhole - c.slope - 1.4,
        wrist: quilted ? 14 : ribbed ? 12.5 : 13,
        ...sleevePose(seed, left, 63 + rng.range(-2, 2), rng.range(4, 10)),
        puff: quilted ? 2 : 1.2,
      });
      if (ribbed) {
        const [o, i, d] = [s.o, s.i, s.dir];
        const end = (q) => [lerp(o, i, q)[0] + d[0] * 6, lerp(o, i, q)[1] + d[1] * 6];
        parts.push({
          outline: f(
            shape([
              [...lerp(o, i, 0.06), 1],
              [...lerp(o, i, 0.94), 1],
              [...end(0.84), 1],
              [...end(0.16), 1],
            ]),
          ),
          material: rib,
          grain: left ? -s.grain : s.grain,
          lift: 0,
          roll: 0.7,
          rollHeight: 0.24,
          inherit: 0,
        });
      }
      const part = {
        outline: f(s.outline),
        group: 'body',
        material,
        grain: left ? -s.grain : s.grain,
        origin: f([[c.shoulder, c.slope]])[0],
        lift: 0.08,
        roll: 0.5,
        rollHeight: 0.1,
        folds: quilted ? [] : s.folds.map((x) => ({ ...x, path: f(x.path), amp: x.amp * rng.range(0.9, 1.5) })),
        marks: ribbed ? [] : [{ kind: 'stitch', path: offset(f(s.cuff), left ? -2 : 2), color: sewn, alpha: 0.5 }],
      };
      if (quilted) {
        for (let k = 1; k < 9; k++) {
          const q = k / 9;
          const a = q < 0.52 ? lerp([c.shoulder, c.slope], s.elbow, q / 0.52) : lerp(s.elbow, s.o, (q - 0.52) / 0.48);
          const inn = [c.chest, c.armhole];
          const b = q < 0.2 ? null : lerp(inn, s.i, (q - 0.2) / 0.8);
          if (!b) continue;
          const mid = lerp(a, b, 0.5);
          part.marks.push(...baffle(f(spline([a, [mid[0] + s.dir[0] * 0.8, mid[1] + s.dir[1] * 0.8], b]))));
          part.folds.push(...gathers(f([a, b]), rng, f([s.dir])[0]));
        }
        part.folds.push(...part.marks.filter((m) => m.valley).map((m) => m.valley));
        part.marks = part.marks.filter((m) => !m.valley);
      }
      if (kind === 'denim')
        part.marks.push({
          kind: 'stitch',
          path: f(spline([[c.chest - 3, c.armhole - 4], lerp(s.elbow, s.i, 0.12), lerp(s.o, s.i, 0.7)])),
          color: sewn,
          alpha: 0.6,
        });
      parts.push(part);
      sleeveSeams.push(s);
      if (kind === 'denim' || kind === 'chore') {
        const cuff = f(s.cuffBand(kind === 'denim' ? 5 : 0.1, 0.1));
        if (kind === 'denim')
          parts.push({
            outline: cuff,
            material,
            grain: left ? -s.grain : s.grain,
            lift: 0.1,
            roll: 0.3,
            rollHeight: 0.12,
            inherit: 0.5,
            crumple: 0.02,
            marks: [{ kind: 'stitch', path: inset(cuff, 0.35), color: sewn, alpha: 0.7 }],
          });
      }
    }
  if (ribbed) {
    const top = spline([
      [-c.hem - 0.2, c.length - 1],
      [0, c.length - 0.4],
      [c.hem + 0.2, c.length - 1],
    ]);
    const low = spline([
      [-c.hem + 1.4, c.length + 6],
      [0, c.length + 6.8],
      [c.hem - 1.4, c.length + 6],
    ]);
    parts.push({ outline: [...top, ...low.reverse()], material: rib, lift: 0, roll: 0.7, rollHeight: 0.24, inherit: 0.2 });
  }
  const marks = [
    { kind: 'seam', path: offset(t.armhole, 0.3), depth: 0.08 },
    { kind: 'seam', path: flip(offset(t.armhole, 0.3)), depth: 0.08 },
  ];
  if (kind !== 'bomber' && !quilted) {
    marks.push(
      { kind: 'stitch', path: offset(t.armhole, 0.8), color: sewn, alpha: 0.5 },
      { kind: 'stitch', path: flip(offset(t.armhole, 0.8)), color: sewn, alpha: 0.5 },
    );
    if (kind !== 'denim') marks.push({ kind: 'stitch', path: offset(t.hem, 1.8), color: sewn, alpha: 0.5 });
  }
  const folds = quilted ? [] : torsoFolds(c, rng, kind === 'shell' || kind === 'bomber' ? 1.35 : 1);
  const body = {
    outline: t.outline,
    group: 'body',
    material,
    lift: 0.06,
    roll: 0.45,
    rollHeight: 0.08,
    folds,
    marks,
    fades: wash ? [-1, 1].map((s) => ({ x: s * c.chest * 0.5, y: c.armhole + 8, rx: 11, ry: 18, amount: wash, to: [0.5, 0.55, 0.62] })) : [],
  };
  parts.push(body);
  if (quilted) {
    for (let y = c.depth + 6; y < c.length - 3; y += 7.4) {
      for (const s of [-1, 1]) {
        const edge = y < c.armhole ? c.shoulder - 2 + Math.max(0, y - 12) * 0.5 : c.chest;
        const line = spline([
          [s * 1, y + rng.range(-0.3, 0.3)],
          [s * edge * 0.5, y + 1 + rng.range(-0.3, 0.3)],
          [s * (edge + 1), y],
        ]);
        const bs = baffle(line);
        marks.push(...bs.filter((m) => !m.valley));
        folds.push(...bs.filter((m) => m.valley).map((m) => m.valley));
        folds.push(
          ...gathers(
            [
              [s * 2, y],
              [s * edge, y],
            ],
            rng,
            [0, 1],
          ),
        );
      }
    }
  }

  if (kind === 'denim') denimFront(parts, body, c, material, sewn, metal);
  else if (kind === 'chore') {
    const bead = buttons ?? darker(color, 0.4);
    placket(parts, c, material, sewn);
    for (let i = 0; i < 5; i++) parts.push(...button(0, c.depth + 5 + i * 13.6, 0.95, bead));
    parts.push(...patchPocket(14.4, 25, 13, 14.5, material, { thread: sewn, round: 1.6, hem: 2.2, lift: 0.12 }));
    for (const s of [-1, 1])
      parts.push(...patchPocket(s * 15.6, 46.5, 18, 20, material, { thread: sewn, round: 1.8, hem: 2.4, lift: 0.12, degrees: s * 0.8 }));
  } else {
    const line = spline([
      [0.2, c.depth - (kind === 'leather' ? 0 : 1.6)],
      [rng.range(-0.5, 0.5), c.length * 0.5],
      [0, c.length + (ribbed ? 6.4 : 0.6)],
    ]);
    parts.push(...zip(line, { tape: darker(color, 0.25), metal, width: kind === 'shell' ? 2.4 : 1.9 }));
    for (const s of [-1, 1]) {
      const g = s < 0 ? flip : (p) => p;
      const pocket = g(
        spline([
          [12, c.length - 24],
          [15.4, c.length - 15],
          [18.6, c.length - 7],
        ]),
      );
      if (quilted)
        parts.push(
          ...zip(
            g(
              spline([
                [15, c.length - 24],
                [17.6, c.length - 10],
              ]),
            ),
            { tape: darker(color, 0.3), metal, width: 1.1, pull: 0.02 },
          ),
        );
      else
        parts.push({
          outline: band(pocket, 2.4),
          material,
          along: pocket,
          lift: 0.12,
          roll: 0.4,
          rollHeight: 0.14,
          inherit: 0.9,
          crumple: 0,
          marks: [
            { kind: 'seam', path: offset(pocket, s * 1), dark: 0.4, depth: 0.1 },
            { kind: 'stitch', path: offset(pocket, -s * 0.8), color: sewn, alpha: 0.5 },
          ],
        });
    }
  }
  finishNeck(parts, c, { kind, material: collarColor ? { weave: 'corduroy', color: collarColor } : material, rib, sewn, rng });
  return { seed, parts, wobble: quilted ? 0.8 : 0.55, puff: { body: quilted ? { radius: 2, height: 1.8 } : { radius: 1.5, height: 0.9 } } };
}

/** A quilting line: deep and soft, with thread at the bottom. */
function baffle(path) {
  return [{ kind: 'seam', path, depth: 0.1, dark: 0.3 }, { valley: { path, w: 1.7, amp: -0.42, taper: 'none' } }];
}

/** Little puckers on both sides of a quilting line. */
function gathers([a, b], rng, dir) {
  return Array.from({ length: 7 }, () => {
    const p = lerp(a, b, rng.next());
    const l = rng.range(1.4, 3.2) * (rng.chance(0.5) ? 1 : -1);
    return { path: [p, [p[0] + dir[0] * l + rng.range(-0.6, 0.6), p[1] + dir[1] * l + rng.range(-0.4, 0.4)]], w: 0.7, amp: -0.14, taper: 'end' };
  });
}

function placket(parts, c, material, sewn) {
  parts.push({
    outline: shape([
      [-2.4, c.depth - 0.4, 1],
      [2.4, c.depth - 0.4, 1],
      [2.2, c.length * 0.5],
      [2.4, c.length + 0.6, 1],
      [-2.4, c.length + 0.6, 1],
      [-2.5, c.length * 0.5],
    ]),
    clip: 'body',
    material,
    lift: 0.14,
    roll: 0.35,
    rollHeight: 0.08,
    inherit: 1,
    crumple: 0.04,
    marks: [-1.9, 1.9].map((x) => ({
      kind: 'stitch',
      path: [
        [x, c.depth],
        [x - 0.1, c.length * 0.5],
        [x, c.length],
      ],
      color: sewn,
      alpha: 0.6,
    })),
  });
}

function denimFront(parts, body, c, material, sewn, metal) {
  const yoke = spline([
    [-c.chest + 3, 20],
    [0, 20.6],
    [c.chest - 3, 20],
  ]);
  body.marks.push(
    { kind: 'seam', path: yoke, depth: 0.08, dark: 0.25 },
    { kind: 'stitch', path: offset(yoke, -0.4), color: sewn, alpha: 0.85 },
    { kind: 'stitch', path: offset(yoke, -0.85), color: sewn, alpha: 0.85 },
  );
  for (const s of [-1, 1])
    for (const [x0, x1] of [
      [6.5, 9.8],
      [19.5, 15.2],
    ]) {
      const v = spline([
        [s * x0, 25],
        [s * x1, c.length],
      ]);
      body.marks.push(
        { kind: 'seam', path: v, depth: 0.06, dark: 0.2 },
        { kind: 'stitch', path: offset(v, 0.4), color: sewn, alpha: 0.85 },
        { kind: 'stitch', path: offset(v, -0.4), color: sewn, alpha: 0.85 },
      );
    }
  placket(parts, c, material, sewn);
  const low = spline([
    [-c.hem - 0.2, c.length - 0.4],
    [0, c.length + 0.2],
    [c.hem + 0.2, c.length - 0.4],
  ]);
  parts.push({
    outline: [
      ...offset(low, 0.6),
      ...spline([
        [-c.hem - 0.1, c.length + 4.4],
        [0, c.length + 5],
        [c.hem + 0.1, c.length + 4.4],
      ]).reverse(),
    ],
    material,
    grain: 90,
    lift: 0.1,
    roll: 0.35,
    rollHeight: 0.14,
    inherit: 0.4,
    crumple: 0.03,
    marks: [
      { kind: 'stitch', path: offset(low, -0.2), color: sewn, alpha: 0.85 },
      { kind: 'stitch', path: offset(low, -3.8), color: sewn, alpha: 0.85 },
    ],
  });
  for (let i = 0; i < 6; i++) parts.push(...button(0, c.depth + 4.4 + i * 9.9, 0.95, metal, { metal: true }));
  for (const s of [-1, 1]) {
    parts.push(...patchPocket(s * 13.2, 20.2, 11.5, 12.5, material, { thread: sewn, point: 2.6, hem: 0, flap: 5 }));
    parts.push(...button(s * 13.2, 23.3, 0.75, metal, { metal: true }), rivet(s * 7.4, 20.8, 0.3, metal), rivet(s * 19, 20.8, 0.3, metal));
  }
}

function finishNeck(parts, c, { kind, material, rib, sewn, rng }) {
  if (kind === 'bomber') {
    const outer = spline([
      [-1.2, c.depth + 0.6],
      [-c.neck * 0.7, c.depth * 0.72],
      [-c.neck - 0.6, 0.2],
      [-c.neck - 0.2, -3.2],
      [-c.neck * 0.5, -4.6],
      [0, -5],
      [c.neck * 0.5, -4.6],
      [c.neck + 0.2, -3.2],
      [c.neck + 0.6, 0.2],
      [c.neck * 0.7, c.depth * 0.72],
      [1.2, c.depth + 0.6],
    ]);
    const inner = spline([
      [1, c.depth - 4.6],
      [c.neck * 0.5, c.depth * 0.14],
      [c.neck * 0.66, -1.6],
      [0, -2.2],
      [-c.neck * 0.66, -1.6],
      [-c.neck * 0.5, c.depth * 0.14],
      [-1, c.depth - 4.6],
    ]);
    parts.push({
      outline: [...outer, ...inner],
      material: rib,
      along: outer,
      across: true,
      lift: 0.2,
      roll: 0.8,
      rollHeight: 0.3,
      inherit: 0.3,
      crumple: 0.03,
    });
    return;
  }
  if (kind === 'puffer' || kind === 'gilet') {
    const h = 7.5;
    parts.push({
      outline: shape([
        [-c.neck + 0.4, -h + 1, 1],
        [0, -h - 0.8],
        [c.neck - 0.4, -h + 1, 1],
        [c.neck - 0.6, -h + 3.6],
        [0, -h + 4.8],
        [-c.neck + 0.6, -h + 3.6],
      ]),
      material,
      tint: 0.5,
      lift: 0,
      inherit: 0,
    });
    const outline = shape([
      [-c.neck + 0.4, -h + 0.8, 1],
      [-c.neck * 0.4, -h + 2.8],
      [c.neck * 0.4, -h + 2.8],
      [c.neck - 0.4, -h + 0.8, 1],
      [c.neck + 1.6, -2],
      [c.neck + 1, 2.4, 1],
      [c.neck * 0.5, c.depth - 0.2],
      [0, c.depth + 1],
      [-c.neck * 0.5, c.depth - 0.2],
      [-c.neck - 1, 2.4, 1],
      [-c.neck - 1.6, -2],
    ]);
    const mid = spline([
      [-c.neck - 1.4, -2],
      [0, 0.4],
      [c.neck + 1.4, -2],
    ]);
    parts.push({
      outline,
      material,
      lift: 0.3,
      roll: 1,
      rollHeight: 0.4,
      inherit: 0.2,
      puff: [1.4, 0.7],
      folds: [{ path: mid, w: 1.4, amp: -0.35, taper: 'none' }, ...gathers([mid[0], mid[mid.length - 1]], rng, [0, 1])],
      marks: [{ kind: 'seam', path: mid }],
    });
    parts.push(
      ...zip(
        spline([
          [0.2, -h + 3],
          [0, c.depth + 3],
        ]),
        { tape: darker(material.color, 0.25), width: 1.8, pull: 0 },
      ),
    );
    return;
  }
  if (kind === 'shell') {
    for (const s of [-1, 1]) {
      const g = s < 0 ? flip : (p) => p;
      const outer = spline([
        [0.3, c.depth + 3],
        [7.4, 7.6],
        [11.6, 3.2],
        [14.4, -7],
        [12.6, -19],
        [6, -26.6],
        [-0.4, -28],
      ]);
      const inner = spline([
        [-0.6, -23.4],
        [4.8, -21.4],
        [8.8, -13.6],
        [9.2, -5],
        [6, 2],
        [0.6, c.depth - 3.4],
      ]);
      parts.push({
        outline: g([...outer, ...inner]),
        material,
        grain: s * 12,
        lift: 0.25,
        roll: 0.6,
        rollHeight: 0.2,
        inherit: 0.25,
        puff: [1.4, 0.4],
        folds: [
          {
            path: g(
              spline([
                [12, 2],
                [10, -5],
                [11, -14],
              ]),
            ),
            w: 1.3,
            amp: 0.26,
          },
          {
            path: g(
              spline([
                [5.5, 8],
                [9, 2.4],
                [12.6, 0],
              ]),
            ),
            w: 1.1,
            amp: 0.24,
          },
        ],
        marks: [{ kind: 'stitch', path: g(offset(inner, 1.9)), color: sewn, alpha: 0.5 }],
      });
    }
    return;
  }
  // Turn-down collar.
  const up = spline([
    [-c.neck - 1.4, 0.4],
    [-c.neck * 0.6, -2.6],
    [0, -3.6],
    [c.neck * 0.6, -2.6],
    [c.neck + 1.4, 0.4],
  ]);
  const low = spline([
    [-c.neck * 0.84, 3],
    [0, 1.2],
    [c.neck * 0.84, 3],
  ]);
  parts.push({
    outline: [...up, ...[...low].reverse()],
    material,
    grain: 90,
    tint: 0.84,
    lift: 0.12,
    roll: 0.5,
    rollHeight: 0.18,
    inherit: 0,
    crumple: 0.02,
  });
  for (const s of [-1, 1]) {
    const leaf = shape([
      [c.neck + 1.5, 0, 1],
      [c.neck + 3, 4.4],
      [c.neck + 2.2, 11.2, 1],
      [c.neck * 0.62, 10, 0],
      [0.4, c.depth - 0.6, 1],
      [c.neck * 0.54, c.depth * 0.5],
      [c.neck * 0.86, -1.6, 1],
    ]);
    const o = s < 0 ? flip(leaf) : leaf;
    parts.push({
      outline: o,
      material,
      grain: s * -34,
      lift: 0.24,
      roll: 0.5,
      rollHeight: 0.18,
      inherit: 0.25,
      crumple: 0.04,
      marks: [{ kind: 'stitch', path: between(offset([...o, o[0]], s * -0.5), 0.08, 0.6), color: sewn, alpha: 0.6 }],
    });
  }
}

function hood(parts, material, inside) {
  parts.push({
    outline: shape([
      [-12, 4, 1],
      [-13.4, -6],
      [-12, -18],
      [-5, -25],
      [0, -26.2],
      [5.4, -25],
      [12.4, -18],
      [13.4, -6],
      [12, 4, 1],
      [0, 12],
    ]),
    material: { ...material, color: inside },
    tint: 0.7,
    lift: 0,
    inherit: 0,
    rollHeight: 0.1,
    crumple: 0.25,
    marks: [
      {
        kind: 'seam',
        path: spline([
          [0, -25],
          [0.6, -10],
          [0, 3],
        ]),
      },
    ],
  });
}
