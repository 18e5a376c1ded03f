import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "@/lib/theme";
import { formatValue, type Plot } from "./plot-model";
import type { Timeline } from "./series";

interface PlotCanvasProps {
  plot: Plot;
  timeline: Timeline;
  /** Plots of the same group show their cursors at the same time. */
  group: string;
  /** First and last second of the axis, also where nothing was measured. */
  range: [number, number];
  onDrag: (from: number, to: number) => void;
}

const height = 132;

/** The lines of one plot. Drawn by uPlot, which sets styles by script only, as the content policy demands. */
export function PlotCanvas({ plot, timeline, group, range, onDrag }: PlotCanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const theme = useTheme();
  const latest = useRef({ onDrag, range });
  latest.current = { onDrag, range };
  const lineNames = plot.lines.map(({ name }) => name).join();
  const data = alignData(plot, timeline);
  const latestData = useRef(data);
  latestData.current = data;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a chart is made anew only for other lines or colours; data follow below.
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const options = buildOptions(plot, group, element, latest);
    const made = new uPlot(options, latestData.current, element);
    chart.current = made;
    const observer = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [plot.key, lineNames, group, theme]);

  useEffect(() => {
    chart.current?.setData(data);
  }, [data]);

  return <div ref={host} aria-hidden="true" className="plot h-[132px] w-full cursor-crosshair" />;
}

function alignData(plot: Plot, timeline: Timeline): uPlot.AlignedData {
  return [timeline.times, ...plot.lines.map(({ name }) => timeline.columns.get(name) ?? [])];
}

type Latest = { current: { onDrag: PlotCanvasProps["onDrag"]; range: [number, number] } };

function buildOptions(
  plot: Plot,
  group: string,
  element: HTMLElement,
  latest: Latest,
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: color("--ink-soft"),
    font: "11px Geist, system-ui, sans-serif",
    grid: { stroke: color("--line-soft"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: group },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
    },
    hooks: { setSelect: [(chart) => reportDrag(chart, latest)] },
    scales: {
      x: { time: true, range: () => latest.current.range },
      y: { range: (_, __, max) => [0, niceMaximum(max, plot.unit)] },
    },
    axes: [
      { ...axis, space: 64, size: 26, values: (_, ticks) => ticks.map(formatTick) },
      {
        ...axis,
        size: 58,
        space: 28,
        values: (_, ticks) => ticks.map((tick) => formatValue(tick, plot.unit)),
      },
    ],
    series: [
      {},
      ...plot.lines.map(({ color: name, label }, index) => ({
        label,
        stroke: color(name),
        width: 1.5,
        ...(index === 0 && plot.lines.length === 1 && { fill: `${color(name)}1f` }),
        points: { show: true, size: 3, fill: color(name), filter: findLonePoints },
      })),
    ],
  };
}

/** Values between two gaps, which no line joins: they are drawn as points. */
function findLonePoints(chart: uPlot, series: number): number[] {
  const values = chart.data[series] ?? [];
  return [...values.keys()].filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
}

/** Formats a tick of the time axis: the time of day, or the date at midnight. */
function formatTick(seconds: number): string {
  const time = new Date(seconds * 1000);
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
  return isMidnight
    ? time.toLocaleDateString(undefined, { month: "short", day: "numeric" })
    : time.toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
}

/** The top of the vertical axis: never zero, so that an idle server shows a line at the bottom instead of an empty plot. */
function niceMaximum(max: number | null, unit: Plot["unit"]): number {
  const least = { per_second: 1, milliseconds: 1, count: 4, percent: 5, bytes: 1_000_000 };
  return Math.max(max ?? 0, least[unit]) * 1.1;
}

function reportDrag(chart: uPlot, latest: Latest): void {
  const { left, width } = chart.select;
  if (width === 0) return;
  latest.current.onDrag(chart.posToVal(left, "x"), chart.posToVal(left + width, "x"));
  chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}
