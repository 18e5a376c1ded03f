// Eyewear, watches and jewellery.

import { band, ellipse, flip, frames, inset, offset, roundRect, shape, spline, turn } from '../render/geometry.mjs';
import { darker } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { contrast } from './contrast.mjs';

export function sunglasses({ seed, color, lens = '#2c2a28', kind = 'round', metal }) {
  const frame = { weave: metal ? 'metal' : 'plastic', color };
  const parts = [];
  const lensShape = {
    round: (x) => ellipse(x, 0, 2.5, 2.45, 40),
    square: (x) =>
      shape([
        [x - 2.6, -1.9],
        [x + 2.6, -2],
        [x + 2.75, 0],
        [x + 2.2, 2],
        [x, 2.35],
        [x - 2.2, 2],
        [x - 2.75, 0],
      ]),
    cat: (x) =>
      x < 0
        ? flip(
            shape([
              [-x - 2.5, -1.4],
              [-x + 1.8, -2.2],
              [-x + 3.3, -2.8],
              [-x + 2.9, 0],
              [-x + 1.6, 2],
              [-x - 0.6, 2.2],
              [-x - 2.4, 1],
            ]),
          )
        : shape([
            [x - 2.5, -1.4],
            [x + 1.8, -2.2],
            [x + 3.3, -2.8],
            [x + 2.9, 0],
            [x + 1.6, 2],
            [x - 0.6, 2.2],
            [x - 2.4, 1],
          ]),
  }[kind];
  const t = metal ? 0.22 : 0.55;
  // Folded temples behind.
  for (const s of [-1, 1]) {
    const arm = spline([
      [s * 6.5, -1.2],
      [s * 6.5, -2.3],
      [s * 5.4, -2.9 - (s > 0 ? 0.5 : 0)],
      [-s * 2.6, -2.7 - (s > 0 ? 0.3 : 0)],
      [-s * 4.6, -1.9],
      [-s * 5.6, -0.4],
    ]);
    parts.push({ outline: band(arm, metal ? 0.34 : 0.75), material: frame, along: arm, lift: 0.16, roll: 0.4, rollHeight: 0.3, inherit: 0 });
  }
  for (const s of [-1, 1]) {
    const l = lensShape(s * 3.4);
    parts.push({
      outline: l,
      material: { weave: 'glass', color: lens },
      lift: 0.2,
      roll: 0.5,
      rollHeight: 0.05,
      puff: [1.2, 0.5],
      inherit: 0,
      opacity: 0.9,
      crumple: 0,
    });
  }
  for (const s of [-1, 1]) {
    const l = lensShape(s * 3.4);
    // A soft reflection across each lens.
    parts.push({
      outline: shape([
        [s * 3.4 - 1.9, 0.4],
        [s * 3.4 - 0.2, -1.7],
        [s * 3.4 + 0.5, -1.6],
        [s * 3.4 - 1.5, 1.1],
      ]),
      material: { weave: 'glass', color: '#ffffff' },
      lift: 0,
      rollHeight: 0,
      opacity: 0.16,
      inherit: 1,
    });
    const outer = inset(l, t * 0.9);
    parts.push({ outline: [outer, inset(l, 0.12)], material: frame, lift: 0.1, roll: t * 0.8, rollHeight: t * 0.6, inherit: 0 });
  }
  const bridge = spline([
    [-1.3, -0.7],
    [-0.6, -1.25],
    [0.6, -1.25],
    [1.3, -0.7],
  ]);
  parts.push({ outline: band(bridge, metal ? 0.3 : 0.75), material: frame, along: bridge, lift: 0.1, roll: 0.4, rollHeight: 0.3, inherit: 0.2 });
  for (const s of [-1, 1])
    parts.push({
      outline: roundRect(s * 6.15, -1.3, metal ? 0.5 : 0.9, metal ? 0.5 : 1, 0.25),
      material: frame,
      lift: 0.06,
      roll: 0.3,
      rollHeight: 0.24,
      inherit: 0.2,
    });
  return { seed, parts, wobble: 0.05, wobbleLength: 8, puff: {} };
}

export function watch({ seed, color, dial = '#f3efe6', metal = '#c9cbcc', kind = 'leather' }) {
  const rng = random(seed);
  const parts = [];
  const strap = { weave: kind === 'steel' ? 'metal' : 'leather', color: kind === 'steel' ? metal : color };
  const sewn = contrast(strap.color, 0.35);
  const top = spline([
    [0, -1.8],
    [0.1, -6],
    [-0.1, -9.4],
  ]);
  const low = spline([
    [0, 1.8],
    [-0.1, 7],
    [0.2, 12.6],
  ]);
  for (const [path, l] of [
    [top, 0],
    [low, 1],
  ]) {
    const links =
      kind === 'steel'
        ? frames(path, 0.62).flatMap(({ at }) => [
            {
              path: [
                [at[0] - 1, at[1]],
                [at[0] + 1, at[1]],
              ],
              w: 0.1,
              amp: -0.09,
              taper: 'none',
            },
          ])
        : [];
    parts.push({
      outline: band(path, (t) => 1.9 - 0.35 * t),
      material: strap,
      along: path,
      lift: 0.1,
      roll: 0.3,
      rollHeight: 0.2,
      inherit: 0,
      crumple: kind === 'steel' ? 0 : 0.02,
      folds: links,
      marks:
        kind === 'steel'
          ? [
              { kind: 'seam', path: offset(path, 0.42), dark: 0.3 },
              { kind: 'seam', path: offset(path, -0.42), dark: 0.3 },
            ]
          : [
              { kind: 'stitch', path: offset(path, 0.68), color: sewn, alpha: 0.7, w: 0.05, pitch: 0.3 },
              { kind: 'stitch', path: offset(path, -0.68), color: sewn, alpha: 0.7, w: 0.05, pitch: 0.3 },
              ...(l
                ? [
                    {
                      kind: 'ink',
                      fills: [0, 1, 2, 3].map((i) => ellipse(0.1, 7.6 + i * 1.05, 0.13, 0.18, 10)),
                      color: darker(strap.color, 0.6),
                      raise: -0.05,
                    },
                  ]
                : []),
            ],
    });
  }
  parts.push({
    outline: [roundRect(-0.1, -9.6, 2.5, 1.8, 0.4), roundRect(-0.1, -9.7, 1.7, 1, 0.25)],
    material: { weave: 'metal', color: metal },
    lift: 0.12,
    roll: 0.25,
    rollHeight: 0.2,
    inherit: 0.1,
  });
  for (const s of [-1, 1])
    parts.push({
      outline: roundRect(0, s * 1.95, 2.3, 0.8, 0.25),
      material: { weave: 'metal', color: metal },
      lift: 0.1,
      roll: 0.3,
      rollHeight: 0.3,
      inherit: 0.1,
    });
  parts.push({
    outline: roundRect(2.2, 0, 0.7, 0.7, 0.2),
    material: { weave: 'metal', color: metal },
    lift: 0.06,
    roll: 0.25,
    rollHeight: 0.25,
    inherit: 0,
  });
  parts.push({
    outline: ellipse(0, 0, 2.05, 2.05, 60),
    material: { weave: 'metal', color: metal },
    lift: 0.2,
    roll: 0.4,
    rollHeight: 0.5,
    inherit: 0,
  });
  const face = ellipse(0, 0, 1.68, 1.68, 56);
  const ink = contrast(dial, 0.75);
  const a0 = rng.range(0, 6.28);
  const hand = (a, l) => [
    [-Math.sin(a) * -0.25, Math.cos(a) * 0.25],
    [Math.sin(a) * l, -Math.cos(a) * l],
  ];
  parts.push({
    outline: face,
    material: { weave: 'rubber', color: dial, spec: 0.12, gloss: 40 },
    lift: 0,
    roll: 0.25,
    rollHeight: -0.1,
    inherit: 0,
    marks: [
      ...Array.from({ length: 12 }, (_, i) => {
        const a = (i / 12) * 6.283;
        const r = i % 3 ? 1.34 : 1.22;
        return {
          kind: 'line',
          path: [
            [Math.sin(a) * r, -Math.cos(a) * r],
            [Math.sin(a) * 1.5, -Math.cos(a) * 1.5],
          ],
          color: ink,
          w: 0.075,
        };
      }),
      { kind: 'line', path: hand(5.28, 0.85), color: ink, w: 0.12 },
      { kind: 'line', path: hand(1.05, 1.25), color: ink, w: 0.09 },
      { kind: 'line', path: hand(a0, 1.3), color: '#b5532f', w: 0.05 },
      { kind: 'ink', fills: [ellipse(0, 0, 0.13, 0.13, 12)], color: ink },
    ],
  });
  return { seed, parts, wobble: 0.05, wobbleLength: 8, puff: {} };
}

/** Chain necklace with pendant, laid in a soft loop. */
export function necklace({ seed, metal = '#d5b067', pendant = 'disc' }) {
  const rng = random(seed);
  const path = spline([
    [0, 13],
    [-4, 8.4],
    [-7.6, 1],
    [-6.4, -6.6],
    [-1.6, -10 + rng.range(-0.4, 0.4)],
    [3.6, -9.6],
    [7.4, -4.4],
    [6.8, 2.4],
    [3.4, 8.4],
    [0, 13],
  ]);
  const m = { weave: 'metal', color: metal };
  const links = frames(path, 0.52).map(({ at, normal }, i) => {
    const deg = (Math.atan2(-normal[0], normal[1]) * 180) / Math.PI;
    return {
      outline: [
        turn(ellipse(at[0], at[1], 0.36, i % 2 ? 0.17 : 0.25, 14), deg, at),
        turn(ellipse(at[0], at[1], 0.18, i % 2 ? 0.03 : 0.09, 10), deg, at),
      ],
      material: m,
      lift: 0.05,
      roll: 0.12,
      rollHeight: 0.12,
      inherit: 0.2,
    };
  });
  const y = 14.4;
  const parts = [
    ...links,
    {
      outline: [ellipse(0, 13.2, 0.42, 0.5, 16), ellipse(0, 13.2, 0.24, 0.3, 12)],
      material: m,
      lift: 0.06,
      roll: 0.12,
      rollHeight: 0.12,
      inherit: 0.1,
    },
  ];
  if (pendant === 'pearl')
    parts.push({
      outline: ellipse(0, y + 0.6, 0.95, 1.1, 36),
      material: { weave: 'plastic', color: '#f1e8da', spec: 0.3, gloss: 30 },
      lift: 0.14,
      roll: 1,
      rollHeight: 0.7,
      inherit: 0,
    });
  else
    parts.push({
      outline: ellipse(0, y + 0.8, 1.45, 1.45, 40),
      material: m,
      lift: 0.14,
      roll: 0.4,
      rollHeight: 0.26,
      inherit: 0,
      marks: [{ kind: 'seam', path: [...ellipse(0, y + 0.8, 1.1, 1.1, 36), [1.1, y + 0.8]], depth: 0.05, dark: 0.2 }],
    });
  return { seed, parts, wobble: 0.2, wobbleLength: 8, puff: {} };
}

export function earrings({ seed, metal = '#d5b067', kind = 'hoop' }) {
  const m = { weave: 'metal', color: metal };
  const one = (x, y, deg) => {
    const f = (p) => turn(p, deg, [x, y]);
    if (kind === 'drop')
      return [
        { outline: f(ellipse(x, y - 1.9, 0.5, 0.5, 24)), material: m, lift: 0.1, roll: 0.4, rollHeight: 0.34, inherit: 0 },
        {
          outline: f(
            band(
              [
                [x, y - 1.5],
                [x, y - 0.2],
              ],
              0.14,
            ),
          ),
          material: m,
          lift: 0.05,
          roll: 0.1,
          rollHeight: 0.1,
          inherit: 0,
        },
        {
          outline: f(
            shape([
              [x, y - 0.5],
              [x + 0.75, y + 1],
              [x, y + 1.9],
              [x - 0.75, y + 1],
            ]),
          ),
          material: { weave: 'plastic', color: '#f1e8da', spec: 0.3, gloss: 30 },
          lift: 0.12,
          roll: 0.8,
          rollHeight: 0.6,
          inherit: 0,
        },
      ];
    return [
      {
        outline: [f(ellipse(x, y, 2, 2.05, 60)), f(ellipse(x + 0.1, y - 0.04, 1.5, 1.55, 54))],
        material: m,
        lift: 0.14,
        roll: 0.3,
        rollHeight: 0.3,
        inherit: 0,
      },
      { outline: f(roundRect(x - 0.1, y - 2, 0.5, 0.7, 0.2)), material: m, lift: 0.06, roll: 0.2, rollHeight: 0.2, inherit: 0.2 },
    ];
  };
  return { seed, parts: [...one(-2.8, 0, -12), ...one(2.6, 0.9, 16)], wobble: 0.04, wobbleLength: 8, puff: {} };
}
