import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type PickableItem, pickableItemsQuery } from "@/features/items/api/list-pickable-items";
import { ItemPicker } from "@/features/items/components/item-picker";
import { type Draft, selectableGenders } from "@/features/submissions/api/draft";
import { addressWord } from "@/lib/address-word";
import { unfilteredSearch } from "@/lib/catalogue-search";
import { capitalise } from "@/lib/format";
import { brandsQuery, categoriesQuery, colorsQuery, type NamedRow } from "@/lib/vocabulary";
import { useChangeFilters, type WizardParams } from "./wizard-params";

interface NoItemsFoundProps {
  params: WizardParams;
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  onToggle: (item: PickableItem, chosen: boolean) => void;
}

/** In place of items that were not found: what is looked for, each part to be taken back, and the newest items to go on with. */
export function NoItemsFound({ params, draft, onChange, onToggle }: NoItemsFoundProps) {
  const genders = selectableGenders(draft.gender);
  const list = useInfiniteQuery(pickableItemsQuery({ ...unfilteredSearch, genders }));
  const criteria = useCriteria({ params, draft, onChange });
  const show = useChangeFilters();
  const newest = list.data ?? [];

  function clear() {
    show({ query: "", category: "", brand: "", color: "" });
    // Everything that was chosen still fits an outfit for all.
    if (draft.gender !== "all") onChange({ gender: "all" });
  }

  const header = (
    <div className="mb-3 pt-3 md:px-2">
      <p className="text-balance font-serif text-heading">No items found matching your criteria.</p>
      {criteria.length > 0 && <Criteria criteria={criteria} onClear={clear} />}
      {(list.isPending || newest.length > 0) && (
        <p aria-hidden="true" className="mt-6 border-line border-t pt-4 font-medium text-small">
          Newest items
        </p>
      )}
    </div>
  );
  return (
    // The same frame while they are loaded, so that a button in it stays between press and release.
    <ItemPicker
      items={newest}
      list={list}
      label="Newest items"
      busy={list.isPending}
      chosenIds={new Set(draft.items.map(({ id }) => id))}
      onToggle={onToggle}
      header={header}
    />
  );
}

interface Criterion {
  key: string;
  label: string;
  takeBack: () => void;
}

interface CriteriaProps {
  criteria: readonly Criterion[];
  onClear: () => void;
}

function Criteria({ criteria, onClear }: CriteriaProps) {
  return (
    <ul aria-label="What you look for" className="mt-4 flex flex-wrap items-center gap-2">
      {criteria.map(({ key, label, takeBack }) => (
        <li key={key} className="max-w-full">
          <button
            type="button"
            aria-label={`Look without ${label}`}
            onClick={takeBack}
            className="inline-flex h-9 max-w-full items-center gap-2 rounded-full border border-line-strong/60 pr-2.5 pl-3.5 text-ink text-small transition-colors hover:border-ink pointer-coarse:h-11"
          >
            <span className="truncate">{label}</span>
            <X aria-hidden="true" className="size-3.5 shrink-0 text-ink-soft" />
          </button>
        </li>
      ))}
      {criteria.length > 1 && (
        <li>
          <button
            type="button"
            onClick={onClear}
            className="inline-flex h-9 items-center rounded-full px-3 text-ink-soft text-small underline decoration-line-strong underline-offset-4 hover:text-ink pointer-coarse:h-11"
          >
            Clear all
          </button>
        </li>
      )}
    </ul>
  );
}

/** What narrows the items: the search, the filters, and the gender that the outfit is for. */
function useCriteria({
  params,
  draft,
  onChange,
}: Omit<NoItemsFoundProps, "onToggle">): readonly Criterion[] {
  const show = useChangeFilters();
  const { data: categories = [] } = useQuery(categoriesQuery());
  const { data: brands = [] } = useQuery(brandsQuery());
  const { data: colors } = useQuery(colorsQuery());
  const criteria: Criterion[] = [];
  if (params.query !== "") {
    const takeBack = () => show({ query: "" });
    criteria.push({ key: "query", label: `"${params.query}"`, takeBack });
  }
  for (const [filter, rows] of [
    ["category", categories],
    ["brand", brands],
    ["color", [...(colors?.values() ?? [])]],
  ] as const) {
    const word = params[filter];
    if (word === "") continue;
    const takeBack = () => show({ [filter]: "" });
    criteria.push({ key: filter, label: nameOf(rows, word), takeBack });
  }
  if (draft.gender !== "all") {
    const takeBack = () => onChange({ gender: "all" });
    criteria.push({ key: "gender", label: capitalise(draft.gender), takeBack });
  }
  return criteria;
}

/** The name of a filter's word; until the names are known, the word itself. */
function nameOf(rows: readonly NamedRow[], word: string): string {
  const row = rows.find(({ id, name }) => id === word || addressWord(name) === word);
  return row?.name ?? capitalise(word.replaceAll("-", " "));
}
