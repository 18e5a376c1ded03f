import { useQuery } from "@tanstack/react-query";
import { Activity } from "lucide-react";
import { useMemo } from "react";
import { useNavigate } from "react-router";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { Select } from "@/components/input";
import { Skeleton } from "@/components/skeleton";
import { useSearchState } from "@/lib/use-search-state";
import { seriesQuery } from "./api";
import { PlotCanvas } from "./plot-canvas";
import { dragSpan, findDrawnPlots, formatValue, latestValue, type Plot } from "./plot-model";
import { cardClasses, Section } from "./section";
import { findSpan, selectTimeline, spans, type Timeline } from "./series";

/** Measurements on one time axis. A dragged span opens the log of that time. */
export function Plots() {
  const [search, change] = useSearchState();
  const navigate = useNavigate();
  const span = findSpan(search.get("span"));
  const series = useQuery(seriesQuery);
  const timeline = useMemo(
    () =>
      series.data === undefined
        ? undefined
        : selectTimeline(series.data, span.step_s, span.seconds),
    [series.data, span],
  );
  const now = series.data?.now ?? 0;
  const range = useMemo((): [number, number] => [now - span.seconds, now], [now, span]);
  function openLogs(from: number, to: number): void {
    const chosen = dragSpan(from, to, span.step_s);
    if (chosen !== null) navigate(`/logs?${new URLSearchParams(chosen)}`);
  }
  return (
    <Section
      title="Measurements"
      detail={<span className="max-md:hidden">Drag over a plot to open the log of that time.</span>}
      actions={
        <Select
          aria-label="Time span"
          className="w-32"
          value={span.key}
          onChange={(event) =>
            change({ span: event.target.value === spans[0].key ? null : event.target.value })
          }
        >
          {spans.map(({ key, label }) => (
            <option key={key} value={key}>
              {label}
            </option>
          ))}
        </Select>
      }
    >
      {series.isError && timeline === undefined ? (
        <ErrorNotice
          title="The measurements could not be loaded"
          error={series.error}
          onRetry={() => series.refetch()}
        />
      ) : timeline === undefined ? (
        <div className="grid gap-3 md:grid-cols-2 xl:grid-cols-3">
          {["a", "b", "c", "d", "e", "f"].map((key) => (
            <Skeleton key={key} className="h-48" />
          ))}
        </div>
      ) : timeline.times.length === 0 ? (
        <div className={cardClasses}>
          <EmptyState icon={Activity} title="Nothing has been measured in this span yet." />
        </div>
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-3 md:grid-cols-2 xl:grid-cols-3">
          {findDrawnPlots(timeline).map((plot) => (
            <figure
              key={plot.key}
              className={`${cardClasses} flex flex-col justify-between px-3 pt-2.5 pb-1.5`}
            >
              <Legend plot={plot} timeline={timeline} />
              <PlotCanvas
                plot={plot}
                timeline={timeline}
                group="overview"
                range={range}
                onDrag={openLogs}
              />
            </figure>
          ))}
        </div>
      )}
    </Section>
  );
}

/** Name, lines and newest values: the text that screen readers get in place of the picture. */
function Legend({ plot, timeline }: { plot: Plot; timeline: Timeline }) {
  return (
    <figcaption className="flex min-h-5 flex-wrap items-baseline gap-x-3 text-label">
      <span className="font-medium text-caption">{plot.title}</span>
      {plot.lines.map(({ name, label, color }) => (
        <span key={name} className="inline-flex items-baseline gap-1 text-ink-soft">
          {plot.lines.length > 1 && (
            <span
              aria-hidden="true"
              className="size-2 self-center rounded-[2px]"
              style={{ background: `var(${color})` }}
            />
          )}
          {plot.lines.length > 1 && label}
          <span className="text-ink tabular-nums">
            {formatValue(latestValue(timeline, name), plot.unit)}
          </span>
        </span>
      ))}
    </figcaption>
  );
}
