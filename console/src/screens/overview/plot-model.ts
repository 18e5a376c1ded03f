/** Which plots the overview shows, and what each line of them is called, coloured and measured in. */
import { formatBytes } from "@/lib/format";
import type { Timeline } from "./series";

export type Unit = "per_second" | "milliseconds" | "count" | "percent" | "bytes";

export interface PlotLine {
  /** Name of the measurement in `GET /api/series`. */
  name: string;
  label: string;
  /** Name of a custom property with the line's colour in the present theme. */
  color: string;
}

export interface Plot {
  key: string;
  title: string;
  unit: Unit;
  lines: PlotLine[];
}

const services = ["rest", "auth", "storage", "realtime", "functions", "graphql", "other"] as const;

const serviceLabels: Record<(typeof services)[number], string> = {
  rest: "REST",
  auth: "Auth",
  storage: "Storage",
  realtime: "Realtime",
  functions: "Functions",
  graphql: "GraphQL",
  other: "Others",
};

/** Numbers of chart colours; 0 is the colour of secondary text. */
const serviceColors: Record<(typeof services)[number], number> = {
  rest: 2,
  auth: 3,
  storage: 5,
  realtime: 4,
  functions: 6,
  graphql: 1,
  other: 0,
};

/** Services that most projects do not use; their line appears with their first request. */
const rareServices: ReadonlySet<string> = new Set(["requests.graphql", "requests.other"]);

function line(name: string, label: string, color: number): PlotLine {
  return { name, label, color: color === 0 ? "--ink-soft" : `--chart-${color}` };
}

/** All plots in the order of the page. Lines that the server does not measure are left out by {@link findDrawnPlots}. */
export const plots: readonly Plot[] = [
  {
    key: "requests",
    title: "Requests",
    unit: "per_second",
    lines: services.map((service) =>
      line(`requests.${service}`, serviceLabels[service], serviceColors[service]),
    ),
  },
  {
    key: "errors",
    title: "Errors",
    unit: "per_second",
    lines: [line("errors.4xx", "4xx", 5), line("errors.5xx", "5xx", 1)],
  },
  {
    key: "latency",
    title: "Response time",
    unit: "milliseconds",
    lines: [line("p50_ms", "p50", 2), line("p95_ms", "p95", 5), line("p99_ms", "p99", 1)],
  },
  {
    key: "connections",
    title: "Database connections",
    unit: "count",
    lines: [line("connections", "In use", 2)],
  },
  { key: "cpu", title: "CPU", unit: "percent", lines: [line("cpu", "Server", 2)] },
  {
    key: "memory",
    title: "Memory",
    unit: "bytes",
    lines: [line("memory_bytes", "Server", 2)],
  },
];

/** The plots of which the server sent at least one line; lines of rare services only when there is something to see. */
export function findDrawnPlots(timeline: Timeline): Plot[] {
  return plots
    .map((plot) => ({
      ...plot,
      lines: plot.lines.filter(({ name }) => {
        const column = timeline.columns.get(name);
        return column !== undefined && (!rareServices.has(name) || column.some(Boolean));
      }),
    }))
    .filter((plot) => plot.lines.length > 0);
}

/** The newest value of a line, which is shown beside its name. */
export function latestValue(timeline: Timeline, name: string): number | null {
  const column = timeline.columns.get(name) ?? [];
  return column.findLast((value) => value !== null) ?? null;
}

function trimZeros(number: string): string {
  return number.includes(".") ? number.replace(/\.?0+$/, "") : number;
}

/** A measured value with its unit, as short as an axis needs it. */
export function formatValue(value: number | null, unit: Unit): string {
  if (value === null) return "–";
  switch (unit) {
    case "bytes":
      return formatBytes(value).replace(".0 ", " ");
    case "percent":
      return `${trimZeros(value.toFixed(value < 10 ? 1 : 0))} %`;
    case "milliseconds":
      return value >= 1000
        ? `${trimZeros((value / 1000).toFixed(2))} s`
        : `${trimZeros(value.toFixed(value < 10 ? 1 : 0))} ms`;
    case "per_second":
      return `${formatCount(value)}/s`;
    case "count":
      return formatCount(value);
  }
}

/** A number with three figures, in thousands or millions when it is large. */
export function formatCount(value: number): string {
  if (value >= 999_500) return `${trimZeros((value / 1_000_000).toPrecision(3))} M`;
  if (value >= 9_999.5) return `${trimZeros((value / 1000).toPrecision(3))} k`;
  if (value >= 100) return String(Math.round(value));
  return trimZeros(value.toFixed(value < 10 ? 2 : 1));
}

/** The span between two places of a drag, oldest first; null when it is too short to have been meant. */
export function dragSpan(
  from: number,
  to: number,
  step_s: number,
): { from: string; to: string } | null {
  const [start, end] = from <= to ? [from, to] : [to, from];
  if (end - start < step_s) return null;
  return {
    from: new Date(Math.floor(start) * 1000).toISOString(),
    to: new Date(Math.ceil(end) * 1000).toISOString(),
  };
}
