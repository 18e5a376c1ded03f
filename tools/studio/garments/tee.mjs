// T-shirts and tanks: crew, v, scoop; short or long sleeves; pocket and print.

import { flip, offset, spline } from '../render/geometry.mjs';
import { darker, lighter, lightness } from '../render/colour.mjs';
import { random } from '../render/noise.mjs';
import { sleevePose } from './pose.mjs';
import { backLine, backNeck, hemStitch, longSleeve, neckband, shortSleeve, torso, torsoFolds } from './torso.mjs';

const FIT = {
  regular: {},
  boxy: { shoulder: 25, slope: 5, chest: 29, waist: 29, hem: 29, armhole: 26.5, length: 66 },
  slim: { shoulder: 18.5, chest: 22, waist: 20.6, hem: 22, armhole: 22, length: 62, neck: 8.2 },
  crop: { shoulder: 19, chest: 23, waist: 22.4, hem: 23, armhole: 22, length: 48, neck: 8.4 },
};

export function tee({ seed, color, weave = 'jersey', pattern, heather, fit = 'regular', neck = 'crew', sleeve = 'short', pocket, print, ringer }) {
  const rng = random(seed);
  const depth = { crew: 8, v: 15, scoop: 14.5, boat: 5 }[neck];
  // Straps instead of shoulders.
  const bare = sleeve === 'none' ? { shoulder: 13.4, slope: 2.6, neck: 9.2, armhole: 23.5 } : {};
  const t = torso({ ...FIT[fit], depth, ...(neck === 'boat' ? { neck: 11.5 } : {}), ...bare }, neck);
  const { c } = t;
  const material = { weave, color, pattern, heather };
  const plain = { weave, color, heather };
  const trim = ringer ?? color;
  const thread = lightness(color) > 0.45 ? darker(color, 0.3) : lighter(color, 0.3);
  const parts = [...backNeck(c, plain, { label: lightness(color) > 0.6 ? '#f3efe8' : '#e9e2d6' })];
  const place = (s, left) => {
    const f = left ? flip : (p) => p;
    parts.push({
      outline: f(s.outline),
      group: 'body',
      material,
      grain: left ? -s.grain : s.grain,
      origin: f([[c.shoulder, c.slope]])[0],
      lift: 0,
      roll: 0.4,
      rollHeight: 0.08,
      folds: s.folds.map((x) => ({ ...x, path: f(x.path), amp: x.amp * rng.range(0.75, 1.25) })),
      marks: ringer
        ? [{ kind: 'line', path: offset(f(s.cuff), left ? -0.9 : 0.9), color: ringer, w: 1.9 }]
        : hemStitch(left ? f(s.cuff).reverse() : s.cuff, thread, 1.9),
    });
  };
  if (sleeve !== 'none') {
    const make = (left) =>
      sleeve === 'long'
        ? longSleeve(c, { length: fit === 'slim' ? 56 : 58, top: 17, wrist: 9.2, ...sleevePose(seed, left, 64 + rng.range(-2, 2), rng.range(2, 9)) })
        : shortSleeve(c, {
            length: fit === 'slim' ? 17 : fit === 'boxy' ? 24 : 23,
            width: fit === 'slim' ? 15.5 : 19.5,
            angle: 43 + rng.range(-3, 4),
          });
    place(make(true), true);
    place(make(false), false);
  }
  const marks = [...hemStitch(t.hem, thread, 2)];
  if (sleeve !== 'none') {
    marks.push({ kind: 'seam', path: offset(t.armhole, 0.3) }, { kind: 'seam', path: flip(offset(t.armhole, 0.3)) });
  }
  marks.push(
    {
      kind: 'seam',
      path: spline([
        [c.neck, 0.5],
        [c.shoulder, c.slope + 0.5],
      ]),
      depth: 0.03,
      dark: 0.1,
    },
    {
      kind: 'seam',
      path: spline([
        [-c.neck, 0.5],
        [-c.shoulder, c.slope + 0.5],
      ]),
      depth: 0.03,
      dark: 0.1,
    },
  );
  if (print) marks.push(...print(c));
  parts.push({ outline: t.outline, group: 'body', material, lift: 0.05, roll: 0.3, rollHeight: 0.05, folds: torsoFolds(c, rng, 1.3), marks });
  if (sleeve === 'none')
    for (const line of [t.armhole, flip(t.armhole).reverse()])
      parts.push({
        outline: [...line, ...offset(line, -1.1).reverse()],
        material: { weave: 'jersey', color, heather },
        along: line,
        across: true,
        lift: 0.06,
        roll: 0.4,
        rollHeight: 0.1,
        inherit: 0.6,
        crumple: 0,
      });
  if (pocket) {
    const x = 10;
    const y = 21;
    const edge = [
      [x - 5, y - 5.5],
      [x + 5, y - 5.5],
      [x + 5, y + 4],
      [x, y + 6.4],
      [x - 5, y + 4],
    ];
    parts.push({
      outline: edge,
      material,
      lift: 0.07,
      roll: 0.25,
      rollHeight: 0.05,
      inherit: 1,
      crumple: 0.02,
      marks: [
        { kind: 'stitch', path: offset([...edge.slice(1), edge[0]], -0.3).slice(0, 4), color: thread, alpha: 0.4 },
        {
          kind: 'stitch',
          path: [
            [x - 5, y - 4],
            [x + 5, y - 4],
          ],
          color: thread,
          alpha: 0.4,
        },
      ],
    });
  }
  parts.push(
    ...neckband(
      t.neckline,
      backLine(c),
      { weave: neck === 'v' ? weave : 'rib', color: trim, gauge: 0.55, heather },
      neck === 'scoop' || neck === 'boat' ? 1.3 : 2,
    ),
  );
  return { seed, parts, puff: { body: { radius: 1.2, height: 0.6 } } };
}
