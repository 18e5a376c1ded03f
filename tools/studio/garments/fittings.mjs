// Small parts sewn to cloth: buttons, zips, rivets, drawcords, labels.

import { band, ellipse, frames, inset, offset, roundRect, spline, turn } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';

/** A sewn button with rim, four holes and thread. */
export function button(x, y, r, color, { metal = false, holes = true, turnBy = 12 } = {}) {
  const material = { weave: metal ? 'metal' : 'plastic', color };
  const parts = [
    { outline: ellipse(x, y, r, r, 28), material, lift: 0.1, roll: r * 0.5, rollHeight: 0.12, inherit: 0.3 },
    {
      outline: ellipse(x, y, r * 0.66, r * 0.66, 24),
      material: { ...material, color: darker(color, metal ? 0.1 : 0.07) },
      lift: 0,
      roll: r * 0.3,
      rollHeight: -0.06,
      inherit: 0.6,
    },
  ];
  if (holes && !metal) {
    const d = r * 0.24;
    const dots = turn(
      [
        [x - d, y - d],
        [x + d, y - d],
        [x + d, y + d],
        [x - d, y + d],
      ],
      turnBy,
      [x, y],
    );
    parts[1].marks = [
      { kind: 'ink', fills: dots.map(([a, b]) => ellipse(a, b, r * 0.12, r * 0.12, 10)), color: darker(color, 0.6), raise: -0.03 },
      { kind: 'line', path: [dots[0], dots[2]], color: lightness(color) > 0.5 ? darker(color, 0.25) : lighter(color, 0.25), w: r * 0.12, alpha: 0.7 },
      { kind: 'line', path: [dots[1], dots[3]], color: lightness(color) > 0.5 ? darker(color, 0.25) : lighter(color, 0.25), w: r * 0.12, alpha: 0.7 },
    ];
  }
  return parts;
}

export const rivet = (x, y, r = 0.4, color = '#b0764a') => ({
  outline: ellipse(x, y, r, r, 16),
  material: { weave: 'metal', color },
  lift: 0.05,
  roll: r,
  rollHeight: 0.1,
  inherit: 0.2,
});

/** Zip: tape, teeth and a puller at fraction `open` from the top. */
export function zip(path, { tape, metal = '#b9b4aa', width = 1.7, pull = 0.04 } = {}) {
  const parts = [
    {
      outline: band(path, width),
      material: { weave: 'twill', color: tape },
      along: path,
      lift: 0.06,
      roll: 0.2,
      rollHeight: 0.04,
      inherit: 0.9,
      crumple: 0,
    },
    { outline: band(path, 0.62), material: { weave: 'metal', color: metal, spec: 0.25 }, lift: 0.03, roll: 0.2, rollHeight: 0.06, inherit: 0.9 },
  ];
  const teeth = frames(path, 0.42).map(({ at, normal }) => ({
    path: [
      [at[0] - normal[0] * 0.3, at[1] - normal[1] * 0.3],
      [at[0] + normal[0] * 0.3, at[1] + normal[1] * 0.3],
    ],
    w: 0.1,
    amp: -0.04,
    taper: 'none',
  }));
  parts[1].folds = teeth;
  const f = frames(path, 0.4);
  const k = f[Math.min(f.length - 1, Math.floor(f.length * pull))];
  const [x, y] = k.at;
  parts.push(
    { outline: roundRect(x, y, 1.1, 1.5, 0.3), material: { weave: 'metal', color: metal }, lift: 0.12, roll: 0.3, rollHeight: 0.12, inherit: 0.3 },
    {
      outline: [roundRect(x, y + 1.9, 0.75, 2.4, 0.3), ellipse(x, y + 2.6, 0.16, 0.3, 12)],
      material: { weave: 'metal', color: metal },
      lift: 0.14,
      roll: 0.25,
      rollHeight: 0.1,
      inherit: 0.3,
    },
  );
  return parts;
}

/** A cord along a path. */
export function cord(path, color, width = 0.75, { tip, weave = 'canvas', lift = 0.25 } = {}) {
  const twist = frames(path, 0.5).map(({ at, normal }, i, all) => {
    const n = all[Math.min(all.length - 1, i + 1)].at;
    return {
      path: [
        [at[0] - normal[0] * width * 0.5, at[1] - normal[1] * width * 0.5],
        [n[0] + normal[0] * width * 0.5, n[1] + normal[1] * width * 0.5],
      ],
      w: 0.12,
      amp: -0.025,
      taper: 'none',
    };
  });
  const parts = [
    {
      outline: band(path, width),
      material: { weave, color },
      along: path,
      lift,
      roll: width * 0.6,
      rollHeight: width * 0.38,
      inherit: 0.4,
      crumple: 0,
      folds: twist,
    },
  ];
  if (tip) {
    const end = path.slice(-5);
    parts.push({
      outline: band(end, width * 1.1),
      material: { weave: 'metal', color: tip },
      lift: 0.1,
      roll: width * 0.5,
      rollHeight: width * 0.35,
      inherit: 0.3,
    });
  }
  return parts;
}

/** Flat woven or leather patch with a stitched edge. */
export function patch(x, y, w, h, color, { weave = 'leather', thread, ink, degrees = 0 } = {}) {
  const t = (pts) => turn(pts, degrees, [x, y]);
  const edge = t(roundRect(x, y, w, h, 0.2));
  const inner = t(roundRect(x, y, w - 0.5, h - 0.5, 0.1));
  return {
    outline: edge,
    material: { weave, color },
    lift: 0.06,
    roll: 0.15,
    rollHeight: 0.04,
    inherit: 0.9,
    crumple: 0.01,
    marks: [
      ...(thread ? [{ kind: 'stitch', path: [...inner, inner[0]], color: thread, alpha: 0.7 }] : []),
      ...(ink
        ? [
            {
              kind: 'line',
              path: t([
                [x - w * 0.28, y],
                [x + w * 0.28, y],
              ]),
              color: ink,
              w: Math.min(0.5, h * 0.2),
              alpha: 0.7,
            },
          ]
        : []),
    ],
  };
}

/** Patch pocket outline: straight top, pointed or rounded bottom. */
export function pocketShape(x, y, w, h, { point = 0, round = 0.6, degrees = 0 } = {}) {
  const l = x - w / 2;
  const r = x + w / 2;
  const pts = point
    ? [
        [l, y, 1],
        [r, y, 1],
        [r, y + h - point, 1],
        [x, y + h, 1],
        [l, y + h - point, 1],
      ]
    : [
        [l, y, 1],
        [r, y, 1],
        [r, y + h - round * 1.4],
        [r - round, y + h - 0.1],
        [x, y + h],
        [l + round, y + h - 0.1],
        [l, y + h - round * 1.4],
      ];
  return turn(spline(pts, { closed: true }), degrees, [x, y]);
}

export function patchPocket(
  x,
  y,
  w,
  h,
  material,
  { thread, point = 0, round = 1.4, degrees = 0, hem = 1.6, flap, lift = 0.08, crumple = 0.03 } = {},
) {
  const outline = pocketShape(x, y, w, h, { point, round, degrees });
  const edge = inset(outline, 0.28);
  const top = turn(
    [
      [x - w / 2 + 0.1, y + hem],
      [x + w / 2 - 0.1, y + hem],
    ],
    degrees,
    [x, y],
  );
  const parts = [
    {
      outline,
      material,
      lift,
      roll: 0.3,
      rollHeight: 0.07,
      inherit: 1,
      crumple,
      marks: thread
        ? [
            { kind: 'stitch', path: [...edge, edge[0]], color: thread, alpha: 0.55 },
            ...(hem ? [{ kind: 'stitch', path: top, color: thread, alpha: 0.55 }] : []),
          ]
        : [{ kind: 'seam', path: top, depth: 0.03, dark: 0.1 }],
    },
  ];
  if (flap) {
    const f = turn(
      spline(
        [
          [x - w / 2 - 0.3, y - 1, 1],
          [x + w / 2 + 0.3, y - 1, 1],
          [x + w / 2 + 0.3, y + flap * 0.62, 1],
          [x, y + flap, 1],
          [x - w / 2 - 0.3, y + flap * 0.62, 1],
        ],
        { closed: true },
      ),
      degrees,
      [x, y],
    );
    parts.push({
      outline: f,
      material,
      lift: 0.14,
      roll: 0.3,
      rollHeight: 0.08,
      inherit: 0.9,
      crumple,
      marks: thread ? [{ kind: 'stitch', path: offset([...f, f[0]], -0.3), color: thread, alpha: 0.55 }] : [],
    });
  }
  return parts;
}
