// biome-ignore-all lint/a11y/useSemanticElements: elements of a table cannot be left out and positioned one by one.
/** The list of objects of one kind; only the visible lines are in the page. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { cn } from "@ui/cn";
import { isEnter } from "@ui/keys";
import { type KeyboardEvent, useRef, useState } from "react";
import { Text } from "@/components/text";
import type { ObjectRow } from "./object-rows";

interface ObjectListProps {
  label: string;
  headers: readonly string[];
  rows: readonly ObjectRow[];
  /** Whether names are shown with their schema. */
  showsSchema: boolean;
  selected: string | null;
  onOpen: (row: ObjectRow) => void;
}

/** Lines are high enough for fingers on devices without a mouse. */
const rowHeight = window.matchMedia("(pointer: coarse)").matches ? 44 : 32;

export function ObjectList(props: ObjectListProps) {
  const { label, headers, rows, showsSchema, selected, onOpen } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: rowHeight,
  });
  const columns = `minmax(13rem, 1.4fr) ${headers.map((header) => widthOf(header)).join(" ")}`;
  const current = Math.min(focused, rows.length - 1);

  function handleKey(event: KeyboardEvent) {
    const moves: Record<string, number> = {
      ArrowUp: current - 1,
      ArrowDown: current + 1,
      PageUp: current - 15,
      PageDown: current + 15,
      Home: 0,
      End: rows.length - 1,
    };
    const move = moves[event.key];
    const row = rows[current];
    if (isEnter(event) && row !== undefined) onOpen(row);
    else if (move !== undefined) {
      const next = Math.max(0, Math.min(rows.length - 1, move));
      setFocused(next);
      virtual.scrollToIndex(next);
      requestAnimationFrame(() =>
        scroller.current
          ?.querySelector<HTMLElement>(`[data-row="${next}"]`)
          ?.focus({ preventScroll: true }),
      );
    } else return;
    event.preventDefault();
  }

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={headers.length + 1}
      tabIndex={-1}
      onKeyDown={handleKey}
      className="min-h-0 flex-1 overflow-auto text-caption"
    >
      <div role="rowgroup" className="sticky top-0 z-10 min-w-max">
        <div
          role="row"
          tabIndex={-1}
          className="grid items-center gap-x-4 border-line border-b bg-surface px-4 text-ink-soft text-label"
          style={{ gridTemplateColumns: columns, height: rowHeight }}
        >
          {["Name", ...headers].map((header) => (
            <span key={header} role="columnheader" tabIndex={-1} className="truncate">
              {header}
            </span>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className="relative min-w-max"
        style={{ height: virtual.getTotalSize() }}
      >
        {/* As wide as the lines, which are out of the flow and would widen nothing. */}
        <div
          aria-hidden="true"
          className="invisible grid h-0 gap-x-4 overflow-hidden px-4"
          style={{ gridTemplateColumns: columns }}
        />
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <div
              key={row.id}
              role="row"
              aria-rowindex={item.index + 2}
              aria-selected={row.id === selected}
              data-row={item.index}
              tabIndex={item.index === current ? 0 : -1}
              onFocus={() => setFocused(item.index)}
              onClick={() => onOpen(row)}
              onKeyDown={undefined}
              className={cn(
                "absolute inset-x-0 grid cursor-default items-center gap-x-4 border-line-soft border-b px-4 focus-visible:-outline-offset-2",
                row.id === selected ? "bg-selected" : "hover:bg-hover",
              )}
              style={{ gridTemplateColumns: columns, height: rowHeight, top: item.start }}
            >
              <span role="gridcell" tabIndex={-1} className="truncate font-medium">
                {showsSchema && row.schema !== "" && row.schema !== "public" && (
                  <span className="font-normal text-ink-soft">
                    <Text>{row.schema}</Text>.
                  </span>
                )}
                <Text>{row.name}</Text>
              </span>
              {row.cells.map((cell, index) => (
                <span
                  key={headers[index]}
                  role="gridcell"
                  tabIndex={-1}
                  title={cell.length > 24 ? cell : undefined}
                  className="truncate text-ink-soft tabular-nums"
                >
                  <Text>{cell}</Text>
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Short facts take little room, definitions the rest. */
function widthOf(header: string): string {
  const narrow = ["Columns", "Rows", "Size", "RLS", "Nullable", "Scans", "Enabled", "Installed"];
  const wide = ["Definition", "Comment", "Arguments", "Values", "What it does", "Tables"];
  if (narrow.includes(header)) return "5.5rem";
  return wide.includes(header) ? "minmax(12rem, 2fr)" : "minmax(7rem, 1fr)";
}
