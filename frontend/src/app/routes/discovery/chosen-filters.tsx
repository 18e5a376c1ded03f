import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { addressWord } from "@/lib/address-word";
import { capitalise, formatPrice } from "@/lib/format";
import {
  brandsQuery,
  categoriesQuery,
  colorsQuery,
  type NamedRow,
  outfitStylesQuery,
} from "@/lib/vocabulary";
import {
  countFilters,
  type DiscoveryChange,
  type DiscoveryParams,
  type ListFilter,
  listFilters,
} from "./discovery-params";
import type { FilterFieldsProps } from "./filter-fields";

interface Chosen {
  key: string;
  label: string;
  without: DiscoveryChange;
}

/** The filters in effect, each with a button that removes it. */
export function ChosenFilters({ params, onChange }: FilterFieldsProps) {
  const nameOf = useNames(params);
  if (countFilters(params) === 0) return null;
  const chosen: Chosen[] = params.genders.map((gender) => ({
    key: gender,
    label: capitalise(gender),
    without: (present) => ({ genders: present.genders.filter((other) => other !== gender) }),
  }));
  for (const filter of listFilters) {
    if (filter === "style" && params.tab === "items") continue;
    for (const word of params[filter]) {
      const without = (present: DiscoveryParams) => ({
        [filter]: present[filter].filter((other) => other !== word),
      });
      chosen.push({ key: `${filter}-${word}`, label: nameOf(filter, word), without });
    }
  }
  if (params.minPrice !== null || params.maxPrice !== null) {
    const without = { minPrice: null, maxPrice: null };
    chosen.push({ key: "price", label: priceRange(params), without });
  }
  return (
    <ul aria-label="Chosen filters" className="mt-4 flex flex-wrap items-center gap-2">
      {chosen.map(({ key, label, without }) => (
        <li key={key}>
          <button
            type="button"
            onClick={() => onChange(without)}
            className="inline-flex h-9 items-center gap-2 rounded-full border border-line bg-surface pr-2.5 pl-3.5 text-ink text-small transition-colors hover:border-ink-soft pointer-coarse:h-11"
          >
            <span className="sr-only">Remove filter</span>
            {label}
            <X aria-hidden="true" className="size-3.5 text-ink-soft" />
          </button>
        </li>
      ))}
      {chosen.length > 1 && (
        <li>
          <button
            type="button"
            onClick={() => onChange(noFilters)}
            className="inline-flex h-9 items-center rounded-full px-3 text-ink-soft text-small underline decoration-line-strong underline-offset-4 hover:text-ink pointer-coarse:h-11"
          >
            Clear all
          </button>
        </li>
      )}
    </ul>
  );
}

/** The parameters with every filter off. */
export const noFilters: Partial<DiscoveryParams> = {
  genders: [],
  category: [],
  brand: [],
  style: [],
  color: [],
  minPrice: null,
  maxPrice: null,
};

function priceRange({ minPrice, maxPrice }: DiscoveryParams): string {
  if (minPrice === null) return `Up to ${formatPrice(maxPrice ?? 0)}`;
  if (maxPrice === null) return `From ${formatPrice(minPrice)}`;
  return `${formatPrice(minPrice)} – ${formatPrice(maxPrice)}`;
}

/** Names of the chosen words. Only the vocabularies of chosen filters are read; until then the word itself is shown. */
function useNames(params: DiscoveryParams): (filter: ListFilter, word: string) => string {
  const isChosen = (filter: ListFilter) => params[filter].length > 0;
  const categories = useQuery({ ...categoriesQuery(), enabled: isChosen("category") });
  const brands = useQuery({ ...brandsQuery(), enabled: isChosen("brand") });
  const styles = useQuery({ ...outfitStylesQuery(), enabled: isChosen("style") });
  const colors = useQuery({ ...colorsQuery(), enabled: isChosen("color") });
  const rows: Record<ListFilter, Iterable<NamedRow> | undefined> = {
    category: categories.data,
    brand: brands.data,
    style: [...(styles.data ?? [])].map(([id, name]) => ({ id, name })),
    color: colors.data?.values(),
  };
  return (filter, word) => {
    for (const { id, name } of rows[filter] ?? []) {
      if (id === word || addressWord(name) === word) return name;
    }
    return capitalise(word.replaceAll("-", " "));
  };
}
