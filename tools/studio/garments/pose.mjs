// How the sleeves of a garment lie: straight down, spread, close to the body, or one of them bent.

import { random } from '../render/noise.mjs';

/** [angle of the upper arm, turn of the forearm] in degrees, left and right; added to what the garment's cut asks for. */
const POSES = [
  [
    [0, 0],
    [0, 0],
  ],
  [
    [7, 0],
    [8, 0],
  ],
  [
    [-8, 5],
    [-10, 2],
  ],
  [
    [-7, 26],
    [2, 0],
  ],
  [
    [3, 0],
    [-6, 22],
  ],
  [
    [-8, 20],
    [-8, 24],
  ],
];

/** The angles of one sleeve of the garment with this seed. */
export function sleevePose(seed, isLeft, angle, bend) {
  const [turn, fold] = random(`sleeves-${seed}`).pick(POSES)[isLeft ? 0 : 1];
  return { angle: angle + turn, bend: bend + fold };
}
