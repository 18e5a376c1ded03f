// Colour arithmetic. Pictures are computed in linear light and encoded once.

const toLinear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const toGamma = (c) => (c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055);

/** '#rrggbb' to linear [r, g, b]. */
export function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [toLinear((n >> 16) / 255), toLinear(((n >> 8) & 255) / 255), toLinear((n & 255) / 255)];
}

const table = new Uint8Array(4097);
for (let i = 0; i <= 4096; i++) table[i] = Math.round(toGamma(i / 4096) * 255);

/** Linear 0..1 to an 8-bit value. */
export const encode = (c) => table[c <= 0 ? 0 : c >= 1 ? 4096 : Math.round(c * 4096)];

const linear = new Float32Array(257);
for (let i = 0; i <= 256; i++) linear[i] = toLinear(i / 255);

/** A (fractional) 8-bit value to linear. */
export function decode(v) {
  const x = v < 0 ? 0 : v > 255 ? 255 : v;
  const i = Math.floor(x);
  return linear[i] + (linear[i + 1] - linear[i]) * (x - i);
}

/** Mixes two hex colours in gamma space, which is where eyes mix. */
export function mix(a, b, t) {
  const x = parseInt(a.slice(1), 16);
  const y = parseInt(b.slice(1), 16);
  const ch = (s) => Math.round(((x >> s) & 255) * (1 - t) + ((y >> s) & 255) * t);
  return `#${((1 << 24) | (ch(16) << 16) | (ch(8) << 8) | ch(0)).toString(16).slice(1)}`;
}

export const darker = (hex, t = 0.2) => mix(hex, '#0c0a0a', t);
export const lighter = (hex, t = 0.2) => mix(hex, '#ffffff', t);

/** Perceived lightness 0..1. */
export function lightness(hex) {
  const [r, g, b] = rgb(hex);
  return Math.cbrt(0.2126 * r + 0.7152 * g + 0.0722 * b);
}
