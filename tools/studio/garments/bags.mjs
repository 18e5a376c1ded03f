// Bags lying on their back: tote, flap bag, hobo, backpack, bucket, duffel.

import { band, ellipse, inset, offset, roundRect, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { patch, patchPocket, rivet, zip } from './fittings.mjs';

const ring = (x, y, r, metal, t = 0.5) => ({
  outline: [ellipse(x, y, r, r, 28), ellipse(x, y, r - t, r - t, 24)],
  material: { weave: 'metal', color: metal },
  lift: 0.12,
  roll: t * 0.8,
  rollHeight: t * 0.6,
  inherit: 0.2,
});

function strapPart(path, width, material, sewn) {
  return {
    outline: band(path, width),
    material,
    along: path,
    lift: 0.3,
    roll: 0.4,
    rollHeight: 0.24,
    inherit: 0.3,
    crumple: 0.02,
    marks: sewn
      ? [
          { kind: 'stitch', path: offset(path, width / 2 - 0.35), color: sewn, alpha: 0.6 },
          { kind: 'stitch', path: offset(path, -width / 2 + 0.35), color: sewn, alpha: 0.6 },
        ]
      : [],
  };
}

export function bag({ seed, kind = 'tote', color, weave = 'leather', pattern, trim, metal = '#cfae6d', print, accent }) {
  const rng = random(seed);
  const material = { weave, color, pattern };
  const edge = trim ?? color;
  const leather = {
    weave: trim ? 'leather' : weave === 'canvas' || weave === 'straw' ? 'leather' : weave,
    color: trim ?? (weave === 'canvas' || weave === 'straw' ? '#8a5f3a' : color),
  };
  const sewn = lightness(color) > 0.45 ? darker(color, 0.3) : lighter(color, 0.2);
  const parts = KINDS[kind]({ rng, material, leather, edge, sewn, metal, print, color, weave, accent });
  return { seed, parts, wobble: 0.4, wobbleLength: 18, puff: { body: { radius: 2.2, height: 2 } } };
}

const KINDS = {
  tote({ rng, material, leather, sewn, print, weave }) {
    const parts = [];
    const w = 19;
    const h = 37;
    const handle = (lift, dx, top) => {
      const p = spline([
        [-9 + dx, 3],
        [-9.4 + dx, -8],
        [-5.6 + dx, top],
        [1 + dx, top - 1.6],
        [6.6 + dx, top + 0.6],
        [9.6 + dx, -8],
        [9 + dx, 3],
      ]);
      return { ...strapPart(p, 2.6, weave === 'canvas' ? material : leather, sewn), lift };
    };
    parts.push(handle(0, 1.4, -20));
    parts.push({
      outline: shape([
        [-w + 0.3, 1, 1],
        [0, -1.2],
        [w - 0.3, 1, 1],
        [w - 3, 4],
        [-w + 3, 4],
      ]),
      material,
      tint: 0.6,
      lift: 0,
      inherit: 0,
    });
    const folds = [
      {
        path: spline([
          [-w + 1, h - 2],
          [-w + 8, h - 9],
          [-w + 11, h - 18],
        ]),
        w: 2,
        amp: 0.3,
        taper: 'end',
      },
      {
        path: spline([
          [w - 1, h - 2],
          [w - 8, h - 8],
          [w - 12, h - 20],
        ]),
        w: 2,
        amp: 0.3,
        taper: 'end',
      },
      {
        path: spline([
          [-9, 6],
          [-7, 16],
          [-10, 26],
        ]),
        w: 2.4,
        amp: 0.24,
      },
      {
        path: spline([
          [9, 6],
          [6, 18],
          [8, 30],
        ]),
        w: 2.4,
        amp: -0.22,
      },
    ];
    parts.push({
      outline: shape([
        [-w, 0.6, 1],
        [0, 2],
        [w, 0.6, 1],
        [w + 0.5, h * 0.5],
        [w - 0.8, h - 1],
        [w - 2.4, h, 1],
        [0, h + 0.8],
        [-w + 2.4, h, 1],
        [-w + 0.8, h - 1],
        [-w - 0.5, h * 0.5],
      ]),
      group: 'body',
      material,
      lift: 0.2,
      roll: 0.6,
      rollHeight: 0.2,
      folds,
      crumple: weave === 'straw' ? 0.06 : 0.2,
      marks: [
        {
          kind: 'stitch',
          path: spline([
            [-w, 4],
            [0, 5.2],
            [w, 4],
          ]),
          color: sewn,
          alpha: 0.6,
        },
        ...(print ? print({ neck: 6, chest: 18 }, 18) : []),
      ],
    });
    parts.push(handle(0.35, -1 + rng.range(-0.5, 0.5), -14));
    for (const s of [-1, 1])
      parts.push({
        outline: roundRect(s * 9 - 1, 5, 3.4, 4.6, 0.3),
        material: weave === 'canvas' ? material : leather,
        lift: 0.1,
        roll: 0.3,
        rollHeight: 0.1,
        inherit: 0.9,
        marks: [
          {
            kind: 'stitch',
            path: [
              [s * 9 - 2.2, 3.4],
              [s * 9 + 0.2, 6.6],
            ],
            color: sewn,
          },
          {
            kind: 'stitch',
            path: [
              [s * 9 + 0.2, 3.4],
              [s * 9 - 2.2, 6.6],
            ],
            color: sewn,
          },
        ],
      });
    if (weave !== 'canvas') parts.push(patch(0, 9, 5, 1.6, leather.color, { ink: lighter(leather.color, 0.3) }));
    return parts;
  },
  flap({ rng, material, leather, sewn, metal }) {
    const parts = [];
    const w = 13;
    const strap = spline([
      [-w + 0.4, 2],
      [-w - 4, -9],
      [-w + 2, -21],
      [-2, -24.5 + rng.range(-1, 1)],
      [9, -21],
      [15.4, -11],
      [w - 0.4, 2],
    ]);
    parts.push({ ...strapPart(strap, 1.7, leather, sewn), lift: 0 });
    parts.push({
      outline: shape([
        [-w, 0, 1],
        [0, -0.6],
        [w, 0, 1],
        [w + 0.8, 10],
        [w - 0.4, 17.4],
        [w - 2, 18.4],
        [0, 18.9],
        [-w + 2, 18.4],
        [-w + 0.4, 17.4],
        [-w - 0.8, 10],
      ]),
      group: 'body',
      material,
      lift: 0.3,
      roll: 0.7,
      rollHeight: 0.3,
      marks: [
        {
          kind: 'stitch',
          path: spline([
            [-w + 0.3, 14],
            [-w + 1.6, 17.4],
            [0, 18],
            [w - 1.6, 17.4],
            [w - 0.3, 14],
          ]),
          color: sewn,
          alpha: 0.6,
        },
      ],
    });
    const f = shape([
      [-w - 0.2, -0.4, 1],
      [0, -1.2],
      [w + 0.2, -0.4, 1],
      [w + 0.6, 6.6],
      [w - 2.6, 11.4],
      [5, 12.6],
      [0, 12.9],
      [-5, 12.6],
      [-w + 2.6, 11.4],
      [-w - 0.6, 6.6],
    ]);
    parts.push({
      outline: f,
      material,
      lift: 0.4,
      roll: 0.8,
      rollHeight: 0.36,
      inherit: 0.8,
      marks: [{ kind: 'stitch', path: [...inset(f, 0.5)], color: sewn, alpha: 0.6 }],
      folds: [
        {
          path: spline([
            [-w, 1.6],
            [0, 0.8],
            [w, 1.6],
          ]),
          w: 1.4,
          amp: 0.24,
          taper: 'none',
        },
      ],
    });
    parts.push(
      {
        outline: roundRect(0, 12.4, 3.4, 2.2, 0.7),
        material: { weave: 'metal', color: metal },
        lift: 0.2,
        roll: 0.6,
        rollHeight: 0.36,
        inherit: 0.3,
      },
      {
        outline: ellipse(0, 12.4, 0.7, 0.5, 18),
        material: { weave: 'metal', color: darker(metal, 0.15) },
        lift: 0.1,
        roll: 0.3,
        rollHeight: 0.2,
        inherit: 0.3,
      },
    );
    for (const s of [-1, 1]) parts.push(ring(s * (w - 0.2), 1.2, 1.25, metal, 0.38));
    return parts;
  },
  hobo({ rng, material, leather, sewn, metal, color }) {
    const parts = [];
    const strap = spline([
      [-15, 3],
      [-13, -8],
      [-6, -16],
      [1, -18 + rng.range(-0.6, 0.6)],
      [8, -15],
      [13.6, -7],
      [15, 3],
    ]);
    parts.push({ ...strapPart(strap, 3, leather, sewn), lift: 0 });
    parts.push({
      outline: shape([
        [-16, 0, 1],
        [-8, 2.4],
        [0, 3.2],
        [8, 2.4],
        [16, 0, 1],
        [17.4, 6],
        [13.6, 14.4],
        [5, 18.6],
        [-5, 18.6],
        [-13.6, 14.4],
        [-17.4, 6],
      ]),
      group: 'body',
      material,
      lift: 0.3,
      roll: 0.8,
      rollHeight: 0.3,
      folds: [
        {
          path: spline([
            [-14, 2],
            [-9, 7],
            [-2, 9],
          ]),
          w: 1.4,
          amp: 0.36,
          taper: 'end',
        },
        {
          path: spline([
            [14, 2],
            [9, 8],
            [3, 11],
          ]),
          w: 1.4,
          amp: 0.36,
          taper: 'end',
        },
        {
          path: spline([
            [-15, 7],
            [-9, 12],
            [-3, 13.6],
          ]),
          w: 1.5,
          amp: 0.26,
          taper: 'end',
        },
        {
          path: spline([
            [15, 7],
            [10, 13],
            [4, 15],
          ]),
          w: 1.5,
          amp: 0.26,
          taper: 'end',
        },
      ],
      marks: [
        {
          kind: 'stitch',
          path: spline([
            [-16, 6],
            [-12.6, 13.4],
            [-5, 17.4],
            [5, 17.4],
            [12.6, 13.4],
            [16, 6],
          ]),
          color: sewn,
          alpha: 0.5,
        },
      ],
    });
    parts.push(
      ...zip(
        spline([
          [-14, 1.6],
          [-8, 3.6],
          [0, 4.4],
          [8, 3.6],
          [14, 1.6],
        ]),
        { tape: darker(color, 0.2), metal, width: 1.3, pull: 0.9 },
      ),
    );
    for (const s of [-1, 1]) parts.push(ring(s * 15.2, 1.6, 1.5, metal, 0.45));
    return parts;
  },
  backpack({ material, leather, sewn, metal, color }) {
    const parts = [];
    const loop = spline([
      [-3, 1],
      [-2.6, -3],
      [0, -4.2],
      [2.6, -3],
      [3, 1],
    ]);
    for (const s of [-1, 1]) {
      const p = spline([
        [s * 7, 3],
        [s * 14, 0],
        [s * 18.4, 12],
        [s * 17.6, 28],
        [s * 13, 39],
      ]);
      parts.push({ ...strapPart(p, 3.6, material, sewn), lift: 0 });
    }
    parts.push({ ...strapPart(loop, 2, leather, sewn), lift: 0 });
    parts.push({
      outline: shape([
        [0, -0.6],
        [9, 0.6],
        [13.4, 6],
        [14.6, 20],
        [14.8, 38],
        [13, 42.6],
        [0, 43.6],
        [-13, 42.6],
        [-14.8, 38],
        [-14.6, 20],
        [-13.4, 6],
        [-9, 0.6],
      ]),
      group: 'body',
      material,
      lift: 0.3,
      roll: 1,
      rollHeight: 0.3,
      crumple: 0.24,
      folds: [
        {
          path: spline([
            [-13, 18],
            [-4, 20],
            [10, 17],
          ]),
          w: 2,
          amp: 0.24,
        },
      ],
      marks: [],
    });
    parts.push(
      ...zip(
        spline([
          [-13, 17],
          [-12, 6.4],
          [-7, 2.6],
          [0, 1.9],
          [7, 2.6],
          [12, 6.4],
          [13, 17],
        ]),
        { tape: darker(color, 0.25), metal, width: 1.5, pull: 0.7 },
      ),
    );
    parts.push(...patchPocket(0, 22, 22, 18, material, { thread: sewn, round: 3, hem: 0, lift: 0.3, crumple: 0.14 }));
    parts.push(
      ...zip(
        spline([
          [-10.4, 24],
          [0, 24.4],
          [10.4, 24],
        ]),
        { tape: darker(color, 0.25), metal, width: 1.4, pull: 0.86 },
      ),
    );
    parts.push(patch(0, 13.4, 6, 3, leather.color, { thread: sewn, ink: darker(leather.color, 0.4) }));
    return parts;
  },
  bucket({ rng, material, leather, sewn, metal }) {
    const parts = [];
    const strap = spline([
      [-11, 6],
      [-16.5, -4],
      [-13, -17],
      [-1, -21 + rng.range(-1, 1)],
      [11, -17],
      [16, -5],
      [11, 6],
    ]);
    parts.push({ ...strapPart(strap, 1.6, leather, sewn), lift: 0 });
    parts.push({
      outline: shape([
        [-11, 0.6],
        [-5, -1],
        [0, 0],
        [5, -1],
        [11, 0.6],
        [9, 4],
        [-9, 4],
      ]),
      material,
      tint: 0.55,
      lift: 0,
      inherit: 0,
    });
    parts.push({
      outline: shape([
        [-11.4, 1.2],
        [-6, 2.6],
        [0, 1.8],
        [6, 2.6],
        [11.4, 1.2],
        [11, 8],
        [13.2, 22],
        [12.6, 25.4, 1],
        [0, 27.4],
        [-12.6, 25.4, 1],
        [-13.2, 22],
        [-11, 8],
      ]),
      group: 'body',
      material,
      lift: 0.3,
      roll: 0.7,
      rollHeight: 0.3,
      folds: Array.from({ length: 9 }, (_, i) => ({
        path: spline([
          [-10 + i * 2.5, 2],
          [-10 + i * 2.5 + rng.range(-0.5, 0.5), 6.4],
          [-11.6 + i * 2.9, 14 + rng.range(-2, 3)],
        ]),
        w: 0.9,
        amp: i % 2 ? -0.3 : 0.34,
        taper: 'end',
      })),
      marks: [
        {
          kind: 'seam',
          path: spline([
            [-13.2, 21],
            [0, 23],
            [13.2, 21],
          ]),
          dark: 0.26,
        },
        {
          kind: 'stitch',
          path: spline([
            [-13.2, 20.4],
            [0, 22.4],
            [13.2, 20.4],
          ]),
          color: sewn,
          alpha: 0.6,
        },
      ],
    });
    const c = spline([
      [-11.2, 5.4],
      [-4, 6.4],
      [4, 6.4],
      [11.2, 5.4],
    ]);
    parts.push({ outline: band(c, 0.7), material: leather, along: c, lift: 0.14, roll: 0.3, rollHeight: 0.24, inherit: 0.6 });
    for (const e of [
      spline([
        [-1, 6.4],
        [-2.4, 10],
        [-3, 15],
      ]),
      spline([
        [1, 6.4],
        [2, 11],
        [1.6, 16.6],
      ]),
    ])
      parts.push({ outline: band(e, 0.7), material: leather, along: e, lift: 0.2, roll: 0.3, rollHeight: 0.24, inherit: 0.4 });
    for (const s of [-1, 1]) parts.push(ring(s * 11, 5.8, 1.1, metal, 0.36));
    return parts;
  },
  duffel({ material, leather, sewn, metal, color }) {
    const parts = [];
    const handle = (dy) =>
      spline([
        [-9, 8],
        [-9.2, -3 + dy],
        [-5, -8.6 + dy],
        [0, -9.8 + dy],
        [5, -8.6 + dy],
        [9.2, -3 + dy],
        [9, 8],
      ]);
    parts.push({ ...strapPart(handle(-2), 2.3, leather, sewn), lift: 0 });
    parts.push({
      outline: shape([
        [-20, 2],
        [0, 0.4],
        [20, 2],
        [23.6, 6],
        [24.4, 14],
        [23, 24],
        [19, 26.4],
        [0, 27],
        [-19, 26.4],
        [-23, 24],
        [-24.4, 14],
        [-23.6, 6],
      ]),
      group: 'body',
      material,
      lift: 0.3,
      roll: 1,
      rollHeight: 0.4,
      crumple: 0.26,
      folds: [
        {
          path: spline([
            [-20, 10],
            [-10, 13],
            [-2, 12],
          ]),
          w: 2,
          amp: 0.3,
        },
        {
          path: spline([
            [20, 12],
            [14, 16],
            [6, 17],
          ]),
          w: 2,
          amp: 0.3,
        },
      ],
      marks: [
        {
          kind: 'seam',
          path: spline([
            [-19, 2.4],
            [-20, 14],
            [-18.6, 26],
          ]),
          dark: 0.26,
        },
        {
          kind: 'seam',
          path: spline([
            [19, 2.4],
            [20, 14],
            [18.6, 26],
          ]),
          dark: 0.26,
        },
      ],
    });
    parts.push(
      ...zip(
        spline([
          [-20, 4],
          [0, 2.8],
          [20, 4],
        ]),
        { tape: darker(color, 0.25), metal, width: 1.8, pull: 0.9 },
      ),
    );
    for (const s of [-1, 1])
      parts.push({
        ...strapPart(
          spline([
            [s * 9, 3],
            [s * 9.1, 14],
            [s * 9, 26.6],
          ]),
          2.6,
          leather,
          sewn,
        ),
        clip: 'body',
      });
    parts.push(strapPart(handle(3), 2.3, leather, sewn));
    for (const s of [-1, 1]) for (const y of [9, 12]) parts.push(rivet(s * 9, y, 0.45, metal));
    return parts;
  },
};
