// Float fields: the rasters a picture is made from. A field covers a window of
// the picture: {x, y, w, h, d: Float32Array}. Polygons are filled with exact
// horizontal coverage and four sub-scanlines, strokes become distance profiles;
// floats all the way, so that relief never shows banding.

import { area } from './geometry.mjs';

export function field(x, y, w, h) {
  return { x, y, w, h, d: new Float32Array(w * h) };
}

/** Coverage 0..1 of a polygon (first contour solid, later ones holes) in pixels. */
export function fill(contours, x, y, w, h) {
  const out = field(x, y, w, h);
  const sub = 4;
  const edges = [];
  contours.forEach((pts, k) => {
    const wantPositive = k === 0;
    const flipIt = area(pts) > 0 !== wantPositive;
    const p = flipIt ? [...pts].reverse() : pts;
    for (let i = 0, j = p.length - 1; i < p.length; j = i++) {
      const [x0, y0] = p[j];
      const [x1, y1] = p[i];
      if (y0 === y1) continue;
      edges.push(y0 < y1 ? [y0, y1, x0, (x1 - x0) / (y1 - y0), 1] : [y1, y0, x1, (x0 - x1) / (y0 - y1), -1]);
    }
  });
  edges.sort((a, b) => a[0] - b[0]);
  let next = 0;
  let active = [];
  for (let row = 0; row < h; row++) {
    for (let s = 0; s < sub; s++) {
      const sy = y + row + (s + 0.5) / sub;
      while (next < edges.length && edges[next][0] <= sy) active.push(edges[next++]);
      if (!active.length) continue;
      active = active.filter((e) => e[1] > sy);
      const hits = active.map((e) => [e[2] + (sy - e[0]) * e[3] - x, e[4]]).sort((a, b) => a[0] - b[0]);
      let wind = 0;
      for (let i = 0; i < hits.length - 1; i++) {
        wind += hits[i][1];
        if (wind !== 0) span(out.d, row * w, w, hits[i][0], hits[i + 1][0], 1 / sub);
      }
    }
  }
  for (let i = 0; i < out.d.length; i++) if (out.d[i] > 1) out.d[i] = 1;
  return out;
}

function span(d, base, w, a, b, amount) {
  a = Math.max(0, a);
  b = Math.min(w, b);
  if (b <= a) return;
  const ia = Math.floor(a);
  const ib = Math.floor(b);
  if (ia === ib) {
    d[base + ia] += (b - a) * amount;
    return;
  }
  d[base + ia] += (ia + 1 - a) * amount;
  for (let i = ia + 1; i < ib; i++) d[base + i] += amount;
  if (ib < w) d[base + ib] += (b - ib) * amount;
}

/** Gaussian blur by three box passes; edges count as zero. Returns a new field. */
export function blur(f, sigma) {
  const out = { ...f, d: Float32Array.from(f.d) };
  if (sigma < 0.35) return out;
  const { w, h } = f;
  const tmp = new Float32Array(w * h);
  // Three boxes with half-width r have variance 3·((2r+1)²−1)/12; fractional r is blended.
  const ideal = (Math.sqrt(4 * sigma * sigma + 1) - 1) / 2;
  for (let pass = 0; pass < 3; pass++) {
    boxRows(out.d, tmp, w, h, ideal);
    boxCols(tmp, out.d, w, h, ideal);
  }
  return out;
}

function boxRows(src, dst, w, h, r) {
  const ri = Math.floor(r);
  const rf = r - ri;
  const norm = 1 / (2 * r + 1);
  for (let y = 0; y < h; y++) {
    const b = y * w;
    let sum = 0;
    for (let x = 0; x <= Math.min(ri, w - 1); x++) sum += src[b + x];
    for (let x = 0; x < w; x++) {
      const lo = x - ri - 1;
      const hi = x + ri + 1;
      dst[b + x] = (sum + rf * ((lo >= 0 ? src[b + lo] : 0) + (hi < w ? src[b + hi] : 0))) * norm;
      if (hi < w) sum += src[b + hi];
      if (x - ri >= 0) sum -= src[b + x - ri];
    }
  }
}

function boxCols(src, dst, w, h, r) {
  const ri = Math.floor(r);
  const rf = r - ri;
  const norm = 1 / (2 * r + 1);
  const sum = new Float32Array(w);
  for (let y = 0; y <= Math.min(ri, h - 1); y++) for (let x = 0; x < w; x++) sum[x] += src[y * w + x];
  for (let y = 0; y < h; y++) {
    const lo = y - ri - 1;
    const hi = y + ri + 1;
    const b = y * w;
    for (let x = 0; x < w; x++) dst[b + x] = (sum[x] + rf * ((lo >= 0 ? src[lo * w + x] : 0) + (hi < h ? src[hi * w + x] : 0))) * norm;
    if (hi < h) for (let x = 0; x < w; x++) sum[x] += src[hi * w + x];
    if (y - ri >= 0) for (let x = 0; x < w; x++) sum[x] -= src[(y - ri) * w + x];
  }
}

/**
 * Visits every pixel within `reach` of a polyline once, with its distance and
 * the place along the line (0..1) and the signed side.
 */
export function alongStroke(pts, reach, win, visit) {
  const { x, y, w, h } = win;
  let bx0 = Infinity;
  let by0 = Infinity;
  let bx1 = -Infinity;
  let by1 = -Infinity;
  for (const [px, py] of pts) {
    bx0 = Math.min(bx0, px);
    by0 = Math.min(by0, py);
    bx1 = Math.max(bx1, px);
    by1 = Math.max(by1, py);
  }
  const x0 = Math.max(x, Math.floor(bx0 - reach));
  const y0 = Math.max(y, Math.floor(by0 - reach));
  const x1 = Math.min(x + w, Math.ceil(bx1 + reach) + 1);
  const y1 = Math.min(y + h, Math.ceil(by1 + reach) + 1);
  const ww = x1 - x0;
  const hh = y1 - y0;
  if (ww <= 0 || hh <= 0) return;
  const best = new Float32Array(ww * hh).fill(reach * reach);
  const where = new Float32Array(ww * hh);
  const side = new Int8Array(ww * hh);
  let total = 0;
  for (let i = 1; i < pts.length; i++) total += Math.hypot(pts[i][0] - pts[i - 1][0], pts[i][1] - pts[i - 1][1]);
  let run = 0;
  for (let i = 1; i < pts.length; i++) {
    const [ax, ay] = pts[i - 1];
    const [cx, cy] = pts[i];
    const dx = cx - ax;
    const dy = cy - ay;
    const len2 = dx * dx + dy * dy;
    if (len2 === 0) continue;
    const len = Math.sqrt(len2);
    const sx0 = Math.max(x0, Math.floor(Math.min(ax, cx) - reach));
    const sx1 = Math.min(x1, Math.ceil(Math.max(ax, cx) + reach) + 1);
    const sy0 = Math.max(y0, Math.floor(Math.min(ay, cy) - reach));
    const sy1 = Math.min(y1, Math.ceil(Math.max(ay, cy) + reach) + 1);
    for (let py = sy0; py < sy1; py++) {
      for (let px = sx0; px < sx1; px++) {
        const qx = px + 0.5 - ax;
        const qy = py + 0.5 - ay;
        let t = (qx * dx + qy * dy) / len2;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        const ex = qx - t * dx;
        const ey = qy - t * dy;
        const d2 = ex * ex + ey * ey;
        const k = (py - y0) * ww + px - x0;
        if (d2 < best[k]) {
          best[k] = d2;
          where[k] = (run + t * len) / total;
          side[k] = dx * qy - dy * qx > 0 ? 1 : -1;
        }
      }
    }
    run += len;
  }
  const r2 = reach * reach;
  for (let py = 0; py < hh; py++) {
    for (let px = 0; px < ww; px++) {
      const k = py * ww + px;
      if (best[k] < r2) visit((py + y0 - y) * w + px + x0 - x, Math.sqrt(best[k]), where[k], side[k]);
    }
  }
}
