import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { ArrowDown, ArrowDownUp, ArrowUp, X } from "lucide-react";
import type { Table } from "@/api/catalog-model";
import { Select } from "@/components/input";
import { Popover } from "@/components/popover";
import { ToolLabel } from "@/components/tool-label";
import type { Sort } from "@/lib/rows/types";

interface SortMenuProps {
  table: Table;
  sort: readonly Sort[];
  onChange: (sort: Sort[]) => void;
}

/** The columns by which rows are sorted, in their order. Without any, rows come by their key. */
export function SortMenu({ table, sort, onChange }: SortMenuProps) {
  const replace = (index: number, next: Sort) =>
    onChange(sort.map((entry, place) => (place === index ? next : entry)));
  const free = table.columns.filter(({ name }) => sort.every((entry) => entry.column !== name));
  return (
    <Popover
      label="Sort"
      trigger={
        <Button size="dense" variant="quiet" title="Sort">
          <ArrowDownUp aria-hidden="true" className="size-3.5" />
          <ToolLabel>Sort</ToolLabel>
          {sort.length > 0 && <span className="text-accent">{sort.length}</span>}
        </Button>
      }
    >
      <div className="grid gap-2">
        {sort.length === 0 && <p className="text-ink-soft">Rows come in the order of their key.</p>}
        {sort.map((entry, index) => (
          <div key={entry.column} className="flex items-center gap-1">
            <span className="min-w-0 flex-1 truncate">{entry.column}</span>
            <IconButton
              size="dense"
              label={
                entry.descending
                  ? `${entry.column}: descending; sort ascending`
                  : `${entry.column}: ascending; sort descending`
              }
              onClick={() =>
                replace(index, {
                  ...entry,
                  descending: !entry.descending,
                  nulls_first: !entry.descending,
                })
              }
            >
              {entry.descending ? (
                <ArrowDown className="size-3.5" />
              ) : (
                <ArrowUp className="size-3.5" />
              )}
            </IconButton>
            <Select
              aria-label={`Nulls of ${entry.column}`}
              className="w-28"
              value={entry.nulls_first ? "first" : "last"}
              onChange={(event) =>
                replace(index, { ...entry, nulls_first: event.target.value === "first" })
              }
            >
              <option value="last">nulls last</option>
              <option value="first">nulls first</option>
            </Select>
            <IconButton
              size="dense"
              label={`Do not sort by ${entry.column}`}
              onClick={() => onChange(sort.filter((_, place) => place !== index))}
            >
              <X className="size-3.5" />
            </IconButton>
          </div>
        ))}
        <Select
          aria-label="Sort by another column"
          value=""
          onChange={(event) =>
            onChange([
              ...sort,
              { column: event.target.value, descending: false, nulls_first: false },
            ])
          }
        >
          <option value="" disabled>
            Add a column
          </option>
          {free.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </Select>
      </div>
    </Popover>
  );
}
