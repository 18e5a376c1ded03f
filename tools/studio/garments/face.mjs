// The face of a portrait, as cut paper: brows, eyes with a light in them, a mouth. Coordinates of `portrait.mjs`: the head is
// 19 wide and reaches from -15 to 13.

import { darker, mix } from '../render/colour.mjs';
import { ellipse, shape } from '../render/geometry.mjs';

const EYE_X = 4.1;
const EYE_Y = -0.6;

/** Marks on the head: brows and eyes. */
export function eyes(hair) {
  const both = [-1, 1];
  const iris = both.map((s) => ellipse(s * EYE_X, EYE_Y, 0.92, 1.18, 28));
  const light = both.map((s) => ellipse(s * EYE_X + 0.32, EYE_Y - 0.42, 0.3, 0.32, 16));
  const brows = both.map((s) =>
    shape([
      [s * 2.3, EYE_Y - 3],
      [s * 4.2, EYE_Y - 3.8],
      [s * 6.2, EYE_Y - 2.9],
      [s * 4.2, EYE_Y - 3.1],
    ]),
  );
  return [
    { kind: 'ink', fills: brows, color: darker(hair, 0.25), raise: 0.04, alpha: 0.85 },
    { kind: 'ink', fills: iris, color: '#221a18', raise: 0.03, alpha: 0.96 },
    { kind: 'ink', fills: light, color: '#f6efe6', raise: 0.03, alpha: 0.9 },
  ];
}

/** The mouth, a part of its own, because it lies above a beard. */
export function mouth(skin) {
  return {
    outline: shape([
      [-2.9, 6.4, 1],
      [-1.2, 6.5],
      [0, 6.8],
      [1.2, 6.5],
      [2.9, 6.4, 1],
      [1.6, 7.8],
      [0, 8.2],
      [-1.6, 7.8],
    ]),
    material: { weave: 'paper', color: mix(skin, '#93323a', 0.38) },
    lift: 0.05,
    roll: 0.4,
    rollHeight: 0.14,
    inherit: 0.6,
  };
}
