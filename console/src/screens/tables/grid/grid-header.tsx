import { cn } from "@ui/cn";
import { ArrowDown, ArrowUp, EyeOff, Filter as FilterIcon, KeyRound, Link2 } from "lucide-react";
import type { PointerEvent } from "react";
import type { Column } from "@/api/catalog-model";
import { Menu, MenuHeading, MenuItem, MenuSeparator } from "@/components/menu";
import { Text } from "@/components/text";
import { shortType } from "@/lib/rows/column-kind";
import type { Sort } from "@/lib/rows/types";

export interface HeaderActions {
  onSort: (column: string, direction: "ascending" | "descending" | null) => void;
  onFilter: (column: string) => void;
  onHide: (column: string) => void;
  onResize: (column: string, width: number) => void;
}

interface HeaderCellProps extends HeaderActions {
  column: Column;
  index: number;
  left: number;
  width: number;
  sort: Sort | undefined;
  isKey: boolean;
  isForeignKey: boolean;
}

export const minimumWidth = 64;

/** A column's heading: name, type, and its menu. The right border changes the width by pointer, or by arrow keys. */
export function HeaderCell({
  column,
  index,
  left,
  width,
  sort,
  isKey,
  isForeignKey,
  onSort,
  onFilter,
  onHide,
  onResize,
}: HeaderCellProps) {
  const direction =
    sort === undefined
      ? "none"
      : sort.descending
        ? ("descending" as const)
        : ("ascending" as const);
  return (
    <div
      role="columnheader"
      tabIndex={-1}
      aria-colindex={index + 2}
      aria-sort={direction}
      style={{ left, width }}
      className="absolute inset-y-0 border-line border-r"
    >
      <Menu
        label={`Column ${column.name}`}
        align="start"
        trigger={
          <button
            type="button"
            tabIndex={-1}
            className="flex h-full w-full items-center gap-1.5 px-2.5 text-left outline-offset-[-2px] hover:bg-hover"
            title={column.comment ?? undefined}
          >
            {isKey && (
              <KeyRound aria-label="primary key" className="size-3 shrink-0 text-warning" />
            )}
            {isForeignKey && (
              <Link2 aria-label="foreign key" className="size-3 shrink-0 text-ink-soft" />
            )}
            <span className="min-w-0 truncate font-medium">
              <Text>{column.name}</Text>
            </span>
            <span className="min-w-0 shrink-[99] truncate font-mono text-ink-soft text-micro">
              <Text>{shortType(column.type)}</Text>
            </span>
            {sort !== undefined && (
              <span aria-hidden="true" className="ml-auto shrink-0">
                {sort.descending ? (
                  <ArrowDown className="size-3 text-accent" />
                ) : (
                  <ArrowUp className="size-3 text-accent" />
                )}
              </span>
            )}
          </button>
        }
      >
        <MenuHeading>
          <span className="font-mono">
            <Text>{column.type}</Text>
          </span>
          {column.nullable ? "" : " · not null"}
        </MenuHeading>
        <MenuItem onSelect={() => onSort(column.name, "ascending")}>
          <ArrowUp aria-hidden="true" />
          Sort ascending
        </MenuItem>
        <MenuItem onSelect={() => onSort(column.name, "descending")}>
          <ArrowDown aria-hidden="true" />
          Sort descending
        </MenuItem>
        {sort !== undefined && (
          <MenuItem onSelect={() => onSort(column.name, null)}>Do not sort</MenuItem>
        )}
        <MenuSeparator />
        <MenuItem onSelect={() => onFilter(column.name)}>
          <FilterIcon aria-hidden="true" />
          Filter
        </MenuItem>
        <MenuItem onSelect={() => onHide(column.name)}>
          <EyeOff aria-hidden="true" />
          Hide
        </MenuItem>
        <MenuSeparator />
        <MenuItem onSelect={() => onResize(column.name, Math.round(width * 1.5))}>Widen</MenuItem>
        <MenuItem
          onSelect={() => onResize(column.name, Math.max(minimumWidth, Math.round(width / 1.5)))}
        >
          Narrow
        </MenuItem>
      </Menu>
      <span
        aria-hidden="true"
        onPointerDown={(event) =>
          followPointer(event, width, (next) => onResize(column.name, next))
        }
        className={cn(
          "absolute inset-y-0 -right-1 z-10 w-2 cursor-col-resize touch-none hover:bg-accent/50",
        )}
      />
    </div>
  );
}

/** Changes the width while the pointer is held. */
function followPointer(
  event: PointerEvent<HTMLElement>,
  width: number,
  resize: (width: number) => void,
): void {
  event.preventDefault();
  const start = event.clientX;
  const handle = event.currentTarget;
  handle.setPointerCapture(event.pointerId);
  const move = (moved: globalThis.PointerEvent) =>
    resize(Math.max(minimumWidth, width + moved.clientX - start));
  const stop = () => {
    handle.removeEventListener("pointermove", move);
    handle.removeEventListener("pointerup", stop);
    handle.removeEventListener("pointercancel", stop);
  };
  handle.addEventListener("pointermove", move);
  handle.addEventListener("pointerup", stop);
  handle.addEventListener("pointercancel", stop);
}
