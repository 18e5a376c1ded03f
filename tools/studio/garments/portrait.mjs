// Portraits made of paper and cloth, lit like the pictures of garments. They have no facial features: only hair, skin
// and clothes are drawn.

import { between, ellipse, offset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter } from '../render/colour.mjs';
import { eyes, mouth } from './face.mjs';

const CUTS = {
  bob: {
    back: [
      [-11.5, 0],
      [-10, -12.5],
      [0, -17.5],
      [10, -12.5],
      [11.5, 0],
      [12, 9],
      [8, 12],
      [-8, 12],
      [-12, 9],
    ],
    front: [
      [-9.6, 3, 1],
      [-11, -4],
      [-9, -12.5],
      [0, -16.8],
      [9, -12.5],
      [11, -4],
      [9.6, 3, 1],
      [8, -4],
      [3.4, -9.4],
      [-2, -11],
      [-7.6, -5],
    ],
  },
  long: {
    back: [
      [-11.5, 0],
      [-10, -12.5],
      [0, -17.5],
      [10, -12.5],
      [11.5, 0],
      [13, 12],
      [14, 24],
      [8, 26],
      [-8, 26],
      [-14, 24],
      [-13, 12],
    ],
    front: [
      [-9.4, 6, 1],
      [-11, -4],
      [-9, -12.5],
      [0, -16.8],
      [9, -12.5],
      [11, -4],
      [9.4, 6, 1],
      [8.4, -3],
      [4, -9],
      [0, -12.8],
      [-4, -9],
      [-8.4, -3],
    ],
  },
  waves: {
    back: [
      [-12, -2],
      [-10, -12.5],
      [0, -17.5],
      [10, -12.5],
      [12, -2],
      [14.5, 6],
      [12.4, 12],
      [14, 18],
      [9, 22],
      [-9, 22],
      [-14, 18],
      [-12.4, 12],
      [-14.5, 6],
    ],
    front: [
      [-9.6, 4, 1],
      [-11.4, -4],
      [-9, -12.5],
      [0, -17],
      [9, -12.5],
      [11.4, -4],
      [9.6, 4, 1],
      [8.6, -3],
      [6, -8],
      [1, -10.6],
      [-4, -12.2],
      [-8, -6],
    ],
  },
  fringe: {
    back: [
      [-11, 2],
      [-10, -12.5],
      [0, -17.5],
      [10, -12.5],
      [11, 2],
      [11.4, 14],
      [7, 16],
      [-7, 16],
      [-11.4, 14],
    ],
    front: [
      [-9.8, 6, 1],
      [-11, -4],
      [-9, -12.5],
      [0, -16.8],
      [9, -12.5],
      [11, -4],
      [9.8, 6, 1],
      [8.8, -3],
      [7.4, -4.4, 1],
      [0, -5.4],
      [-7.4, -4.4, 1],
      [-8.8, -3],
    ],
  },
  bun: {
    bun: [0, -19.4, 5],
    back: [
      [-10.4, 0],
      [-10, -11],
      [0, -17],
      [10, -11],
      [10.4, 0],
      [8, 4],
      [-8, 4],
    ],
    front: [
      [-9.2, -1, 1],
      [-10.4, -6],
      [-8.4, -13],
      [0, -16.6],
      [8.4, -13],
      [10.4, -6],
      [9.2, -1, 1],
      [7.6, -7],
      [0, -11.6],
      [-7.6, -7],
    ],
  },
  curls: {
    curly: true,
    back: curls(12.6, -4, 26),
    front: [[-9.4, 0, 1], ...curls(10.6, -6.4, 12, Math.PI * 1.02, Math.PI * 1.98), [9.4, 0, 1], [7.4, -6.4], [3, -8.2], [-2, -7.6], [-7, -5.8]],
  },
  crop: {
    front: [
      [-9.3, -2, 1],
      [-10.2, -6],
      [-8.6, -13],
      [-1, -16.8],
      [7.6, -14.6],
      [10.2, -7],
      [9.3, -2, 1],
      [8, -7.6],
      [3, -9.6],
      [-3, -9],
      [-7.8, -7],
    ],
  },
  side: {
    front: [
      [-9.3, -1, 1],
      [-10.4, -6],
      [-9.4, -13],
      [-2, -17.6],
      [7, -16],
      [10.6, -9],
      [9.3, -1, 1],
      [8.2, -7],
      [4, -11.4],
      [-3, -8.6],
      [-7.8, -5.6],
    ],
  },
  fade: {
    front: [
      [-8.7, -6, 1],
      [-8.8, -11],
      [-5, -16],
      [0, -17],
      [5, -16],
      [8.8, -11],
      [8.7, -6, 1],
      [6.6, -9.6],
      [0, -10.6],
      [-6.6, -9.6],
    ],
  },
  beard: {
    front: [
      [-9.3, -2, 1],
      [-10.4, -7],
      [-8, -14.6],
      [1, -17.4],
      [8.6, -14],
      [10.2, -7],
      [9.3, -2, 1],
      [8, -7.6],
      [2, -10.6],
      [-5, -9],
      [-8, -6],
    ],
    beard: [
      [-9.3, -1, 1],
      [-9.4, 5],
      [-6, 11.6],
      [0, 13.6],
      [6, 11.6],
      [9.4, 5],
      [9.3, -1, 1],
      [7.4, 4.4],
      [3.4, 5.4],
      [0, 4.8],
      [-3.4, 5.4],
      [-7.4, 4.4],
    ],
  },
  beanie: {
    hat: true,
    front: [
      [-9.3, 1, 1],
      [-9.9, -4],
      [-8.6, -7, 1],
      [8.6, -7, 1],
      [9.9, -4],
      [9.3, 1, 1],
      [8.3, -5.6],
      [-8.3, -5.6],
    ],
  },
};

function curls(r, cy, n, from = 0, to = Math.PI * 2) {
  return Array.from({ length: n }, (_, i) => {
    const a = from + ((to - from) * i) / (to - from > 6 ? n : n - 1);
    const k = r * (i % 2 ? 1.09 : 0.95);
    return [Math.cos(a) * k, cy + Math.sin(a) * k * 1.04];
  });
}

export function portrait({ seed, skin, hair, cut, top, stripe }) {
  const c = CUTS[cut];
  const flesh = { weave: 'paper', color: skin };
  const locks = { weave: 'suede', color: hair };
  const strands = (pts, n) =>
    Array.from({ length: n }, (_, i) => ({ path: offset(between([...pts, pts[0]], 0.08, 0.5), -0.9 - i * 1.1), w: 0.5, amp: -0.12 }));
  const parts = [];
  if (c.back)
    parts.push({
      outline: shape(c.back),
      material: locks,
      lift: 0,
      roll: 1,
      rollHeight: 0.4,
      inherit: 0,
      folds: c.curly ? [] : strands(shape(c.back), 3),
    });
  if (c.bun)
    parts.push({
      outline: ellipse(c.bun[0], c.bun[1], c.bun[2], c.bun[2] * 0.92),
      material: locks,
      lift: 0.3,
      roll: 2,
      rollHeight: 0.8,
      inherit: 0,
      folds: [
        {
          path: spline([
            [-3, -20],
            [0, -17.6],
            [3.4, -20.4],
          ]),
          w: 0.6,
          amp: -0.2,
        },
      ],
    });
  parts.push({
    outline: shape([
      [-5, 8, 1],
      [5, 8, 1],
      [5.4, 16],
      [8, 19, 1],
      [0, 26],
      [-8, 19, 1],
      [-5.4, 16],
    ]),
    material: flesh,
    tint: 0.88,
    lift: 0.2,
    roll: 0.8,
    rollHeight: 0.3,
    inherit: 0,
  });
  const cloth = { weave: 'knit', gauge: 0.8, color: top, pattern: stripe ? { kind: 'breton', colors: [stripe], pitch: 3.4, width: 1.2 } : undefined };
  const body = shape([
    [-8.4, 17.4, 1],
    [-14, 20],
    [-21, 24.4],
    [-24.6, 32],
    [-26, 44, 1],
    [26, 44, 1],
    [24.6, 32],
    [21, 24.4],
    [14, 20],
    [8.4, 17.4, 1],
    [4.6, 21],
    [0, 22.4],
    [-4.6, 21],
  ]);
  parts.push({
    outline: body,
    material: cloth,
    lift: 0.4,
    roll: 1,
    rollHeight: 0.4,
    inherit: 0.1,
    folds: [
      {
        path: spline([
          [-17, 44],
          [-15.4, 36],
          [-17, 30],
        ]),
        w: 1.4,
        amp: 0.3,
      },
      {
        path: spline([
          [17, 44],
          [15.4, 36],
          [17, 30],
        ]),
        w: 1.4,
        amp: 0.3,
      },
    ],
  });
  const neck = spline([
    [-8.4, 17.4],
    [-4.6, 21],
    [0, 22.4],
    [4.6, 21],
    [8.4, 17.4],
  ]);
  parts.push({
    outline: [...neck, ...offset(neck, -2.4).reverse()],
    material: { weave: 'rib', gauge: 0.7, color: darker(top, 0.06) },
    along: neck,
    across: true,
    lift: 0.2,
    roll: 0.8,
    rollHeight: 0.3,
    inherit: 0.4,
  });
  for (const s of [-1, 1])
    parts.push({ outline: ellipse(s * 9.3, 0.4, 1.9, 3), material: flesh, tint: 0.94, lift: 0.12, roll: 0.8, rollHeight: 0.3, inherit: 0.1 });
  parts.push({
    outline: shape([
      [0, -14.6],
      [6.8, -12],
      [9.4, -4],
      [8.8, 3],
      [5.8, 9.6],
      [0, 12.8],
      [-5.8, 9.6],
      [-8.8, 3],
      [-9.4, -4],
      [-6.8, -12],
    ]),
    material: flesh,
    lift: 0.4,
    roll: 1.4,
    rollHeight: 0.6,
    inherit: 0.1,
    folds: [
      {
        path: spline([
          [0.4, -2.6],
          [1, 1.4],
          [0, 3],
        ]),
        w: 0.8,
        amp: 0.22,
        taper: 'start',
      },
    ],
    fades: [
      { x: -4.6, y: 3.4, rx: 3, ry: 2.4, amount: 0.16, to: [0.62, 0.22, 0.16] },
      { x: 4.8, y: 3.4, rx: 3, ry: 2.4, amount: 0.16, to: [0.62, 0.22, 0.16] },
    ],
    marks: eyes(hair),
  });
  if (c.beard) parts.push({ outline: shape(c.beard), material: locks, lift: 0.2, roll: 0.8, rollHeight: 0.3, inherit: 0.6 });
  parts.push(mouth(skin));
  parts.push({
    outline: shape(c.front),
    material: locks,
    lift: 0.4,
    roll: 1,
    rollHeight: 0.5,
    inherit: 0.3,
    folds: c.curly ? [] : strands(shape(c.front), 4),
  });
  if (c.hat) {
    const knit = { weave: 'rib', gauge: 1, color: '#b4562f' };
    parts.push({
      outline: shape([
        [-10.4, -5, 1],
        [-10.4, -10],
        [-6, -18.4],
        [0, -20.4],
        [6, -18.4],
        [10.4, -10],
        [10.4, -5, 1],
      ]),
      material: knit,
      lift: 0.3,
      roll: 1.2,
      rollHeight: 0.6,
      inherit: 0.1,
    });
    parts.push({
      outline: shape([
        [-11.2, -9.6, 1],
        [0, -8.8],
        [11.2, -9.6, 1],
        [11, -6],
        [10.6, -3.2, 1],
        [0, -2.4],
        [-10.6, -3.2, 1],
        [-11, -6],
      ]),
      material: { ...knit, color: lighter('#b4562f', 0.06) },
      lift: 0.3,
      roll: 1,
      rollHeight: 0.5,
      inherit: 0.1,
    });
  }
  return { seed, parts, wobble: 0.35, wobbleLength: 18, puff: {} };
}
