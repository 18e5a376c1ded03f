import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import type { Column } from "@/api/catalog-model";
import { Checkbox } from "@/components/input";
import { whenIdle } from "@/lib/lazy-module";
import type { ColumnKind } from "@/lib/rows/column-kind";
import type { Sort } from "@/lib/rows/types";
import { type HeaderActions, HeaderCell } from "@/screens/tables/grid/grid-header";
import { GridRowView, gutterWidth, rowHeight } from "@/screens/tables/grid/grid-row-view";
import type { GridRow } from "@/screens/tables/table-rows";

export interface GridColumn {
  column: Column;
  kind: ColumnKind;
  width: number;
  isKey: boolean;
  isForeignKey: boolean;
}

export interface Place {
  row: number;
  column: number;
  /** The cell has only got another index, because rows were added or dropped above it; nothing scrolls to it. */
  isShifted?: boolean;
}

interface DataGridProps extends HeaderActions {
  label: string;
  columns: readonly GridColumn[];
  rows: readonly GridRow[];
  /** Rows of the whole table where they are known, for screen readers. */
  totalRows: number | undefined;
  sort: readonly Sort[];
  active: Place;
  onActive: (place: Place) => void;
  selected: ReadonlySet<string>;
  onSelect: (row: number, isRange: boolean) => void;
  onSelectAll: () => void;
  openRow: string | null;
  /** The editor of the active cell while it is edited. */
  editor: ReactNode;
  onEdit: (place: Place) => void;
  onKey: (event: KeyboardEvent) => void;
  onPaste: (clipboard: DataTransfer) => void;
  onCopy: (clipboard: DataTransfer) => void;
  /** The first or last rows that are loaded come into view. */
  onReach: (edge: "start" | "end") => void;
  /** A row of the table's end is to be shown first. */
  startsAtEnd: boolean;
  /** Shown below the last row: that more is being loaded, or that it failed. */
  footer: ReactNode;
}

/** Rows that are drawn above and below the visible ones: few until the grid is on the screen, which is sooner then. */
const overscanAtFirst = 1;
const overscanForScrolling = 10;

/**
 * The size that a grid has on a desktop, beside the rail and the list and below two bars. Where it has another one, phones for example,
 * it is drawn a second time when it has been measured.
 */
const expectedSize = () => ({
  width: Math.max(320, window.innerWidth - 408),
  height: window.innerHeight - 85,
});

/** The indexes that are drawn: those in view, and the edited one, whose field would lose the focus if it were removed. */
function extractWith(range: Range, edited: number | null): number[] {
  const indexes = defaultRangeExtractor(range);
  if (edited === null || edited >= range.count || indexes.includes(edited)) return indexes;
  return [...indexes, edited].sort((a, b) => a - b);
}

function isNear(
  index: number,
  range: { startIndex: number; endIndex: number } | null,
  overscan: number,
): boolean {
  if (range === null) return true;
  return index >= range.startIndex - overscan && index <= range.endIndex + overscan;
}

/** A grid of any number of rows and columns, of which only the visible ones are drawn. It has one tab stop; arrows move in it. */
export function DataGrid(props: DataGridProps) {
  const { columns, rows, active, editor, onReach, startsAtEnd } = props;
  const viewport = useRef<HTMLDivElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const id = useId();
  const cellId = useCallback((row: number, column: number) => `${id}-${row}-${column}`, [id]);
  const [overscan, setOverscan] = useState(overscanAtFirst);
  useEffect(() => whenIdle(() => setOverscan(overscanForScrolling)), []);
  const isEditing = editor !== null;
  const vertical = useVirtualizer({
    count: rows.length,
    getScrollElement: () => viewport.current,
    estimateSize: () => rowHeight,
    rangeExtractor: (range) => extractWith(range, isEditing ? active.row : null),
    overscan,
    scrollPaddingStart: rowHeight,
    initialRect: expectedSize(),
  });
  const horizontal = useVirtualizer({
    count: columns.length,
    getScrollElement: () => viewport.current,
    estimateSize: (index) => columns[index]?.width ?? 160,
    horizontal: true,
    rangeExtractor: (range) => extractWith(range, isEditing ? active.column : null),
    overscan: 2,
    scrollPaddingStart: gutterWidth,
    initialRect: expectedSize(),
  });
  const widths = columns.map(({ width }) => width).join();
  const measured = useRef(widths);
  useLayoutEffect(() => {
    // The first sizes are those of the first drawing; measuring them again would draw everything twice.
    if (measured.current === widths) return;
    measured.current = widths;
    horizontal.measure();
  }, [widths, horizontal]);
  useKeptPlace(viewport, rows, startsAtEnd);
  const isNew = useRef(true);
  useEffect(() => {
    // The first cell of a new grid is in view, and scrolling to it would compute the layout once more before it is drawn.
    const isInView = isNew.current && active.row === 0 && active.column === 0;
    isNew.current = false;
    if (isInView || active.isShifted) return;
    vertical.scrollToIndex(active.row, { align: "auto" });
    horizontal.scrollToIndex(active.column, { align: "auto" });
  }, [active, vertical, horizontal]);
  const wasEditing = useRef(false);
  useEffect(() => {
    // The focused editor field was removed with its cell, so the focus returns to the grid.
    if (wasEditing.current && !isEditing) grid.current?.focus({ preventScroll: true });
    wasEditing.current = isEditing;
  }, [isEditing]);
  const items = vertical.getVirtualItems();
  // The edited row may be far from those in view, and says nothing about them.
  const inView = items.filter(({ index }) => !isEditing || isNear(index, vertical.range, overscan));
  const first = inView[0]?.index ?? 0;
  const last = inView.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - 30) onReach("end");
    if (first <= 20) onReach("start");
  }, [first, last, rows.length, onReach]);
  const { onActive, onEdit, onSelect } = props;
  const press = useCallback(
    (row: number, column: number) => {
      onActive({ row, column });
      grid.current?.focus({ preventScroll: true });
    },
    [onActive],
  );
  const edit = useCallback((row: number, column: number) => onEdit({ row, column }), [onEdit]);
  const columnItems = horizontal.getVirtualItems();
  const width = gutterWidth + horizontal.getTotalSize();
  const isAnythingSelected = props.selected.size > 0;
  return (
    <div ref={viewport} className="relative min-h-0 flex-1 overflow-auto [overflow-anchor:none]">
      <div
        ref={grid}
        role="grid"
        tabIndex={0}
        aria-label={props.label}
        aria-rowcount={props.totalRows === undefined ? -1 : props.totalRows + 1}
        aria-colcount={columns.length + 1}
        aria-multiselectable="true"
        aria-activedescendant={
          rows.length > 0 && active.row >= first && active.row <= last
            ? cellId(active.row, active.column)
            : undefined
        }
        className="group/grid outline-none"
        style={{ width }}
        onKeyDown={(event) => {
          if (event.target === event.currentTarget) props.onKey(event);
        }}
        onCopy={(event) => {
          if (event.target !== event.currentTarget || editor !== null) return;
          event.preventDefault();
          props.onCopy(event.clipboardData);
        }}
        onPaste={(event) => {
          if (event.target !== event.currentTarget || editor !== null) return;
          event.preventDefault();
          props.onPaste(event.clipboardData);
        }}
      >
        <div
          role="row"
          aria-rowindex={1}
          style={{ width, height: rowHeight }}
          className="sticky top-0 z-10 border-line border-b bg-surface"
        >
          <div
            role="columnheader"
            tabIndex={-1}
            aria-colindex={1}
            style={{ width: gutterWidth }}
            className="sticky left-0 z-20 flex h-full items-center justify-center border-line border-r bg-surface"
          >
            <Checkbox
              tabIndex={-1}
              aria-label="Select all loaded rows"
              checked={isAnythingSelected && props.selected.size >= rows.length}
              mixed={isAnythingSelected && props.selected.size < rows.length}
              onChange={props.onSelectAll}
            />
          </div>
          {columnItems.map((item) => {
            const column = columns[item.index];
            return (
              column !== undefined && (
                <HeaderCell
                  key={column.column.name}
                  column={column.column}
                  index={item.index}
                  left={gutterWidth + item.start}
                  width={item.size}
                  sort={props.sort.find((sort) => sort.column === column.column.name)}
                  isKey={column.isKey}
                  isForeignKey={column.isForeignKey}
                  onSort={props.onSort}
                  onFilter={props.onFilter}
                  onHide={props.onHide}
                  onResize={props.onResize}
                />
              )
            );
          })}
        </div>
        <div
          role="rowgroup"
          className="relative"
          style={{ width, height: vertical.getTotalSize() }}
        >
          {items.map((item) => {
            const row = rows[item.index];
            return (
              row !== undefined && (
                <GridRowView
                  key={row.key}
                  row={row}
                  index={item.index}
                  top={item.start}
                  width={width}
                  columns={columns}
                  items={columnItems}
                  activeColumn={active.row === item.index ? active.column : null}
                  isSelected={props.selected.has(row.key)}
                  isOpen={props.openRow === row.key}
                  editor={active.row === item.index ? editor : null}
                  cellId={cellId}
                  onPress={press}
                  onEdit={edit}
                  onSelect={onSelect}
                />
              )
            );
          })}
        </div>
      </div>
      <div className="sticky left-0">{props.footer}</div>
    </div>
  );
}

/**
 * Keeps the visible rows where they are when pages are added or dropped above them: the row that was first in view is looked for in
 * the new rows. When a table is opened at its end, its last rows are shown.
 */
function useKeptPlace(
  viewport: { current: HTMLDivElement | null },
  rows: readonly GridRow[],
  startsAtEnd: boolean,
): void {
  const before = useRef<readonly GridRow[]>([]);
  const wasAtEnd = useRef(false);
  useLayoutEffect(() => {
    const element = viewport.current;
    const old = before.current;
    before.current = rows;
    if (element === null || rows.length === 0) return;
    if (startsAtEnd && !wasAtEnd.current) {
      wasAtEnd.current = true;
      element.scrollTop = element.scrollHeight;
      return;
    }
    if (!startsAtEnd) wasAtEnd.current = false;
    const top = Math.floor(element.scrollTop / rowHeight);
    const anchor = old[top]?.key;
    if (anchor === undefined || rows[top]?.key === anchor) return;
    const now = rows.findIndex(({ key }) => key === anchor);
    const known = new Set(old.map(({ key }) => key));
    if (now >= 0) element.scrollTop += (now - top) * rowHeight;
    else if (!rows.some(({ key }) => known.has(key))) {
      // Another part of the table begins at its own edge.
      element.scrollTop = startsAtEnd ? element.scrollHeight : 0;
    }
  }, [viewport, rows, startsAtEnd]);
}
