// biome-ignore-all lint/a11y/useSemanticElements: elements of a table cannot be left out and positioned one by one.
/** The access matrix: tables below each other, roles side by side, four verbs in each cell. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { cn } from "@ui/cn";
import { useMediaQuery } from "@ui/use-media-query";
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Text } from "@/components/text";
import { type Access, type AccessTable, describeCell, isOpen, verbs } from "./access-matrix";

interface MatrixViewProps {
  tables: readonly AccessTable[];
  roles: readonly string[];
  /** The table whose policies are shown beside, by its oid. */
  selected: string | null;
  onSelect: (oid: string, role: string) => void;
}

const headHeight = 34;
const roleWidth = 124;
const nameWidth = 200;
/** On phones the name of a table stands above its cells, so that three roles are visible at once. */
const narrowQuery = "(max-width: 639px)";
const nameHeight = 28;
const narrowCellHeight = 40;

export function MatrixView({ tables, roles, selected, onSelect }: MatrixViewProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState({ row: 0, column: 0 });
  const isNarrow = useMediaQuery(narrowQuery);
  const cellHeight = isNarrow ? narrowCellHeight : headHeight;
  const rowHeight = isNarrow ? nameHeight + narrowCellHeight : cellHeight;
  const rows = useVirtualizer({
    count: tables.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    scrollPaddingStart: headHeight,
  });
  // The virtualizer remembers the heights of the layout before.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height is what has changed.
  useEffect(() => rows.measure(), [rowHeight]);
  const width = (isNarrow ? 0 : nameWidth) + roles.length * roleWidth;

  function handleKey(event: KeyboardEvent) {
    const { row, column } = focused;
    const moves: Record<string, [number, number]> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - 15, column],
      PageDown: [row + 15, column],
      Home: [0, column],
      End: [tables.length - 1, column],
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    const next = {
      row: Math.max(0, Math.min(tables.length - 1, move[0])),
      column: Math.max(0, Math.min(roles.length - 1, move[1])),
    };
    setFocused(next);
    rows.scrollToIndex(next.row);
    requestAnimationFrame(() => {
      const selector = `[data-cell="${next.row}:${next.column}"]`;
      const cell = scroller.current?.querySelector<HTMLElement>(selector);
      cell?.focus({ preventScroll: true });
      cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  }

  return (
    <div
      ref={scroller}
      role="grid"
      aria-label="Access of roles to tables"
      aria-rowcount={tables.length + 1}
      aria-colcount={roles.length + 1}
      tabIndex={-1}
      onKeyDown={handleKey}
      className="min-h-0 flex-1 overflow-auto"
    >
      <div role="rowgroup" className="sticky top-0 z-10" style={{ width, minWidth: "100%" }}>
        <div role="row" tabIndex={-1} className="flex border-line border-b bg-surface text-caption">
          {isNarrow ? (
            <div role="columnheader" tabIndex={-1} className="sr-only">
              Table
            </div>
          ) : (
            <MatrixHead name="Table" width={nameWidth} isFirst />
          )}
          {roles.map((role) => (
            <MatrixHead key={role} name={role} width={roleWidth} />
          ))}
        </div>
      </div>
      <div
        role="rowgroup"
        className="relative"
        style={{ height: rows.getTotalSize(), width, minWidth: "100%" }}
      >
        {rows.getVirtualItems().map((item) => {
          const table = tables[item.index];
          if (table === undefined) return null;
          return (
            <div
              key={table.oid}
              role="row"
              tabIndex={-1}
              aria-rowindex={item.index + 2}
              aria-selected={table.oid === selected}
              className={cn(
                "absolute left-0 flex w-full border-line-soft border-b",
                isNarrow && "flex-wrap",
                table.oid === selected ? "bg-selected" : "hover:bg-hover",
              )}
              style={{ top: item.start, height: rowHeight }}
            >
              <TableName
                table={table}
                isSelected={table.oid === selected}
                isAboveCells={isNarrow}
              />
              {roles.map((role, column) => (
                <div
                  key={role}
                  role="gridcell"
                  tabIndex={-1}
                  style={{ width: roleWidth, height: cellHeight - 1 }}
                >
                  <MatrixCell
                    table={table}
                    role={role}
                    place={`${item.index}:${column}`}
                    isTabStop={focused.row === item.index && focused.column === column}
                    onFocus={() => setFocused({ row: item.index, column })}
                    onOpen={() => onSelect(table.oid, role)}
                  />
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function MatrixHead({ name, width, isFirst }: { name: string; width: number; isFirst?: boolean }) {
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      className={cn(
        "flex h-8.5 shrink-0 items-center truncate px-3 font-medium text-ink-soft",
        isFirst && "sticky left-0 z-5 bg-surface",
      )}
      style={{ width }}
    >
      <span className="truncate">
        <Text>{name}</Text>
      </span>
    </div>
  );
}

interface TableNameProps {
  table: AccessTable;
  isSelected: boolean;
  /** The name has a line of its own above the cells, instead of a column. */
  isAboveCells: boolean;
}

function TableName({ table, isSelected, isAboveCells }: TableNameProps) {
  const name = (
    <>
      <span className="truncate">
        {table.schema !== "public" && (
          <span className="text-ink-soft">
            <Text>{table.schema}</Text>.
          </span>
        )}
        <Text>{table.name}</Text>
      </span>
      {isOpen(table) && (
        <span
          title="Anybody reads all rows, or users outside write all rows"
          className={cn(
            "rounded-[3px] bg-changed px-1 text-micro text-warning",
            !isAboveCells && "ml-auto",
          )}
        >
          open
        </span>
      )}
    </>
  );
  if (isAboveCells) {
    return (
      <div role="rowheader" tabIndex={-1} className="w-full" style={{ height: nameHeight }}>
        <div className="sticky left-0 flex h-full w-fit max-w-screen items-end gap-2 px-3 font-medium">
          {name}
        </div>
      </div>
    );
  }
  return (
    <div
      role="rowheader"
      tabIndex={-1}
      className={cn(
        "sticky left-0 z-5 flex shrink-0 items-center gap-2 truncate border-line-soft border-r px-3",
        isSelected ? "bg-raised" : "bg-surface",
      )}
      style={{ width: nameWidth }}
    >
      {name}
    </div>
  );
}

const letters = { select: "S", insert: "I", update: "U", delete: "D" } as const;

const accessLooks: Record<Access, string> = {
  none: "border-transparent text-ink-soft",
  policy: "border-line-strong/70 text-ink",
  all: "border-transparent bg-ink text-canvas",
};

interface MatrixCellProps {
  table: AccessTable;
  role: string;
  place: string;
  isTabStop: boolean;
  onFocus: () => void;
  onOpen: () => void;
}

function MatrixCell({ table, role, place, isTabStop, onFocus, onOpen }: MatrixCellProps) {
  const cell = table.cells[role];
  const words = verbs.map((verb) => describeCell(role, verb, cell?.[verb] ?? "none")).join("; ");
  return (
    <button
      type="button"
      data-cell={place}
      tabIndex={isTabStop ? 0 : -1}
      onFocus={onFocus}
      onClick={onOpen}
      aria-label={`${table.schema}.${table.name}, ${words}`}
      title={words.replaceAll("; ", "\n")}
      className="flex h-full w-full items-center gap-1 px-3 focus-visible:-outline-offset-2"
    >
      {verbs.map((verb) => (
        <span
          key={verb}
          aria-hidden="true"
          className={cn(
            "flex size-5.5 items-center justify-center rounded-[4px] border font-medium text-micro",
            accessLooks[cell?.[verb] ?? "none"],
          )}
        >
          {cell?.[verb] === "none" || cell === undefined ? "–" : letters[verb]}
        </span>
      ))}
    </button>
  );
}

export function MatrixLegend() {
  const entries: [Access, string, string][] = [
    ["all", "S", "all rows"],
    ["policy", "S", "rows that a policy allows"],
    ["none", "–", "refused"],
  ];
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-caption text-ink-soft">
      <span>S select · I insert · U update · D delete</span>
      {entries.map(([access, sign, words]) => (
        <span key={access} className="flex items-center gap-1.5">
          <span
            aria-hidden="true"
            className={cn(
              "flex size-4.5 items-center justify-center rounded-[4px] border font-medium text-micro",
              accessLooks[access],
            )}
          >
            {sign}
          </span>
          {words}
        </span>
      ))}
    </p>
  );
}
