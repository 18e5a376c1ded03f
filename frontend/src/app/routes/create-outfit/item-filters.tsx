import { useQuery } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { SlidersHorizontal } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { SearchField } from "@/components/search-field";
import { Select } from "@/components/ui/select";
import { addressWord } from "@/lib/address-word";
import { brandsQuery, categoriesQuery, colorsQuery, type NamedRow } from "@/lib/vocabulary";
import { useChangeFilters, type WizardParams } from "./wizard-params";

const filterGrid =
  "grid grid-cols-2 gap-2 max-md:[&>:nth-child(2)>:first-child]:col-span-2 md:grid-cols-3 lg:grid-cols-[2fr_1fr_1fr_1fr]";

interface ItemFiltersProps {
  params: WizardParams;
  /** Further choices below the filters. */
  children: ReactNode;
}

/**
 * Search and filters of the items to choose from. They are in the address, so that a reload keeps them. On phones all but the search
 * is folded away, so that the items come first.
 */
export function ItemFilters({ params, children }: ItemFiltersProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const chosen = [params.category, params.brand, params.color].filter((one) => one !== "").length;
  const show = useChangeFilters();
  const { data: categories } = useQuery(categoriesQuery());
  const { data: brands } = useQuery(brandsQuery());
  const { data: colors } = useQuery(colorsQuery());

  return (
    <div className={filterGrid}>
      <div className="col-span-2 flex gap-2 md:col-span-3 lg:col-span-1">
        <SearchField
          query={params.query}
          onSearch={(query) => show({ query })}
          label="Search items"
          placeholder="Search items..."
          className="min-w-0 flex-1"
        />
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          aria-label={chosen === 0 ? "Filters" : `Filters, ${chosen} chosen`}
          className="relative inline-flex size-11 shrink-0 items-center justify-center rounded-full border border-line text-ink hover:border-ink-soft md:hidden"
          onClick={() => setOpen(!isOpen)}
        >
          <SlidersHorizontal aria-hidden="true" className="size-4.5" strokeWidth={1.6} />
          {chosen > 0 && (
            <span className="absolute -top-1 -right-1 flex size-4.5 items-center justify-center rounded-full bg-accent text-label text-on-accent tabular-nums">
              {chosen}
            </span>
          )}
        </button>
      </div>
      <div id={id} className={cn("contents", !isOpen && "max-md:*:hidden")}>
        <FilterSelect
          label="Category"
          all="All Categories"
          rows={categories}
          value={params.category}
          onChange={(category) => show({ category })}
        />
        <FilterSelect
          label="Brand"
          all="All Brands"
          rows={brands}
          value={params.brand}
          onChange={(brand) => show({ brand })}
        />
        <FilterSelect
          label="Color"
          all="All Colors"
          rows={colors === undefined ? undefined : [...colors.values()]}
          value={params.color}
          onChange={(color) => show({ color })}
        />
        <div className="col-span-full mt-1">{children}</div>
      </div>
    </div>
  );
}

interface FilterSelectProps {
  label: string;
  /** Text of the choice that does not filter. */
  all: string;
  rows: readonly NamedRow[] | undefined;
  value: string;
  onChange: (value: string) => void;
}

function FilterSelect({ label, all, rows = [], value, onChange }: FilterSelectProps) {
  // The address may hold the word or the id; the options hold words where a name has one.
  const chosen = rows.find((row) => row.id === value);
  return (
    <Select
      aria-label={label}
      value={chosen === undefined ? value : addressWord(chosen.name) || chosen.id}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{all}</option>
      {rows.map((row) => (
        <option key={row.id} value={addressWord(row.name) || row.id}>
          {row.name}
        </option>
      ))}
    </Select>
  );
}
