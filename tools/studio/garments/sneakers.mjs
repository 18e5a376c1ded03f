// Sneakers from above: court, runner, canvas.

import { ellipse, inset, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { LASTS, lacing, opening, pair } from './shoemaking.mjs';

export function sneakers({ seed, color = '#f0ede6', sole = '#f4f1ea', accent, weave = 'leather', lace, lining, kind = 'court', tab }) {
  const rng = random(seed);
  const cloth = kind === 'runner' ? 'mesh' : kind === 'canvas' ? 'canvas' : weave;
  const second = accent ?? color;
  const strings = lace ?? (lightness(color) > 0.5 ? '#f4f1ea' : '#e4ded2');
  const inside = lining ?? (lightness(color) > 0.6 ? '#d9d2c5' : darker(color, 0.2));
  const sewn = lightness(color) > 0.5 ? darker(color, 0.18) : lighter(color, 0.25);
  const last = LASTS[kind === 'runner' ? 'chunky' : 'round'];
  const make = (r) => {
    const base = shape(last);
    const upperLine = inset(base, 0.55);
    const parts = [];
    parts.push({
      outline: base,
      material: { weave: 'rubber', color: sole },
      lift: 0,
      roll: 0.7,
      rollHeight: 0.5,
      inherit: 0,
      marks: [{ kind: 'seam', path: [...inset(base, 0.34), inset(base, 0.34)[0]], depth: 0.05, dark: 0.14 }],
    });
    parts.push({
      outline: upperLine,
      material: { weave: cloth, color },
      lift: 0.16,
      roll: 1,
      rollHeight: 0.4,
      puff: [1.7, 2.2],
      inherit: 0.2,
      marks:
        kind === 'canvas'
          ? []
          : [
              {
                kind: 'stitch',
                path: spline([
                  [4, 8.6],
                  [2.2, 5.4],
                  [0.2, 4.6],
                  [-1.9, 5.2],
                  [-3.6, 8],
                ]),
                color: sewn,
                alpha: 0.6,
              },
              ...dots(r, sewn, color),
            ],
      folds: [
        {
          path: spline([
            [-3.2, 8.6],
            [-1, 9.4],
          ]),
          w: 0.5,
          amp: -0.14,
        },
        {
          path: spline([
            [3.6, 9],
            [1.4, 9.6],
          ]),
          w: 0.5,
          amp: -0.12,
        },
      ],
    });
    if (kind === 'canvas')
      parts.push({
        outline: shape([
          [0.5, 0.6],
          [3.4, 2.5],
          [3.9, 4.8, 1],
          [0.3, 3.9],
          [-3.3, 4.6, 1],
          [-2.6, 2.3],
        ]),
        material: { weave: 'rubber', color: sole },
        lift: 0.12,
        roll: 0.4,
        rollHeight: 0.16,
        inherit: 0.9,
        marks: [
          {
            kind: 'line',
            path: spline([
              [3.5, 4.2],
              [0.3, 3.3],
              [-3, 4],
            ]),
            color: darker(sole, 0.12),
            w: 0.14,
            alpha: 0.6,
          },
        ],
      });
    if (kind === 'runner') {
      // Overlays: toe guard and side flashes.
      parts.push({
        outline: shape([
          [0.5, 0.6],
          [4, 2.6],
          [5, 7.4],
          [4.6, 9.6, 1],
          [3.4, 6],
          [0.3, 3],
          [-2.9, 5.4],
          [-4.2, 9, 1],
          [-4.4, 6.6],
          [-2.8, 2.4],
        ]),
        material: { weave: 'suede', color: second },
        lift: 0.1,
        roll: 0.4,
        rollHeight: 0.1,
        inherit: 1,
        marks: [],
      });
      for (const s of [1, -1])
        parts.push({
          outline: shape([
            [s * 4.6, 11, 1],
            [s * 3, 14, 1],
            [s * 3, 20, 1],
            [s * 4.2, 22, 1],
          ]),
          material: { weave: 'suede', color: second },
          lift: 0.08,
          roll: 0.4,
          rollHeight: 0.08,
          inherit: 1,
        });
    } else if (accent && kind === 'court') {
      for (const s of [1, -1])
        for (let i = 0; i < 1; i++)
          parts.push({
            outline: shape([
              [s * 4.5, 10.6, 1],
              [s * 2.5, 14.6, 1],
              [s * 2.6, 16.6, 1],
              [s * 4.2, 13, 1],
            ]),
            material: { weave: 'suede', color: accent },
            lift: 0.06,
            roll: 0.3,
            rollHeight: 0.05,
            inherit: 1,
          });
    }
    // Heel counter.
    parts.push({
      outline: shape([
        [3.5, 22.6, 1],
        [3.3, 26],
        [2.3, 28.4],
        [0.1, 29.2],
        [-2.2, 28.4],
        [-3.1, 26],
        [-3.2, 22.6, 1],
        [0, 25.4],
      ]),
      material: { weave: kind === 'runner' || tab ? 'suede' : cloth === 'canvas' ? 'canvas' : 'leather', color: tab ?? second },
      lift: 0.06,
      roll: 0.4,
      rollHeight: 0.08,
      inherit: 1,
      marks: [],
    });
    opening(
      parts,
      shape([
        [0.1, 15.6],
        [2.3, 18.4],
        [2.75, 22.6],
        [2.1, 26.3],
        [0.1, 27.7],
        [-1.9, 26.3],
        [-2.55, 22.6],
        [-2.1, 18.4],
      ]),
      { weave: kind === 'canvas' ? 'canvas' : 'jersey', color: inside },
      { weave: kind === 'canvas' ? 'canvas' : cloth === 'mesh' ? 'suede' : 'leather', color: kind === 'runner' ? second : color },
      0.75,
    );
    lacing(parts, { color, cloth, second: kind === 'runner' ? second : color, strings, sewn, rows: 6, from: 8.4, to: 16.6, r });
    return parts;
  };
  return { seed, parts: pair(make, rng), wobble: 0.16, wobbleLength: 12, puff: {} };
}

const dots = (r, sewn, color) => {
  const fills = [];
  for (let j = 0; j < 3; j++) for (let i = -1; i <= 1; i++) fills.push(ellipse(0.3 + i * 1, 5.9 + j * 0.9 + Math.abs(i) * 0.12, 0.15, 0.15, 8));
  return [{ kind: 'ink', fills, color: darker(color, 0.55), alpha: 0.6, raise: -0.05 }];
};
