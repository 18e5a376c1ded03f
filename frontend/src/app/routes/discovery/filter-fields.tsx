import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { Check } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { Skeleton } from "@/components/ui/skeleton";
import { addressWord } from "@/lib/address-word";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import {
  brandsQuery,
  categoriesQuery,
  colorsQuery,
  type NamedRow,
  outfitStylesQuery,
} from "@/lib/vocabulary";
import type { DiscoveryChange, DiscoveryParams, ListFilter } from "./discovery-params";
import { PriceFields } from "./price-fields";

export interface FilterFieldsProps {
  params: DiscoveryParams;
  onChange: (change: DiscoveryChange) => void;
}

/** Every filter of the tab: gender, category, brand, style (outfits), color, price. */
export function FilterFields({ params, onChange }: FilterFieldsProps) {
  const categories = useQuery(categoriesQuery());
  const brands = useQuery(brandsQuery());
  const styles = useQuery(outfitStylesQuery());
  const colors = useQuery(colorsQuery());

  function toggle<Value extends string>(chosen: readonly Value[], value: Value): Value[] {
    return chosen.includes(value) ? chosen.filter((other) => other !== value) : [...chosen, value];
  }

  function listGroup(filter: ListFilter, title: string, rows: readonly ColoredRow[] | undefined) {
    return (
      <FilterGroup
        title={title}
        rows={rows}
        chosen={params[filter]}
        onToggle={(word) => onChange((present) => ({ [filter]: toggle(present[filter], word) }))}
      />
    );
  }

  return (
    <div className="grid gap-x-10 gap-y-6 md:grid-cols-2">
      <Group title="Gender">
        {genders.map((gender) => (
          <Chip
            key={gender}
            label={capitalise(gender)}
            pressed={params.genders.includes(gender)}
            onClick={() => onChange((present) => ({ genders: toggle(present.genders, gender) }))}
          />
        ))}
      </Group>
      <PriceFields minPrice={params.minPrice} maxPrice={params.maxPrice} onChange={onChange} />
      {listGroup("category", "Category", categories.data)}
      {params.tab === "outfits" && listGroup("style", "Style", rowsOfNames(styles.data))}
      {listGroup("brand", "Brand", brands.data)}
      {listGroup(
        "color",
        "Color",
        colors.data === undefined ? undefined : [...colors.data.values()],
      )}
    </div>
  );
}

type ColoredRow = NamedRow & { hex_code?: string };

function rowsOfNames(names: ReadonlyMap<string, string> | undefined): NamedRow[] | undefined {
  return names === undefined ? undefined : [...names].map(([id, name]) => ({ id, name }));
}

interface FilterGroupProps {
  title: string;
  rows: readonly ColoredRow[] | undefined;
  /** Chosen words of the address. */
  chosen: readonly string[];
  onToggle: (word: string) => void;
}

/** Above this number of values the group scrolls and has a box to find one by its name. */
const manyRows = 40;

function FilterGroup({ title, rows, chosen, onToggle }: FilterGroupProps) {
  const [typed, setTyped] = useState("");
  if (rows === undefined) {
    return (
      <Group title={title}>
        <Skeleton className="h-9 w-24 rounded-full!" />
        <Skeleton className="h-9 w-32 rounded-full!" />
        <Skeleton className="h-9 w-20 rounded-full!" />
      </Group>
    );
  }
  const wanted = typed.trim().toLowerCase();
  const shown = rows.filter(({ name }) => name.toLowerCase().includes(wanted));
  return (
    <Group
      title={title}
      scrolls={rows.length > manyRows}
      before={
        rows.length > manyRows && (
          <input
            type="search"
            aria-label={`Find in ${title.toLowerCase()}`}
            placeholder={`Find in ${title.toLowerCase()}...`}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            className="mb-2 h-11 w-full rounded-md border border-line bg-canvas px-3 text-ink text-small placeholder:text-ink-soft max-md:text-body"
          />
        )
      }
    >
      {shown.map((row) => {
        const word = addressWord(row.name) || row.id;
        return (
          <Chip
            key={row.id}
            label={row.name}
            color={row.hex_code}
            pressed={chosen.includes(word) || chosen.includes(row.id)}
            onClick={() => onToggle(chosen.includes(row.id) ? row.id : word)}
          />
        );
      })}
    </Group>
  );
}

interface GroupProps {
  title: string;
  before?: ReactNode;
  scrolls?: boolean;
  children: ReactNode;
}

function Group({ title, before, scrolls = false, children }: GroupProps) {
  const titleId = useId();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend cannot be laid out in a grid.
    <div role="group" aria-labelledby={titleId}>
      <h2 id={titleId} className="mb-2.5 text-ink-soft text-small">
        {title}
      </h2>
      {before}
      <div className={cn("flex flex-wrap gap-2", scrolls && "-m-1 max-h-64 overflow-y-auto p-1")}>
        {children}
      </div>
    </div>
  );
}

interface ChipProps {
  label: string;
  color?: string | undefined;
  pressed: boolean;
  onClick: () => void;
}

function Chip({ label, color, pressed, onClick }: ChipProps) {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onClick}
      className={cn(
        "inline-flex h-9 items-center gap-2 rounded-full border px-3.5 text-small transition-colors pointer-coarse:h-11",
        pressed
          ? "border-ink bg-ink text-canvas"
          : "border-line-strong/60 text-ink hover:border-ink",
      )}
    >
      {pressed && <Check aria-hidden="true" className="size-3.5" />}
      {color !== undefined && (
        <span
          aria-hidden="true"
          className="size-3.5 rounded-full border border-line-strong/50"
          style={{ backgroundColor: color }}
        />
      )}
      {label}
    </button>
  );
}
