// Plane geometry in centimetres, y down, x = 0 on the garment's centre line.
// Outlines and seams are polylines of [x, y] made from a few hand-set nodes.

const hypot = Math.hypot;

/**
 * Smooth curve through nodes. A node is [x, y] (smooth) or [x, y, 1] (corner).
 * Returns a dense polyline.
 */
export function spline(nodes, { closed = false, step = 0.45, ease = 0.38 } = {}) {
  const n = nodes.length;
  const at = (i) => nodes[((i % n) + n) % n];
  const tangent = (i) => {
    const p = at(i);
    if (p[2]) return null;
    if (!closed && (i <= 0 || i >= n - 1)) return null;
    const a = at(i - 1);
    const b = at(i + 1);
    const dx = b[0] - a[0];
    const dy = b[1] - a[1];
    const l = hypot(dx, dy) || 1;
    return [dx / l, dy / l];
  };
  const out = [];
  const last = closed ? n : n - 1;
  for (let i = 0; i < last; i++) {
    const p = at(i);
    const q = at(i + 1);
    const d = hypot(q[0] - p[0], q[1] - p[1]);
    const tp = tangent(i);
    const tq = tangent(closed ? (i + 1) % n : i + 1);
    let c1;
    let c2;
    if (tp) c1 = [p[0] + tp[0] * d * ease, p[1] + tp[1] * d * ease];
    if (tq) c2 = [q[0] - tq[0] * d * ease, q[1] - tq[1] * d * ease];
    if (!c1) c1 = c2 ? [p[0] + (c2[0] - p[0]) * 0.5, p[1] + (c2[1] - p[1]) * 0.5] : lerp(p, q, 1 / 3);
    if (!c2) c2 = tp ? [q[0] + (c1[0] - q[0]) * 0.5, q[1] + (c1[1] - q[1]) * 0.5] : lerp(p, q, 2 / 3);
    const steps = Math.max(2, Math.ceil(d / step));
    for (let s = 0; s < steps; s++) {
      const t = s / steps;
      const m = 1 - t;
      const w0 = m * m * m;
      const w1 = 3 * m * m * t;
      const w2 = 3 * m * t * t;
      const w3 = t * t * t;
      out.push([w0 * p[0] + w1 * c1[0] + w2 * c2[0] + w3 * q[0], w0 * p[1] + w1 * c1[1] + w2 * c2[1] + w3 * q[1]]);
    }
  }
  if (!closed) out.push([at(n - 1)[0], at(n - 1)[1]]);
  return out;
}

/** Closed smooth outline. */
export const shape = (nodes, options) => spline(nodes, { ...options, closed: true });

/** Point between p and q. */
export const lerp = (p, q, t) => [p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t];

/** Mirror image across x = 0, order reversed so that halves join. */
export const mirrored = (pts) => pts.map(([x, y, c]) => (c ? [0 - x, y, c] : [0 - x, y])).reverse();

/** Closed outline from the nodes of the right half, top to bottom. */
export function symmetric(right, options) {
  const left = mirrored(right).filter(([x], i, all) => !(x === 0 && (i === 0 || i === all.length - 1)));
  return shape([...right, ...left], options);
}

/** Mirror without changing order. */
export const flip = (pts) => pts.map(([x, y, c]) => (c ? [-x, y, c] : [-x, y]));

export const move = (pts, dx, dy) => pts.map(([x, y, c]) => (c ? [x + dx, y + dy, c] : [x + dx, y + dy]));

/** Rotates by degrees (clockwise on screen) about a centre. */
export function turn(pts, degrees, [cx, cy] = [0, 0]) {
  const a = (degrees * Math.PI) / 180;
  const c = Math.cos(a);
  const s = Math.sin(a);
  return pts.map(([x, y, k]) => {
    const p = [cx + (x - cx) * c - (y - cy) * s, cy + (x - cx) * s + (y - cy) * c];
    if (k) p.push(k);
    return p;
  });
}

export const scaled = (pts, sx, sy = sx) => pts.map(([x, y, c]) => (c ? [x * sx, y * sy, c] : [x * sx, y * sy]));

export function lengthOf(pts) {
  let l = 0;
  for (let i = 1; i < pts.length; i++) l += hypot(pts[i][0] - pts[i - 1][0], pts[i][1] - pts[i - 1][1]);
  return l;
}

/** Evenly spaced points along a polyline. */
export function resample(pts, step) {
  const out = [pts[0].slice(0, 2)];
  let need = step;
  for (let i = 1; i < pts.length; i++) {
    let [ax, ay] = pts[i - 1];
    const [bx, by] = pts[i];
    let d = hypot(bx - ax, by - ay);
    while (d >= need && d > 0) {
      const t = need / d;
      ax += (bx - ax) * t;
      ay += (by - ay) * t;
      out.push([ax, ay]);
      d -= need;
      need = step;
    }
    need -= d;
  }
  return out;
}

/** Part of a polyline between two fractions of its length. */
export function between(pts, from, to) {
  const total = lengthOf(pts);
  const out = [];
  let l = 0;
  for (let i = 1; i < pts.length; i++) {
    const a = pts[i - 1];
    const b = pts[i];
    const d = hypot(b[0] - a[0], b[1] - a[1]);
    const t0 = l / total;
    const t1 = (l + d) / total;
    if (t1 >= from && t0 <= to && d > 0) {
      const s = Math.max(0, (from - t0) / (t1 - t0));
      const e = Math.min(1, (to - t0) / (t1 - t0));
      if (!out.length) out.push(lerp(a, b, s));
      out.push(lerp(a, b, e));
    }
    l += d;
  }
  return out;
}

/** Unit normal (left of the direction of travel on screen: dy, -dx) at index i. */
function normalAt(pts, i, closed) {
  const n = pts.length;
  const a = pts[closed ? (i - 1 + n) % n : Math.max(0, i - 1)];
  const b = pts[closed ? (i + 1) % n : Math.min(n - 1, i + 1)];
  const dx = b[0] - a[0];
  const dy = b[1] - a[1];
  const l = hypot(dx, dy) || 1;
  return [dy / l, -dx / l];
}

/** Parallel curve at a distance; a function may vary it along the way (0..1). */
export function offset(pts, distance, closed = false) {
  const f = typeof distance === 'function' ? distance : () => distance;
  const n = pts.length;
  return pts.map((p, i) => {
    const [nx, ny] = normalAt(pts, i, closed);
    const d = f(n > 1 ? i / (n - 1) : 0);
    return [p[0] + nx * d, p[1] + ny * d];
  });
}

/** Closed outline drawn inwards by a distance, whichever way it runs. */
export const inset = (pts, distance) => offset(pts, area(pts) > 0 ? -distance : distance, true);

/** Closed band of a given width along a centre line. */
export function band(pts, width) {
  const f = typeof width === 'function' ? width : () => width;
  return [...offset(pts, (t) => f(t) / 2), ...offset(pts, (t) => -f(t) / 2).reverse()];
}

/** Points and normals at even steps, for things set along a line. */
export function frames(pts, step) {
  const r = resample(pts, step);
  return r.map((p, i) => ({ at: p, normal: normalAt(r, i, false), t: r.length > 1 ? i / (r.length - 1) : 0 }));
}

export const ellipse = (cx, cy, rx, ry = rx, n = 48) =>
  Array.from({ length: n }, (_, i) => {
    const a = (i / n) * Math.PI * 2;
    return [cx + Math.cos(a) * rx, cy + Math.sin(a) * ry];
  });

/** Rectangle with rounded corners, centred. */
export function roundRect(cx, cy, w, h, r = 0.6) {
  const out = [];
  const k = Math.min(r, w / 2, h / 2);
  const corner = (x, y, from) => {
    for (let i = 0; i <= 6; i++) {
      const a = from + (i / 6) * (Math.PI / 2);
      out.push([x + Math.cos(a) * k, y + Math.sin(a) * k]);
    }
  };
  corner(cx + w / 2 - k, cy + h / 2 - k, 0);
  corner(cx - w / 2 + k, cy + h / 2 - k, Math.PI / 2);
  corner(cx - w / 2 + k, cy - h / 2 + k, Math.PI);
  corner(cx + w / 2 - k, cy - h / 2 + k, -Math.PI / 2);
  return out;
}

export function bounds(list) {
  let x0 = Infinity;
  let y0 = Infinity;
  let x1 = -Infinity;
  let y1 = -Infinity;
  for (const pts of list)
    for (const [x, y] of pts) {
      if (x < x0) x0 = x;
      if (x > x1) x1 = x;
      if (y < y0) y0 = y;
      if (y > y1) y1 = y;
    }
  return { x0, y0, x1, y1, w: x1 - x0, h: y1 - y0 };
}

export function area(pts) {
  let a = 0;
  for (let i = 0, j = pts.length - 1; i < pts.length; j = i++) a += pts[j][0] * pts[i][1] - pts[i][0] * pts[j][1];
  return a / 2;
}
