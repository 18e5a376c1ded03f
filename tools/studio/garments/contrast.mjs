// Color of thread that stays visible: darker on light cloth, lighter on dark cloth.

import { darker, lighter, lightness } from '../render/colour.mjs';

export const contrast = (color, t = 0.25) => (lightness(color) > 0.5 ? darker(color, t) : lighter(color, t));
