import { Button } from "@ui/button";
import { Filter as FilterIcon, X } from "lucide-react";
import { useState } from "react";
import type { Catalog, Table } from "@/api/catalog-model";
import { Popover } from "@/components/popover";
import { Text } from "@/components/text";
import { ToolLabel } from "@/components/tool-label";
import { columnKind, operatorSign, operatorsOf } from "@/lib/rows/column-kind";
import type { Filter } from "@/lib/rows/types";
import { FilterForm } from "@/screens/tables/toolbar/filter-form";

interface FilterBarProps {
  table: Table;
  catalog: Catalog;
  filters: readonly Filter[];
  onChange: (filters: Filter[]) => void;
  /** Column of a new filter whose form is open, or null. */
  opened: string | null;
  onOpen: (column: string | null) => void;
}

export function newFilter(table: Table, catalog: Catalog, name: string): Filter {
  const column = table.columns.find((other) => other.name === name);
  const operator =
    operatorsOf(column === undefined ? "text" : columnKind(column, catalog))[0]?.name ?? "eq";
  return { column: name, operator, value: operator === "is" ? "true" : "" };
}

const describe = ({ column, path = [], operator, value }: Filter): [string, string, string] => [
  [column, ...path].join("."),
  operatorSign(operator),
  value === "" ? "empty" : value.replace("not_null", "not null"),
];

/** A new filter that was typed and not applied, kept when its panel is closed by a press beside it. */
interface TypedFilter {
  table: string;
  /** The column that the panel was opened for. */
  opened: string;
  filter: Filter;
}

/** The filters as chips, each of which opens its form, and the button for a new one. */
export function FilterBar({ table, catalog, filters, onChange, opened, onOpen }: FilterBarProps) {
  const [kept, setKept] = useState<TypedFilter | null>(null);
  const typed = kept?.table === table.oid ? kept : null;
  return (
    <>
      {filters.map((filter, index) => (
        <FilterChip
          // biome-ignore lint/suspicious/noArrayIndexKey: two filters may be equal. Back may put another one into the place, which an open form is not about.
          key={`${index} ${JSON.stringify(filter)}`}
          table={table}
          catalog={catalog}
          filter={filter}
          onApply={(next) =>
            onChange(filters.map((other, place) => (place === index ? next : other)))
          }
          onRemove={() => onChange(filters.filter((_, place) => place !== index))}
        />
      ))}
      <Popover
        label="New filter"
        open={opened !== null}
        onOpenChange={(open) =>
          onOpen(open ? (typed?.opened ?? table.columns[0]?.name ?? null) : null)
        }
        trigger={
          <Button size="dense" variant="quiet" title="Filter (f)">
            <FilterIcon aria-hidden="true" className="size-3.5" />
            <ToolLabel>Filter</ToolLabel>
            {typed !== null && opened === null && <NotApplied />}
          </Button>
        }
      >
        {opened !== null && (
          <FilterForm
            key={opened}
            table={table}
            catalog={catalog}
            initial={typed?.opened === opened ? typed.filter : newFilter(table, catalog, opened)}
            onType={(filter) => setKept({ table: table.oid, opened, filter })}
            onDiscard={
              typed?.opened === opened
                ? () => {
                    setKept(null);
                    onOpen(null);
                  }
                : undefined
            }
            onApply={(filter) => {
              setKept(null);
              onOpen(null);
              onChange([...filters, filter]);
            }}
          />
        )}
      </Popover>
    </>
  );
}

/** Stands at a filter of which more was typed than is applied. */
function NotApplied() {
  return (
    <span className="text-accent" title="What was typed is not applied yet">
      <span aria-hidden="true">•</span>
      <span className="sr-only">, typed and not applied</span>
    </span>
  );
}

interface FilterChipProps extends Pick<FilterBarProps, "table" | "catalog"> {
  filter: Filter;
  onApply: (filter: Filter) => void;
  onRemove: () => void;
}

function FilterChip({ table, catalog, filter, onApply, onRemove }: FilterChipProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState<Filter | null>(null);
  const [name, sign, value] = describe(filter);
  return (
    <span className="inline-flex h-7 min-w-24 max-w-72 items-center rounded-sm border border-accent/40 bg-selected pointer-coarse:h-11">
      <Popover
        label="Filter"
        open={isOpen}
        onOpenChange={setOpen}
        trigger={
          <button type="button" className="flex h-full min-w-0 items-center gap-1.5 pr-1 pl-2">
            <span className="truncate">
              <Text>{name}</Text>
            </span>
            <span className="shrink-0 text-ink-soft">{sign}</span>
            <span className="truncate font-mono text-label">
              <Text>{value}</Text>
            </span>
            {typed !== null && !isOpen && <NotApplied />}
          </button>
        }
      >
        <FilterForm
          table={table}
          catalog={catalog}
          initial={typed ?? filter}
          onType={setTyped}
          onDiscard={
            typed === null
              ? undefined
              : () => {
                  setTyped(null);
                  setOpen(false);
                }
          }
          onApply={(next) => {
            setTyped(null);
            setOpen(false);
            onApply(next);
          }}
        />
      </Popover>
      <button
        type="button"
        aria-label={`Remove the filter on ${name}`}
        className="flex h-full w-6 shrink-0 items-center justify-center text-ink-soft hover:text-ink pointer-coarse:w-11"
        onClick={onRemove}
      >
        <X className="size-3" />
      </button>
    </span>
  );
}
