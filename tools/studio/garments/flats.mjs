// Loafers, derbies, ballet flats, mules and slides.

import { band, ellipse, inset, offset, roundRect, shape, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { LASTS, lacing, opening, pair } from './shoemaking.mjs';

/** Loafers, derbies, ballet flats, mules and slides, from above. */
export function flats({ seed, color, kind = 'loafer', weave = 'leather', sole = '#3a2c22', lining = '#c9a77c', metal = '#cfae6d' }) {
  const rng = random(seed);
  const sewn = lightness(color) > 0.45 ? darker(color, 0.3) : lighter(color, 0.18);
  const material = { weave, color };
  const make = (r) => {
    const base = shape(LASTS.slim);
    const upperLine = inset(base, kind === 'slide' ? 0.2 : 0.35);
    const parts = [{ outline: base, material: { weave: 'leather', color: sole }, lift: 0, roll: 0.4, rollHeight: 0.3, inherit: 0 }];
    if (kind === 'slide') {
      parts.push({
        outline: upperLine,
        material: { weave: 'suede', color: lining },
        lift: 0.06,
        roll: 0.8,
        rollHeight: 0.24,
        inherit: 0.3,
        folds: [
          {
            path: shape([
              [0.2, 2.6],
              [3, 6],
              [3, 11],
              [0, 13],
              [-2.6, 11],
              [-2.4, 6],
            ]),
            w: 1.4,
            amp: -0.16,
            taper: 'none',
          },
        ],
        marks: [
          {
            kind: 'line',
            path: [
              [-0.9, 23.6],
              [1.1, 23.6],
            ],
            color: darker(lining, 0.45),
            w: 0.4,
            alpha: 0.6,
          },
          { kind: 'stitch', path: [...inset(upperLine, 0.45)], color: darker(lining, 0.3), alpha: 0.6 },
        ],
      });
      for (const [y, w] of [
        [6.6, 4.6],
        [13, 4.2],
      ]) {
        const path = spline([
          [-4.9, y + 1.3],
          [-2, y],
          [0.4, y - 0.4],
          [2.8, y],
          [5.5, y + 1.3],
        ]);
        parts.push({
          outline: band(path, w),
          material,
          along: path,
          lift: 0.4,
          roll: 0.6,
          rollHeight: 0.4,
          inherit: 0.2,
          puff: [1.4, 0.9],
          marks: [
            { kind: 'stitch', path: offset(path, w / 2 - 0.4), color: sewn, alpha: 0.5 },
            { kind: 'stitch', path: offset(path, -w / 2 + 0.4), color: sewn, alpha: 0.5 },
          ],
        });
        parts.push({
          outline: [roundRect(3.4, y + 0.2, 2.6, 3.4, 0.5), roundRect(3.4, y + 0.2, 1.5, 2.2, 0.3)],
          material: { weave: 'metal', color: metal },
          lift: 0.14,
          roll: 0.3,
          rollHeight: 0.2,
          inherit: 0.7,
        });
        parts.push({
          outline: roundRect(2.9, y + 0.2, 2.4, 0.36, 0.15),
          material: { weave: 'metal', color: metal },
          lift: 0.1,
          roll: 0.2,
          rollHeight: 0.14,
          inherit: 0.7,
        });
      }
      return parts;
    }
    const mule = kind === 'mule';
    parts.push({
      outline: upperLine,
      material: mule ? { weave: 'leather', color: lining } : material,
      lift: 0.12,
      roll: 0.8,
      rollHeight: 0.3,
      puff: mule ? undefined : [1.5, kind === 'ballet' ? 1.3 : 1.9],
      inherit: 0.2,
      crumple: 0.03,
      folds: [
        {
          path: spline([
            [-3, 9],
            [0.2, 9.6],
            [3.2, 9],
          ]),
          w: 0.5,
          amp: -0.12,
        },
      ],
    });
    const hole =
      kind === 'ballet'
        ? shape([
            [0.2, 6.8],
            [2, 8.6],
            [2.75, 13],
            [2.6, 20],
            [2.5, 25],
            [1.4, 27.7],
            [0.1, 28.2],
            [-1.2, 27.7],
            [-2.3, 25],
            [-2.2, 20],
            [-2.5, 13],
            [-1.7, 8.6],
          ])
        : shape([
            [0.1, 13.6],
            [1.9, 15.4],
            [2.5, 19.6],
            [2.5, 24.6],
            [1.5, 27.5],
            [0.1, 28.1],
            [-1.3, 27.5],
            [-2.3, 24.6],
            [-2.2, 19.6],
            [-1.7, 15.4],
          ]);
    if (mule) {
      parts.push({
        outline: shape([
          [0.3, -0.2],
          [2.9, 1.9],
          [4.3, 7],
          [4.4, 11.5],
          [4, 14.6, 1],
          [0.2, 12.4],
          [-3.4, 14.4, 1],
          [-3.8, 11.5],
          [-3.8, 6.8],
          [-2.3, 1.8],
        ]),
        material,
        lift: 0.4,
        roll: 0.8,
        rollHeight: 0.4,
        puff: [1.6, 1.8],
        inherit: 0.1,
        marks: [
          {
            kind: 'stitch',
            path: spline([
              [3.8, 13.8],
              [0.2, 11.8],
              [-3.2, 13.6],
            ]),
            color: sewn,
            alpha: 0.4,
          },
        ],
      });
      return parts;
    }
    opening(parts, hole, { weave: 'leather', color: lining }, material, 0.4);
    if (kind === 'ballet') {
      const y = 6.9;
      for (const s of [-1, 1]) {
        const loop = shape([
          [0.15, y, 1],
          [s * 1.2 + 0.15, y - 1],
          [s * 2 + 0.15, y - 0.4],
          [s * 1.8 + 0.15, y + 0.7],
          [s * 0.9 + 0.15, y + 0.6],
        ]);
        parts.push({ outline: loop, material, lift: 0.16, roll: 0.4, rollHeight: 0.24, inherit: 0.4 });
        const tail = spline([
          [0.15, y],
          [s * 0.8, y + 1.4],
          [s * 1 + r.range(-0.2, 0.2), y + 2.6],
        ]);
        parts.push({ outline: band(tail, 0.42), material, along: tail, lift: 0.12, roll: 0.2, rollHeight: 0.16, inherit: 0.4 });
      }
      parts.push({ outline: ellipse(0.15, y, 0.42, 0.36, 14), material, lift: 0.12, roll: 0.3, rollHeight: 0.24, inherit: 0.4 });
      return parts;
    }
    const host = parts[1];
    if (kind === 'loafer') {
      const apron = spline([
        [-2.5, 13.4],
        [-2.6, 8],
        [-1.4, 4],
        [0.3, 3],
        [2.1, 4.1],
        [3, 8],
        [2.8, 13.4],
      ]);
      host.marks = [
        { kind: 'seam', path: apron, w: 1.3, depth: 0.1, dark: 0.3 },
        { kind: 'stitch', path: offset(apron, 0.3), color: sewn, alpha: 0.5 },
      ];
      host.folds.push({ path: offset(apron, -0.3), w: 0.45, amp: 0.18, taper: 'none' });
      parts.push({
        outline: shape([
          [-2.1, 10.6, 1],
          [0.2, 9.6],
          [2.5, 10.6, 1],
          [2.3, 13.6],
          [1.2, 15.6],
          [0.1, 16],
          [-1, 15.6],
          [-2, 13.6],
        ]),
        material,
        lift: 0.12,
        roll: 0.4,
        rollHeight: 0.16,
        inherit: 0.8,
        crumple: 0.02,
      });
      const strap = spline([
        [-3.3, 12],
        [-1.8, 11.2],
        [0.2, 11],
        [2.2, 11.2],
        [3.7, 12],
      ]);
      parts.push({
        outline: band(strap, 2),
        material,
        along: strap,
        lift: 0.2,
        roll: 0.4,
        rollHeight: 0.18,
        inherit: 0.7,
        crumple: 0.01,
        marks: [
          {
            kind: 'ink',
            fills: [
              shape([
                [-0.9, 10.9],
                [0.2, 11.3],
                [1.3, 10.9],
                [1.1, 11.4],
                [0.2, 11.7],
                [-0.7, 11.4],
              ]),
            ],
            color: darker(color, 0.7),
            raise: -0.08,
          },
          { kind: 'stitch', path: offset(strap, 0.75), color: sewn, alpha: 0.4 },
          { kind: 'stitch', path: offset(strap, -0.75), color: sewn, alpha: 0.4 },
        ],
      });
    } else if (kind === 'derby') {
      const cap = spline([
        [-3.6, 6.6],
        [0.3, 5.4],
        [4, 6.6],
      ]);
      host.marks = [
        { kind: 'seam', path: cap, dark: 0.3 },
        { kind: 'stitch', path: offset(cap, 0.35), color: sewn, alpha: 0.5 },
      ];
      lacing(parts, { color, cloth: weave, second: color, strings: darker(color, 0.4), sewn, rows: 4, from: 9.6, to: 14, r });
    }
    return parts;
  };
  return { seed, parts: pair(make, rng, 6.6), wobble: 0.12, wobbleLength: 12, puff: {} };
}
