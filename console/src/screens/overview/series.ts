/** The measurements of `GET /api/series` as one time line: rings of different steps are joined, newest wins, gaps stay gaps. */

/** One ring of the server: equally spaced values of several names. */
export interface SeriesRing {
  /** Seconds between two consecutive values. */
  step_s: number;
  /** Unix time in seconds of the first value. */
  from: number;
  names: string[];
  /** Per name, a value for each step; null where nothing was measured. */
  values: (number | null)[][];
}

export interface SeriesAnswer {
  rings: SeriesRing[];
  /** The server's clock in Unix seconds, because the browser's clock may be wrong. */
  now: number;
}

/** Measurements of one step, ready to be drawn: times ascending, and a column of the same length per name. */
export interface Timeline {
  step_s: number;
  times: number[];
  columns: Map<string, (number | null)[]>;
}

/** Spans that the overview offers, each drawn from the ring whose step gives a few hundred points. */
export const spans = [
  { key: "10m", label: "10 minutes", seconds: 600, step_s: 1 },
  { key: "1h", label: "1 hour", seconds: 3600, step_s: 10 },
  { key: "6h", label: "6 hours", seconds: 21_600, step_s: 10 },
  { key: "24h", label: "24 hours", seconds: 86_400, step_s: 60 },
  { key: "7d", label: "7 days", seconds: 604_800, step_s: 60 },
] as const;

export type SpanKey = (typeof spans)[number]["key"];

export function findSpan(key: string | null): (typeof spans)[number] {
  return spans.find((span) => span.key === key) ?? spans[0];
}

/** Returns the last `seconds` before `now` of the series with this step; empty without such a series. */
export function selectTimeline(answer: SeriesAnswer, step_s: number, seconds: number): Timeline {
  const ring = answer.rings.find((one) => one.step_s === step_s);
  if (ring === undefined) return { step_s, times: [], columns: new Map() };
  const length = Math.max(0, ...ring.values.map((column) => column.length));
  const first = Math.max(0, Math.ceil((answer.now - seconds - ring.from) / step_s));
  const times = Array.from(
    { length: Math.max(0, length - first) },
    (_, index) => ring.from + (first + index) * step_s,
  );
  const columns = new Map(
    ring.names.map((name, index) => [name, padColumn(ring.values[index], first, times.length)]),
  );
  return { step_s, times, columns };
}

function padColumn(
  values: readonly (number | null)[] | undefined,
  first: number,
  length: number,
): (number | null)[] {
  return Array.from({ length }, (_, index) => values?.[first + index] ?? null);
}

/**
 * Adds the values that arrived since the last answer. A step that is known already is replaced. Rings are cut to `capacity` steps, so that an open page does not grow for days.
 */
export function appendSeries(
  known: SeriesAnswer | undefined,
  added: SeriesAnswer,
  capacity: (step_s: number) => number = ringCapacity,
): SeriesAnswer {
  if (known === undefined) return added;
  const rings = added.rings.map((ring) => {
    const before = known.rings.find((one) => one.step_s === ring.step_s);
    return cutRing(before === undefined ? ring : joinRings(before, ring), capacity(ring.step_s));
  });
  const untouched = known.rings.filter(
    (ring) => !added.rings.some((one) => one.step_s === ring.step_s),
  );
  return { rings: [...rings, ...untouched], now: added.now };
}

/** Steps that the server's own rings hold: 10 minutes, 6 hours and 7 days. */
function ringCapacity(step_s: number): number {
  if (step_s <= 1) return 600;
  return step_s <= 10 ? 2160 : 10_080;
}

function joinRings(before: SeriesRing, after: SeriesRing): SeriesRing {
  const { step_s } = after;
  const offset = Math.round((after.from - before.from) / step_s);
  const length = columnLength(after);
  if (length === 0) return before;
  // A server that was started anew counts from another time; values from before its start cannot be aligned, so they are dropped.
  if (offset < 0) return after;
  const names = [...new Set([...before.names, ...after.names])];
  const values = names.map((name) => {
    const old = columnOf(before, name);
    const fresh = columnOf(after, name);
    return Array.from({ length: offset + length }, (_, index) =>
      index >= offset ? (fresh?.[index - offset] ?? null) : (old?.[index] ?? null),
    );
  });
  return { step_s, from: before.from, names, values };
}

function cutRing(ring: SeriesRing, capacity: number): SeriesRing {
  const excess = columnLength(ring) - capacity;
  if (excess <= 0) return ring;
  return {
    ...ring,
    from: ring.from + excess * ring.step_s,
    values: ring.values.map((column) => column.slice(excess)),
  };
}

function columnLength(ring: SeriesRing): number {
  return Math.max(0, ...ring.values.map((column) => column.length));
}

function columnOf(ring: SeriesRing, name: string): (number | null)[] | undefined {
  return ring.values[ring.names.indexOf(name)];
}

/** Time of the newest value of the given step, to ask only for what came after it. */
export function newestTime(answer: SeriesAnswer, step_s: number): number | undefined {
  const ring = answer.rings.find((one) => one.step_s === step_s);
  if (ring === undefined || columnLength(ring) === 0) return undefined;
  return ring.from + (columnLength(ring) - 1) * step_s;
}
