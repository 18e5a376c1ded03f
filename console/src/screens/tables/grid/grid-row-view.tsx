import type { VirtualItem } from "@tanstack/react-virtual";
import { cn } from "@ui/cn";
import { memo, type ReactNode } from "react";
import { Checkbox } from "@/components/input";
import { CellView, describeCell } from "@/screens/tables/grid/cell-view";
import type { GridColumn } from "@/screens/tables/grid/data-grid";
import { cellOf, type GridRow } from "@/screens/tables/table-rows";

export const gutterWidth = 44;
export const rowHeight = 32;

interface GridRowViewProps {
  row: GridRow;
  index: number;
  top: number;
  width: number;
  columns: readonly GridColumn[];
  items: VirtualItem[];
  /** Index of the active cell's column when it is in this row. */
  activeColumn: number | null;
  isSelected: boolean;
  isOpen: boolean;
  /** The editor, when the active cell is being edited. */
  editor: ReactNode;
  cellId: (row: number, column: number) => string;
  onPress: (row: number, column: number) => void;
  onEdit: (row: number, column: number) => void;
  onSelect: (row: number, isRange: boolean) => void;
}

const marks = { added: "bg-added", changed: "", removed: "bg-removed text-ink-soft line-through" };

/** One row; drawn again only when something of it changes, because a hundred of them pass by while scrolling. */
export const GridRowView = memo(function GridRowView({
  row,
  index,
  top,
  width,
  columns,
  items,
  activeColumn,
  isSelected,
  isOpen,
  editor,
  cellId,
  onPress,
  onEdit,
  onSelect,
}: GridRowViewProps) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      style={{ transform: `translateY(${top}px)`, width, height: rowHeight }}
      className={cn(
        "absolute top-0 left-0 border-line-soft border-b",
        // The editor may reach over the rows below.
        editor !== null && "z-10",
        isSelected || isOpen ? "bg-selected" : "hover:bg-hover",
        row.mark !== undefined && marks[row.mark],
      )}
    >
      <div
        role="rowheader"
        aria-colindex={1}
        style={{ width: gutterWidth }}
        className="sticky left-0 z-[5] flex h-full items-center justify-center border-line border-r bg-canvas"
      >
        <Checkbox
          tabIndex={-1}
          aria-label={`Select row ${index + 1}`}
          checked={isSelected}
          onChange={() => undefined}
          onClick={(event) => onSelect(index, event.shiftKey)}
        />
      </div>
      {items.map((item) => {
        const column = columns[item.index];
        if (column === undefined) return null;
        const cell = cellOf(row, column.column);
        const isActive = activeColumn === item.index;
        return (
          <div
            key={column.column.name}
            id={cellId(index, item.index)}
            role="gridcell"
            aria-colindex={item.index + 2}
            {...(isActive && {
              "aria-label": `row ${index + 1}, ${column.column.name}, ${describeCell(cell)}`,
            })}
            style={{ left: gutterWidth + item.start, width: item.size }}
            className={cn(
              "absolute inset-y-0 flex items-center border-line-soft border-r px-2.5 font-mono text-label",
              column.kind === "number" && "justify-end",
              cell.isChanged && row.mark === "changed" && "bg-changed",
              isActive &&
                "z-[4] outline-2 outline-line-strong -outline-offset-1 group-focus-within/grid:outline-accent",
            )}
            onClick={() => onPress(index, item.index)}
            onDoubleClick={() => onEdit(index, item.index)}
          >
            {isActive && editor !== null ? editor : <CellView cell={cell} kind={column.kind} />}
          </div>
        );
      })}
    </div>
  );
});
