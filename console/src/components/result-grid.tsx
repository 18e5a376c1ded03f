// biome-ignore-all lint/a11y/useSemanticElements: elements of a table cannot be left out and positioned one by one.
/**
 * A read-only grid of result rows. Only the visible cells are rendered, the arrow keys move between them, and the focused
 * cell announces its row, column and value to screen readers.
 */

import { useVirtualizer } from "@tanstack/react-virtual";
import { cn } from "@ui/cn";
import { isEnter, keyName } from "@ui/keys";
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { copyText } from "@/components/copy-button";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import { toast } from "@/lib/toast";

export interface GridColumn {
  name: string;
  type: string;
}

interface ResultGridProps {
  label: string;
  columns: readonly GridColumn[];
  rows: readonly (readonly (string | null)[])[];
  /** Rows in `rows`, given apart because the array grows in place. */
  rowCount: number;
  /** Full sizes in bytes of the values of which only the beginning is in `rows`, by `row:column`. */
  cuts?: ReadonlyMap<string, number>;
  /** Enter or a double click on a cell. */
  onOpen?: (row: number, column: number) => void;
  className?: string;
}

const rowHeight = 28;
const numberWidth = 52;

/** Longer texts are cut in the grid; opening the cell shows all of it. */
const shownCharacters = 300;

export function ResultGrid({
  label,
  columns,
  rows,
  rowCount,
  cuts,
  onOpen,
  className,
}: ResultGridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [cell, setCell] = useState({ row: 0, column: 0 });
  const widths = columns.map((column, index) => widthOf(column, rows, index));
  const vertical = useVirtualizer({
    count: rowCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    scrollPaddingStart: rowHeight,
  });
  const horizontal = useVirtualizer({
    count: columns.length,
    horizontal: true,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => widths[index] ?? 120,
    overscan: 2,
    scrollPaddingStart: numberWidth,
  });
  const widthKey = widths.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows arrive after the columns, and their values make some wider.
  useLayoutEffect(() => horizontal.measure(), [widthKey]);
  const shownColumns = horizontal.getVirtualItems();
  const totalWidth = horizontal.getTotalSize() + numberWidth;

  function focusCell(row: number, column: number) {
    const next = {
      row: Math.max(0, Math.min(rowCount - 1, row)),
      column: Math.max(0, Math.min(columns.length - 1, column)),
    };
    setCell(next);
    vertical.scrollToIndex(next.row);
    horizontal.scrollToIndex(next.column);
    // The cell may be drawn only after scrolling, so that the focus waits for the next frame.
    requestAnimationFrame(() => {
      const selector = `[data-cell="${next.row}:${next.column}"]`;
      scroller.current?.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true });
    });
  }

  async function copyCell(row: number, column: number): Promise<void> {
    const bytes = cuts?.get(`${row}:${column}`);
    if (bytes === undefined) {
      const value = rows[row]?.[column] ?? null;
      const isCopied = await copyText(value ?? "");
      if (isCopied && value === null) toast({ title: "NULL was copied as an empty text" });
      return;
    }
    toast({
      title: "It was not copied",
      description: `Only the beginning of its ${formatBytes(bytes)} is here.`,
      tone: "danger",
    });
  }

  function handleKey(event: KeyboardEvent) {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 300) / rowHeight) - 2);
    const isMod = event.ctrlKey || event.metaKey;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [cell.row - 1, cell.column],
      ArrowDown: [cell.row + 1, cell.column],
      ArrowLeft: [cell.row, cell.column - 1],
      ArrowRight: [cell.row, cell.column + 1],
      PageUp: [cell.row - page, cell.column],
      PageDown: [cell.row + page, cell.column],
      Home: [isMod ? 0 : cell.row, 0],
      End: [isMod ? rowCount - 1 : cell.row, columns.length - 1],
    };
    const move = moves[event.key];
    if (move !== undefined) focusCell(...move);
    else if (isEnter(event)) onOpen?.(cell.row, cell.column);
    else if (isMod && keyName(event) === "c" && !window.getSelection()?.toString()) {
      void copyCell(cell.row, cell.column);
    } else return;
    event.preventDefault();
  }

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-colcount={columns.length}
      aria-readonly="true"
      tabIndex={-1}
      onKeyDown={handleKey}
      className={cn("relative overflow-auto text-caption tabular-nums", className)}
    >
      <div role="rowgroup" className="sticky top-0 z-10" style={{ width: totalWidth }}>
        <div
          role="row"
          tabIndex={-1}
          aria-rowindex={1}
          className="relative border-line border-b bg-surface"
          style={{ height: rowHeight }}
        >
          {shownColumns.map(({ index, start, size }) => (
            <div
              key={index}
              role="columnheader"
              tabIndex={-1}
              aria-colindex={index + 1}
              className="absolute top-0 flex h-full items-center gap-1.5 truncate border-line-soft border-r px-2"
              style={{ left: start + numberWidth, width: size }}
            >
              <span className="truncate font-medium">
                <Text>{columns[index]?.name ?? ""}</Text>
              </span>
              <span className="truncate text-ink-soft text-micro">{columns[index]?.type}</span>
            </div>
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className="relative"
        style={{ height: vertical.getTotalSize(), width: totalWidth }}
      >
        {vertical.getVirtualItems().map((item) => (
          <div
            key={item.index}
            role="row"
            tabIndex={-1}
            aria-rowindex={item.index + 2}
            className="absolute left-0 w-full border-line-soft border-b hover:bg-hover"
            style={{ top: item.start, height: rowHeight }}
          >
            <span
              aria-hidden="true"
              className="sticky left-0 z-5 inline-flex h-full items-center justify-end bg-surface pr-3 text-ink-soft text-micro"
              style={{ width: numberWidth }}
            >
              {item.index + 1}
            </span>
            {shownColumns.map(({ index, start, size }) => {
              const isCurrent = cell.row === item.index && cell.column === index;
              return (
                <div
                  key={index}
                  role="gridcell"
                  aria-colindex={index + 1}
                  data-cell={`${item.index}:${index}`}
                  tabIndex={isCurrent ? 0 : -1}
                  onFocus={() => setCell({ row: item.index, column: index })}
                  onDoubleClick={() => onOpen?.(item.index, index)}
                  className="absolute top-0 flex h-full items-center overflow-hidden whitespace-nowrap border-line-soft border-r px-2 font-mono focus-visible:-outline-offset-2"
                  style={{ left: start + numberWidth, width: size }}
                >
                  <CellValue value={rows[item.index]?.[index] ?? null} />
                </div>
              );
            })}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Null and the empty string are shown by symbols, because both would otherwise be invisible. */
export function CellValue({ value }: { value: string | null }) {
  if (value === null) return <span className="text-ink-soft italic">null</span>;
  if (value === "") return <span className="text-ink-soft italic">empty</span>;
  const shown = value.length > shownCharacters ? `${value.slice(0, shownCharacters)}…` : value;
  return (
    <span className="truncate">
      <Text>{shown}</Text>
    </span>
  );
}

/** Wide enough for the name and the longest of the first values, within bounds. */
function widthOf(column: GridColumn, rows: ResultGridProps["rows"], index: number): number {
  let longest = column.name.length + column.type.length * 0.8 + 2;
  for (const row of rows.slice(0, 40)) longest = Math.max(longest, (row[index] ?? "null").length);
  return Math.round(Math.min(360, Math.max(72, longest * 7.9 + 20)));
}
