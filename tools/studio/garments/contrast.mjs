// Thread that shows on cloth: darker on light, lighter on dark.

import { darker, lighter, lightness } from '../render/colour.mjs';

export const contrast = (color, t = 0.25) => (lightness(color) > 0.5 ? darker(color, t) : lighter(color, t));
