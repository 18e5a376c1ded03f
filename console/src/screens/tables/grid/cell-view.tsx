import { cn } from "@ui/cn";
import { memo } from "react";
import { Skeleton } from "@/components/skeleton";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import type { ColumnKind } from "@/lib/rows/column-kind";
import type { GridCell } from "@/screens/tables/table-rows";

/** More would not be visible in a cell, and drawing it costs time while scrolling. */
const shownCharacters = 300;

/** A value in one line. Null, empty and default are three different signs. */
export const CellView = memo(function CellView({
  cell,
  kind,
}: {
  cell: GridCell;
  kind: ColumnKind;
}) {
  if (cell.isDefault) {
    return <span className="text-info italic opacity-90">default</span>;
  }
  if (cell.isMissing) return <Skeleton className="h-3 w-3/5" />;
  if (cell.value === null) return <span className="text-ink-soft text-micro">NULL</span>;
  if (cell.value === "") return <span className="text-ink-soft text-micro">empty</span>;
  return (
    <>
      <Text className={cn("min-w-0 truncate", kind === "number" && "tabular-nums")}>
        {kind === "boolean" ? wordOf(cell.value) : cell.value.slice(0, shownCharacters)}
      </Text>
      {cell.bytes !== undefined && (
        <span className="ml-1 shrink-0 rounded-[4px] bg-hover px-1 text-ink-soft text-micro">
          {formatBytes(cell.bytes)}
        </span>
      )}
    </>
  );
});

/** PostgreSQL writes booleans as one letter. */
const wordOf = (value: string): string => ({ t: "true", f: "false" })[value] ?? value;

/** Describes a cell for screen readers. */
export function describeCell(cell: GridCell): string {
  if (cell.isDefault) return "default";
  if (cell.isMissing) return "not loaded yet";
  if (cell.value === null) return "null";
  if (cell.value === "") return "empty";
  return cell.value.slice(0, 120);
}
