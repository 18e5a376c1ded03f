// The cloth renderer. A garment is a list of flat parts, bottom to top; each
// part becomes a height field (edge roll + body puff + folds + wrinkles + weave)
// lit from the upper left, and casts a small shadow on the parts below it.
// Result: a sprite {w, h, rgb, a, ox, oy, scale} in linear light, premultiplied no.

import { rgb } from './colour.mjs';
import { alongStroke, blur, field, fill } from './field.mjs';
import { bounds } from './geometry.mjs';
import { fbm, noise2, seedOf } from './noise.mjs';
import { pattern } from './pattern.mjs';
import { MATERIALS, weave } from './weave.mjs';

// Light from the upper left, high enough to keep colours true on flat cloth.
const LIGHT = (() => {
  const v = [-0.5, -0.64, 0.66];
  const l = Math.hypot(...v);
  return v.map((c) => c / l);
})();
const HALF = (() => {
  const v = [LIGHT[0], LIGHT[1], LIGHT[2] + 1];
  const l = Math.hypot(...v);
  return v.map((c) => c / l);
})();
const AMBIENT = 0.3;
/** Cloth darker than this (luminance, linear) also shows its fibres' own reflection, or folds and seams would vanish in black. */
const DARK_CLOTH = 0.06;
const FIBRE_LIGHT = 0.05;
/** Color of the undyed yarn, which shows between the dyed threads of denim. */
const WEFT = rgb('#cdd0d2');

/**
 * Draws a garment.
 * @param garment {seed, wobble, parts}
 * @param options {scale: px per cm, rotate: degrees}
 */
export function render(garment, { scale, rotate = 0 }) {
  const seed = seedOf(garment.seed ?? 'garment');
  const place = placement(garment, seed, scale, rotate);
  const { w, h } = place;
  const sprite = { w, h, scale, ox: place.tx, oy: place.ty, rgb: new Float32Array(w * h * 3), a: new Float32Array(w * h) };
  const height = new Float32Array(w * h);
  const parts = garment.parts.map((part, i) => prepare(part, i, place, seed));
  const groups = bodies(parts, garment, scale, w, h);
  for (const part of parts) if (part.clip) clip(part.mask, groups[part.clip].mask);
  for (const part of parts) paint(part, sprite, height, groups, place);
  return sprite;
}

/** Extents of a garment on the table, in cm, without painting it. */
export function extents(garment, rotate = 0) {
  const place = placement(garment, seedOf(garment.seed ?? 'garment'), 1, rotate, 0);
  return place.box;
}

function placement(garment, seed, scale, rotate, pad = 0.8) {
  const amp = garment.wobble ?? 0.5;
  const long = 1 / (garment.wobbleLength ?? 24);
  const warp = (x, y) => [
    amp * (noise2(x * long + 3, y * long, seed) + 0.3 * noise2(x * long * 3, y * long * 3, seed + 1)),
    amp * (noise2(x * long, y * long + 7, seed + 2) + 0.3 * noise2(x * long * 3, y * long * 3, seed + 3)),
  ];
  const a = (rotate * Math.PI) / 180;
  const cos = Math.cos(a);
  const sin = Math.sin(a);
  const turned = (pts) =>
    pts.map(([x, y]) => {
      const [dx, dy] = warp(x, y);
      const px = x + dx;
      const py = y + dy;
      return [px * cos - py * sin, px * sin + py * cos];
    });
  const all = garment.parts.filter((p) => !p.clip).flatMap((p) => (isContours(p.outline) ? p.outline : [p.outline]).map(turned));
  const box = bounds(all);
  const tx = (-box.x0 + pad) * scale;
  const ty = (-box.y0 + pad) * scale;
  return {
    box,
    scale,
    warp,
    cos,
    sin,
    seed,
    tx,
    ty,
    w: Math.ceil((box.w + pad * 2) * scale),
    h: Math.ceil((box.h + pad * 2) * scale),
    map: (pts) => turned(pts).map(([x, y]) => [x * scale + tx, y * scale + ty]),
    /**
     * Maps a pixel back to garment coordinates in cm; the distortion is inverted only approximately (first order).
     */
    back(px, py) {
      const x = (px - tx) / scale;
      const y = (py - ty) / scale;
      const gx = x * cos + y * sin;
      const gy = -x * sin + y * cos;
      const [dx, dy] = warp(gx, gy);
      return [gx - dx, gy - dy];
    },
  };
}

const isContours = (outline) => Array.isArray(outline[0][0]);

function prepare(part, index, place, seed) {
  const { scale } = place;
  const contours = (isContours(part.outline) ? part.outline : [part.outline]).map(place.map);
  const b = bounds([contours[0]]);
  const pad = Math.ceil(1.6 * scale) + 2;
  const x = Math.max(0, Math.floor(b.x0) - pad);
  const y = Math.max(0, Math.floor(b.y0) - pad);
  const w = Math.min(place.w, Math.ceil(b.x1) + pad) - x;
  const h = Math.min(place.h, Math.ceil(b.y1) + pad) - y;
  return { ...part, seed: seed + index * 131, mask: fill(contours, x, y, w, h) };
}

/** Clips a mask to the silhouette of a group. */
function clip(mask, union) {
  for (let y = 0; y < mask.h; y++) for (let x = 0; x < mask.w; x++) mask.d[y * mask.w + x] *= union.d[(y + mask.y) * union.w + x + mask.x];
}

/** Height of the padded silhouettes that several parts share. */
function bodies(parts, garment, scale, w, h) {
  const groups = {};
  const names = new Set(parts.map((p) => p.group).filter(Boolean));
  for (const name of names) {
    const union = field(0, 0, w, h);
    for (const p of parts) {
      if (p.group !== name) continue;
      const m = p.mask;
      for (let y = 0; y < m.h; y++)
        for (let x = 0; x < m.w; x++) {
          const k = (y + m.y) * w + x + m.x;
          union.d[k] = Math.max(union.d[k], m.d[y * m.w + x]);
        }
    }
    const { radius = 1.5, height = 0.7 } = garment.puff?.[name] ?? {};
    const near = blur(union, radius * 0.45 * scale);
    const far = blur(union, radius * 1.6 * scale);
    const out = new Float32Array(w * h);
    for (let i = 0; i < out.length; i++) out[i] = height * (0.4 * dome(near.d[i]) + 0.6 * dome(far.d[i]));
    groups[name] = { height: out, mask: union };
  }
  return groups;
}

/**
 * Turns blurred coverage (0.5 at the edge) into the height of a rounded edge. The smooth transition avoids creases at
 * corners, where coverage is below one half.
 */
function dome(b) {
  const x = b * 2 - 1;
  const t = (x + Math.sqrt(x * x + 0.09)) / 2.044;
  return t * (2 - t);
}

function paint(part, sprite, height, groups, place) {
  const { scale } = place;
  const px = 1 / scale;
  const mat = part.material;
  const kind = MATERIALS[mat.weave] ?? MATERIALS.jersey;
  const m = part.mask;
  const { w, h } = m;
  const n = w * h;
  shadeBelow(part, sprite, place);

  // Relief of the part itself.
  const hgt = new Float32Array(n);
  const rollWidth = part.roll ?? 0.35;
  const rollHeight = part.rollHeight ?? 0.16;
  if (rollHeight) {
    const soft = blur(m, rollWidth * 0.5 * scale);
    for (let i = 0; i < n; i++) hgt[i] += rollHeight * dome(soft.d[i]);
  }
  if (part.puff) {
    const soft = blur(m, part.puff[0] * scale);
    for (let i = 0; i < n; i++) hgt[i] += part.puff[1] * dome(soft.d[i]);
  }
  const body = part.group ? groups[part.group].height : null;
  const inherit = part.inherit ?? (part.group ? 0 : 0.85);
  const below = inherit ? softened(height, sprite.w, m, (part.drape ?? 0.3) * scale) : null;
  for (let y = 0; y < h; y++)
    for (let x = 0; x < w; x++) {
      const k = (y + m.y) * sprite.w + x + m.x;
      if (body) hgt[y * w + x] += body[k];
      if (below) hgt[y * w + x] += inherit * below[y * w + x];
    }
  for (const fold of part.folds ?? []) crease(fold, hgt, m, place);

  // Cloth: local coordinates, wrinkles, weave, pattern.
  const base = rgb(mat.color);
  const albedo = new Float32Array(n * 3);
  const cloth = weave(mat.weave, { px, seed: part.seed, gauge: mat.gauge, heather: mat.heather });
  const dye = pattern(mat.pattern, { px, seed: mat.pattern?.seed ?? place.seed });
  const crumple = part.crumple ?? kind.crumple;
  const reach = kind.reach;
  const grain = ((part.grain ?? 0) * Math.PI) / 180;
  const gc = Math.cos(grain);
  const gs = Math.sin(grain);
  const [ou, ov] = part.origin ?? [0, 0];
  const follow = part.along ? alongField(part.along, m, place) : null;
  const out = { h: 0, t: 1, w: 0 };
  // Black denim is dyed completely, so its undyed yarn is hardly drawn.
  const weftShare = Math.min(1, 0.03 + (5 * (base[0] + base[1] + base[2])) / 3);
  const c = [0, 0, 0];
  const ws = place.seed + (part.group ? seedOf(part.group) % 999 : part.seed);
  const tint = part.tint ?? 1;
  const fades = part.fades ?? [];
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const i = y * w + x;
      if (m.d[i] <= 0) continue;
      const [gx, gy] = place.back(x + m.x + 0.5, y + m.y + 0.5);
      if (crumple) {
        const wx = gx / reach + 0.35 * noise2(gx * 0.09, gy * 0.07, ws + 9);
        const wy = gy / (reach * 1.25) + 0.35 * noise2(gx * 0.08, gy * 0.09, ws + 10);
        hgt[i] += 1.9 * crumple * fbm(wx, wy, ws, 3);
      }
      let u;
      let v;
      if (follow) {
        u = part.across ? follow.v[i] : follow.u[i];
        v = part.across ? follow.u[i] : follow.v[i];
      } else {
        const rx = gx - ou;
        const ry = gy - ov;
        u = rx * gc + ry * gs;
        v = -rx * gs + ry * gc;
      }
      c[0] = base[0];
      c[1] = base[1];
      c[2] = base[2];
      if (dye) dye(u + 0.12 * noise2(gx * 0.2, gy * 0.2, ws), v + 0.16 * noise2(gx * 0.16, gy * 0.16, ws + 1), c);
      cloth(u, v, out);
      hgt[i] += out.h;
      let t = out.t * tint;
      for (const f of fades) {
        const e = ((gx - f.x) / f.rx) ** 2 + ((gy - f.y) / f.ry) ** 2;
        if (e < 4) {
          const k = f.amount * Math.exp(-e * 1.6) * (1 + 0.5 * fbm(gx * 0.5, gy * 0.12, ws + 4, 2));
          for (let q = 0; q < 3; q++) c[q] += ((f.to?.[q] ?? 0.55) - c[q]) * k;
        }
      }
      const weft = out.w * weftShare;
      albedo[i * 3] = (c[0] + (WEFT[0] - c[0]) * weft) * t;
      albedo[i * 3 + 1] = (c[1] + (WEFT[1] - c[1]) * weft) * t;
      albedo[i * 3 + 2] = (c[2] + (WEFT[2] - c[2]) * weft) * t;
    }
  }
  for (const mark of part.marks ?? []) draw(mark, albedo, hgt, m, place);
  light(part, kind, { hgt, albedo, m }, sprite, height, scale);
}

/**
 * The heights below a part, smoothed, because cloth spans small edges instead of following them.
 */
function softened(height, stride, m, sigma) {
  const f = field(0, 0, m.w, m.h);
  for (let y = 0; y < m.h; y++) f.d.set(height.subarray((y + m.y) * stride + m.x, (y + m.y) * stride + m.x + m.w), y * m.w);
  return blur(f, sigma).d;
}

/** Shadow of a part on whatever of the sprite lies beneath it. */
function shadeBelow(part, sprite, place) {
  const lift = part.lift ?? 0.18;
  if (!lift) return;
  const { scale } = place;
  const m = part.mask;
  const tight = blur(m, Math.max(0.6, lift * 0.55 * scale));
  const wide = blur(m, Math.max(0.8, lift * 2.2 * scale));
  const dx = Math.round(lift * 0.55 * scale);
  const dy = Math.round(lift * 0.75 * scale);
  const dx2 = dx * 2;
  const dy2 = dy * 2;
  const strength = part.shadow ?? 1;
  for (let y = 0; y < m.h; y++)
    for (let x = 0; x < m.w; x++) {
      const k = (y + m.y) * sprite.w + x + m.x;
      if (sprite.a[k] <= 0) continue;
      const s1 = sample(tight, x - dx, y - dy);
      const s2 = sample(wide, x - dx2, y - dy2);
      const keep = (1 - 0.5 * strength * s1) * (1 - 0.3 * strength * s2);
      sprite.rgb[k * 3] *= keep;
      sprite.rgb[k * 3 + 1] *= keep * 0.995;
      sprite.rgb[k * 3 + 2] *= keep * 0.99;
    }
}

const sample = (f, x, y) => (x < 0 || y < 0 || x >= f.w || y >= f.h ? 0 : f.d[y * f.w + x]);

/** A fold: ridge (amp > 0) or valley along a path, thinning out at its ends. */
function crease({ path, w = 1.2, amp = 0.25, taper = 'both', skew = 0 }, hgt, m, place) {
  const pts = place.map(path);
  const reach = w * 2.4 * place.scale;
  const k = 1 / (w * place.scale);
  alongStroke(pts, reach, m, (i, d, t, side) => {
    const e = ends(t, taper);
    const x = d * k;
    const s = skew ? 1 + skew * side * Math.min(1, x) : 1;
    hgt[i] += 2.1 * amp * e * Math.exp(-x * x * 1.4) * s;
  });
}

function ends(t, taper) {
  if (taper === 'none') return 1;
  if (taper === 'start') return Math.min(1, t * 2.2) ** 0.8;
  if (taper === 'end') return Math.min(1, (1 - t) * 1.6) ** 0.9;
  return Math.sin(Math.PI * Math.min(1, Math.max(0, t))) ** 0.7;
}

/** Seams, stitching, prints and painted lines. */
function draw(mark, albedo, hgt, m, place) {
  const { scale } = place;
  if (mark.kind === 'seam') {
    const w = Math.max(0.13, 1.1 / scale) * (mark.w ?? 1);
    alongStroke(place.map(mark.path), w * 2.6 * scale, m, (i, d) => {
      const x = d / (w * scale);
      const e = Math.exp(-x * x);
      hgt[i] -= (mark.depth ?? 0.06) * e;
      const k = 1 - (mark.dark ?? 0.16) * e;
      albedo[i * 3] *= k;
      albedo[i * 3 + 1] *= k;
      albedo[i * 3 + 2] *= k;
    });
    return;
  }
  if (mark.kind === 'stitch') {
    const ink = rgb(mark.color);
    const w = Math.max(mark.w ?? 0.075, 0.62 / scale);
    const pts = place.map(mark.path);
    let total = 0;
    for (let i = 1; i < pts.length; i++) total += Math.hypot(pts[i][0] - pts[i - 1][0], pts[i][1] - pts[i - 1][1]);
    const pitch = Math.max(mark.pitch ?? 0.42, 4.2 / scale) * scale;
    const count = Math.max(2, Math.round(total / pitch));
    const strength = mark.alpha ?? 0.85;
    alongStroke(pts, w * 2.2 * scale, m, (i, d, t) => {
      const f = t * count - Math.floor(t * count);
      const on = f > 0.16 && f < 0.84 ? 1 : 0.12;
      const x = d / (w * scale);
      const e = Math.exp(-x * x * 1.1) * on;
      hgt[i] += 0.035 * e - 0.03 * Math.exp(-x * x * 0.25);
      const a = strength * e;
      for (let q = 0; q < 3; q++) albedo[i * 3 + q] += (ink[q] - albedo[i * 3 + q]) * a;
    });
    return;
  }
  if (mark.kind === 'line') {
    const ink = rgb(mark.color);
    const w = Math.max(mark.w ?? 0.1, 0.7 / scale);
    alongStroke(place.map(mark.path), w * scale + 1, m, (i, d) => {
      const a = (mark.alpha ?? 1) * Math.min(1, Math.max(0, (w * scale) / 2 - d + 0.5));
      for (let q = 0; q < 3; q++) albedo[i * 3 + q] += (ink[q] - albedo[i * 3 + q]) * a;
      hgt[i] += (mark.raise ?? 0) * a;
    });
    return;
  }
  if (mark.kind === 'ink') {
    const ink = rgb(mark.color);
    for (const glyph of mark.fills) {
      const contours = (isContours(glyph) ? glyph : [glyph]).map(place.map);
      const f = fill(contours, m.x, m.y, m.w, m.h);
      for (let i = 0; i < f.d.length; i++) {
        const a = (mark.alpha ?? 0.94) * f.d[i];
        if (a <= 0) continue;
        for (let q = 0; q < 3; q++) albedo[i * 3 + q] += (ink[q] - albedo[i * 3 + q]) * a;
        hgt[i] += (mark.raise ?? 0.01) * f.d[i];
      }
    }
    return;
  }
  throw new Error(`unknown mark ${mark.kind}`);
}

/** (u, v) along a curve: v its length so far, u the signed distance. */
function alongField(path, m, place) {
  const pts = place.map(path);
  let total = 0;
  for (let i = 1; i < pts.length; i++) total += Math.hypot(pts[i][0] - pts[i - 1][0], pts[i][1] - pts[i - 1][1]);
  const u = new Float32Array(m.w * m.h);
  const v = new Float32Array(m.w * m.h);
  alongStroke(pts, 14 * place.scale, m, (i, d, t, side) => {
    u[i] = (d * side) / place.scale;
    v[i] = (t * total) / place.scale;
  });
  return { u, v };
}

/** Shades the part and lays it over the sprite. */
function light(part, kind, { hgt, albedo, m }, sprite, height, scale) {
  const { w, h } = m;
  // Only the heights of the part itself count; lower areas beside it must not darken it.
  const hf = { x: 0, y: 0, w, h, d: hgt.map((v, i) => v * m.d[i]) };
  const wide = blur(hf, 0.9 * scale);
  const cover = blur(m, 0.9 * scale);
  const fine = blur(hf, 0.22 * scale);
  const near = blur(m, 0.22 * scale);
  const spec = part.material.spec ?? kind.spec;
  const gloss = part.material.gloss ?? kind.gloss;
  const relief = part.relief ?? 1;
  const opacity = part.opacity ?? 1;
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const i = y * w + x;
      const a = m.d[i] * opacity;
      if (a <= 0) continue;
      const l = x > 0 && m.d[i - 1] > 0 ? i - 1 : i;
      const r = x < w - 1 && m.d[i + 1] > 0 ? i + 1 : i;
      const t = y > 0 && m.d[i - w] > 0 ? i - w : i;
      const b = y < h - 1 && m.d[i + w] > 0 ? i + w : i;
      const gx = ((hgt[r] - hgt[l]) / Math.max(1, r - l)) * scale * relief;
      const gy = ((hgt[b] - hgt[t]) / Math.max(1, (b - t) / w)) * scale * relief;
      const inv = 1 / Math.sqrt(1 + gx * gx + gy * gy);
      const nl = Math.max(0, (LIGHT[2] - gx * LIGHT[0] - gy * LIGHT[1]) * inv) / LIGHT[2];
      const mean = cover.d[i] > 0.05 ? wide.d[i] / cover.d[i] : hgt[i];
      const occ = Math.min(0.42, Math.max(-0.08, (mean - hgt[i]) * 0.55));
      const crev = Math.min(0.2, Math.max(0, (fine.d[i] / Math.max(0.05, near.d[i]) - hgt[i]) * 0.9));
      let shade = (AMBIENT + (1 - AMBIENT) * nl) * (1 - occ) * (1 - crev);
      // Keep highlights from burning out.
      if (shade > 1) shade = 1 + (shade - 1) * 0.72;
      const nh = Math.max(0, (HALF[2] - gx * HALF[0] - gy * HALF[1]) * inv);
      // Only reflections stronger than those of flat cloth add light, so that dark satin stays dark.
      const s = spec * Math.max(0, nh ** gloss - 0.7 * HALF[2] ** gloss);
      const k = (y + m.y) * sprite.w + x + m.x;
      // Shadows are shifted slightly to blue, lights slightly to yellow.
      const warm = Math.max(-0.03, Math.min(0.03, (shade - 1) * 0.05));
      const luminance = 0.2126 * albedo[i * 3] + 0.7152 * albedo[i * 3 + 1] + 0.0722 * albedo[i * 3 + 2];
      const fibre = FIBRE_LIGHT * Math.max(0, 1 - luminance / DARK_CLOTH) * Math.max(0, shade - 0.72) ** 1.3;
      const v0 = albedo[i * 3] * shade * (1 + warm) + s + fibre;
      const v1 = albedo[i * 3 + 1] * shade + s + fibre;
      const v2 = albedo[i * 3 + 2] * shade * (1 - warm) + s * 0.97 + fibre * 1.06;
      const under = sprite.a[k];
      const rest = under * (1 - a);
      const total = a + rest;
      sprite.rgb[k * 3] = (v0 * a + sprite.rgb[k * 3] * rest) / total;
      sprite.rgb[k * 3 + 1] = (v1 * a + sprite.rgb[k * 3 + 1] * rest) / total;
      sprite.rgb[k * 3 + 2] = (v2 * a + sprite.rgb[k * 3 + 2] * rest) / total;
      sprite.a[k] = total;
      height[k] = height[k] * (1 - a) + hgt[i] * a;
    }
  }
}
