/** The histogram above the log: bars of equal width, stacked by outcome, and the span that a drag over them selects. */

/** One bar as `GET /api/logs` counts it. */
export interface HistogramBar {
  /** Start of the bar as ISO time. */
  from: string;
  step_s: number;
  ok: number;
  client_error: number;
  server_error: number;
}

/** Heights of the three parts of a bar, as fractions of the histogram's height. */
export interface BarHeights {
  ok: number;
  client_error: number;
  server_error: number;
}

export function countEntries(bar: HistogramBar): number {
  return bar.ok + bar.client_error + bar.server_error;
}

/** Smallest visible height of a part that is not zero: one failed request among thousands must be seen. */
const leastHeight = 0.03;

/** Heights of each bar relative to the highest. */
export function computeHeights(bars: readonly HistogramBar[]): BarHeights[] {
  const highest = Math.max(1, ...bars.map(countEntries));
  const height = (count: number) => (count === 0 ? 0 : Math.max(leastHeight, count / highest));
  return bars.map((bar) => ({
    ok: height(bar.ok),
    client_error: height(bar.client_error),
    server_error: height(bar.server_error),
  }));
}

/** The span from the first to the last of two bars, in whichever order they were touched. */
export function spanOfBars(
  bars: readonly HistogramBar[],
  one: number,
  other: number,
): { from: string; to: string } | null {
  const first = bars[Math.min(one, other)];
  const last = bars[Math.max(one, other)];
  if (first === undefined || last === undefined) return null;
  return {
    from: new Date(Date.parse(first.from)).toISOString(),
    to: new Date(Date.parse(last.from) + last.step_s * 1000).toISOString(),
  };
}

/** Bars that are drawn at least, so that a log of a few seconds is not one wide block. */
const leastBars = 40;

/** Adds empty bars in front of the first until there are enough to be read as a time line. */
export function padBars(bars: readonly HistogramBar[]): HistogramBar[] {
  const first = bars[0];
  if (first === undefined) return [];
  const missing = Math.max(0, leastBars - bars.length);
  const start = Date.parse(first.from);
  const padding = Array.from({ length: missing }, (_, index) => ({
    from: new Date(start - (missing - index) * first.step_s * 1000).toISOString(),
    step_s: first.step_s,
    ok: 0,
    client_error: 0,
    server_error: 0,
  }));
  return [...padding, ...bars];
}

/** Index of the bar under a place, given as a fraction of the histogram's width. */
export function barAt(bars: readonly HistogramBar[], fraction: number): number {
  return Math.min(bars.length - 1, Math.max(0, Math.floor(fraction * bars.length)));
}

/** The text alternative of the chart. */
export function summarizeHistogram(bars: readonly HistogramBar[]): string {
  const total = bars.reduce((sum, bar) => sum + countEntries(bar), 0);
  if (total === 0) return "No requests in this span.";
  const failed = bars.reduce((sum, bar) => sum + bar.server_error, 0);
  const refused = bars.reduce((sum, bar) => sum + bar.client_error, 0);
  return `${total} requests: ${refused} refused (4xx), ${failed} failed (5xx).`;
}
