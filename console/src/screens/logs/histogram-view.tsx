import { type PointerEvent, useState } from "react";
import { formatTime } from "@/lib/format-time";
import {
  barAt,
  computeHeights,
  countEntries,
  type HistogramBar,
  spanOfBars,
  summarizeHistogram,
} from "./histogram";

interface HistogramViewProps {
  bars: readonly HistogramBar[];
  /** A span was dragged or a bar was clicked. */
  onSelect: (span: { from: string; to: string }) => void;
}

/** Requests over time, stacked by outcome. Dragging selects a period; the filter "Time" does the same by keyboard. */
export function HistogramView({ bars, onSelect }: HistogramViewProps) {
  const [drag, setDrag] = useState<{ start: number; end: number } | null>(null);
  const heights = computeHeights(bars);
  function indexAt(event: PointerEvent<HTMLElement>): number {
    const box = event.currentTarget.getBoundingClientRect();
    return barAt(bars, (event.clientX - box.left) / Math.max(1, box.width));
  }
  function finish(): void {
    const span = drag === null ? null : spanOfBars(bars, drag.start, drag.end);
    setDrag(null);
    if (span !== null) onSelect(span);
  }
  const first = bars[0];
  const last = bars.at(-1);
  if (first === undefined || last === undefined) return null;
  const low = drag === null ? -1 : Math.min(drag.start, drag.end);
  const high = drag === null ? -1 : Math.max(drag.start, drag.end);
  return (
    <figure className="border-line-soft border-b bg-surface px-4 pt-2 pb-1 max-md:px-3">
      <div
        role="img"
        aria-label={summarizeHistogram(bars)}
        className="flex h-14 cursor-crosshair touch-none items-end gap-px"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const index = indexAt(event);
          setDrag({ start: index, end: index });
        }}
        onPointerMove={(event) => {
          if (drag !== null) setDrag({ ...drag, end: indexAt(event) });
        }}
        onPointerUp={finish}
        onPointerCancel={() => setDrag(null)}
      >
        {bars.map((bar, index) => (
          <span
            key={bar.from}
            title={`${formatTime(bar.from)}: ${countEntries(bar)} requests`}
            className={`flex h-full min-w-0 flex-1 flex-col justify-end ${
              index >= low && index <= high ? "bg-selected" : "hover:bg-hover"
            }`}
          >
            <Part height={heights[index]?.server_error} color="bg-danger" />
            <Part height={heights[index]?.client_error} color="bg-warning/70" />
            <Part height={heights[index]?.ok} color="bg-line-strong/60" />
          </span>
        ))}
      </div>
      <figcaption className="flex justify-between pt-1 text-ink-soft text-micro">
        <time dateTime={first.from}>{formatTime(first.from)}</time>
        <time dateTime={last.from}>{formatTime(last.from)}</time>
      </figcaption>
    </figure>
  );
}

function Part({ height, color }: { height: number | undefined; color: string }) {
  if (height === undefined || height === 0) return null;
  return <span className={color} style={{ height: `${height * 100}%` }} />;
}
