// biome-ignore-all lint/a11y/useSemanticElements: the visible part of a virtual list is positioned, which rows of a table cannot be.
// biome-ignore-all lint/a11y/useFocusableInteractive: rows and cells are reached as the active descendant of the grid, which takes the focus.

import { useVirtualizer } from "@tanstack/react-virtual";
import { cn } from "@ui/cn";
import { isEnter } from "@ui/keys";
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { Checkbox } from "@/components/input";
import { isTyping } from "@/lib/shortcuts";

export interface RowColumn<Row> {
  key: string;
  header: string;
  /** Width as a track of a CSS grid, for example `8rem` or `minmax(0,1fr)`. */
  width: string;
  cell: (row: Row) => ReactNode;
  align?: "end";
  /** Left out where the grid has little room. */
  wideOnly?: boolean;
}

interface RowGridProps<Row> {
  /** Accessible name of the grid. */
  label: string;
  columns: readonly RowColumn<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Key of the row whose panel is open. */
  openKey?: string | null;
  onOpen: (row: Row) => void;
  /** With it rows can be selected, by checkbox or with the space bar. */
  selection?: { keys: ReadonlySet<string>; onChange: (keys: ReadonlySet<string>) => void };
  /** Called when the last rows come into view, to load more. */
  onEndReached?: () => void;
  /** Number of all rows, where it is known to be larger than those that are loaded. */
  total?: number | undefined;
  /** Colour of a row's left edge, for states such as failed. */
  rowTone?: (row: Row) => "danger" | "warning" | undefined;
  /** Shown below the last row. */
  footer?: ReactNode;
}

/** Rows are high enough for fingers on devices without a mouse. */
const rowHeight = window.matchMedia("(pointer: coarse)").matches ? 44 : 36;

/**
 * A list of any length of which only the visible part is drawn. Arrow keys, Home and End move, Enter opens, the space bar selects.
 * Screen readers hear it as a grid and are told the row's number.
 */
export function RowGrid<Row>(props: RowGridProps<Row>) {
  const { label, columns, rows, rowKey, openKey, onOpen, selection, onEndReached } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();
  const [active, setActive] = useState(0);
  const index = Math.min(active, Math.max(0, rows.length - 1));
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollPaddingStart: 32,
    initialRect: { width: 1000, height: 600 },
  });
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  const reachEnd = useRef(onEndReached);
  useEffect(() => {
    reachEnd.current = onEndReached;
  });
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 20) reachEnd.current?.();
  }, [last, rows.length]);

  function moveTo(next: number): void {
    const target = Math.min(rows.length - 1, Math.max(0, next));
    setActive(target);
    virtualizer.scrollToIndex(target);
  }
  function toggle(row: Row): void {
    if (selection === undefined) return;
    const keys = new Set(selection.keys);
    if (!keys.delete(rowKey(row))) keys.add(rowKey(row));
    selection.onChange(keys);
  }
  function handleKey(event: KeyboardEvent<HTMLDivElement>): void {
    if (isTyping(event.target) || event.metaKey || event.ctrlKey || event.altKey) return;
    // A button inside of a row keeps its own keys.
    if (event.target !== event.currentTarget && (isEnter(event) || event.key === " ")) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / rowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    };
    const step = steps[event.key];
    const row = rows[index];
    if (step !== undefined) moveTo(index + step);
    else if (row !== undefined && isEnter(event)) onOpen(row);
    else if (row !== undefined && event.key === " " && selection !== undefined) toggle(row);
    else return;
    event.preventDefault();
  }
  function handleClick(event: MouseEvent<HTMLDivElement>): void {
    const target = event.target as HTMLElement;
    if (target.closest("a, button, input, label") !== null) return;
    const line = target.closest<HTMLElement>("[data-index]");
    const row = line === null ? undefined : rows[Number(line.dataset.index)];
    if (row === undefined) return;
    setActive(Number(line?.dataset.index));
    onOpen(row);
  }

  const template = columnTemplates(columns, selection !== undefined);
  const isActiveDrawn = items.some((item) => item.index === index);
  return (
    // The whole list is one stop of the tab key, and the row that the arrow keys have reached is its active descendant.
    <div
      ref={scroller}
      role="grid"
      aria-label={label}
      aria-rowcount={(props.total ?? rows.length) + 1}
      aria-colcount={columns.length}
      aria-multiselectable={selection !== undefined || undefined}
      aria-activedescendant={isActiveDrawn ? `${id}-${index}` : undefined}
      tabIndex={0}
      onKeyDown={handleKey}
      onClick={handleClick}
      style={template}
      className="group/grid @container/rows relative min-h-0 flex-1 overflow-auto text-caption outline-none focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]"
    >
      <HeaderRow
        columns={columns}
        selection={selection}
        isAll={rows.length > 0 && rows.every((row) => selection?.keys.has(rowKey(row)) === true)}
        onToggleAll={(isOn) => selection?.onChange(new Set(isOn ? rows.map(rowKey) : []))}
      />
      <div role="presentation" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {items.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const key = rowKey(row);
          return (
            <div
              key={key}
              id={`${id}-${item.index}`}
              role="row"
              aria-rowindex={item.index + 2}
              aria-selected={selection === undefined ? openKey === key : selection.keys.has(key)}
              data-index={item.index}
              style={{ transform: `translateY(${item.start}px)`, height: rowHeight }}
              className={cn(
                rowClasses,
                "absolute inset-x-0 top-0 cursor-default border-line-soft border-b hover:bg-hover",
                openKey === key && "bg-selected",
                item.index === index &&
                  "group-focus-visible/grid:shadow-[inset_2px_0_0_var(--accent)]",
                props.rowTone?.(row) === "danger" && "shadow-[inset_2px_0_0_var(--danger)]",
                props.rowTone?.(row) === "warning" && "shadow-[inset_2px_0_0_var(--warning)]",
              )}
            >
              {selection !== undefined && (
                <span role="gridcell" className="flex items-center">
                  <Checkbox
                    aria-label={`Select ${key}`}
                    tabIndex={-1}
                    checked={selection.keys.has(key)}
                    onChange={() => toggle(row)}
                  />
                </span>
              )}
              {columns.map((column) => (
                <div key={column.key} role="gridcell" className={cellClasses(column)}>
                  {column.cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {props.footer}
    </div>
  );
}

const rowClasses =
  "grid grid-cols-(--tracks) items-center gap-x-4 px-4 @max-[46rem]/rows:grid-cols-(--narrow-tracks) max-md:gap-x-3 max-md:px-3";

function cellClasses<Row>({ align, wideOnly }: RowColumn<Row>): string {
  return cn(
    "flex min-w-0 items-center gap-2 overflow-hidden whitespace-nowrap",
    align === "end" && "justify-end tabular-nums",
    wideOnly && "@max-[46rem]/rows:hidden",
  );
}

function columnTemplates<Row>(columns: readonly RowColumn<Row>[], hasBox: boolean): CSSProperties {
  const tracks = (shown: readonly RowColumn<Row>[]) =>
    [...(hasBox ? ["1rem"] : []), ...shown.map(({ width }) => width)].join(" ");
  const narrow = columns.filter(({ wideOnly }) => wideOnly !== true);
  return { "--tracks": tracks(columns), "--narrow-tracks": tracks(narrow) } as CSSProperties;
}

interface HeaderRowProps<Row> {
  columns: readonly RowColumn<Row>[];
  selection: RowGridProps<Row>["selection"];
  isAll: boolean;
  onToggleAll: (isOn: boolean) => void;
}

function HeaderRow<Row>({ columns, selection, isAll, onToggleAll }: HeaderRowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={1}
      className={cn(
        rowClasses,
        "sticky top-0 z-10 h-8 border-line border-b bg-surface text-ink-soft text-label",
      )}
    >
      {selection !== undefined && (
        <span role="columnheader" className="flex items-center">
          <Checkbox
            aria-label="Select all"
            checked={isAll}
            mixed={!isAll && selection.keys.size > 0}
            onChange={(event) => onToggleAll(event.target.checked)}
          />
        </span>
      )}
      {columns.map((column) => (
        <span key={column.key} role="columnheader" className={cellClasses(column)}>
          {column.header}
        </span>
      ))}
    </div>
  );
}
