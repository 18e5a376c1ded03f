import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Search } from "lucide-react";
import type { ReactNode } from "react";
import { ItemLinkCard } from "@/app/shell/item-link-card";
import { NewestBelow } from "@/app/shell/newest-below";
import { NextPage, type PagedListState } from "@/app/shell/next-page";
import { OutfitLinkCard } from "@/app/shell/outfit-link-card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorNotice } from "@/components/ui/error-notice";
import { itemSearchQuery } from "@/features/items/api/search-items";
import { ItemGrid, ItemGridSkeleton } from "@/features/items/components/item-grid";
import { outfitSearchQuery } from "@/features/outfits/api/search-outfits";
import { outfitDetailCardShape } from "@/features/outfits/components/outfit-card-shape";
import { OutfitGrid, OutfitGridSkeleton } from "@/features/outfits/components/outfit-grid";
import { noFilters } from "./chosen-filters";
import { countFilters, type DiscoveryTab } from "./discovery-params";
import type { FilterFieldsProps } from "./filter-fields";
import { buildSearch, formatCount, useFoundCounts } from "./found-counts";

/** Outfits that match the search, in cards with gender and description. */
export function FoundOutfits({ params, onChange }: FilterFieldsProps) {
  const list = useInfiniteQuery(
    outfitSearchQuery({ ...buildSearch(params), styles: params.style }),
  );
  return (
    <Results
      list={list}
      noun="outfits"
      params={params}
      onChange={onChange}
      skeleton={<OutfitGridSkeleton count={8} shape={outfitDetailCardShape} />}
    >
      {(outfits) => (
        <OutfitGrid
          outfits={outfits}
          shape={outfitDetailCardShape}
          label="Found outfits"
          busy={list.isPlaceholderData}
        >
          {(outfit, _index, eager) => <OutfitLinkCard outfit={outfit} eager={eager} details />}
        </OutfitGrid>
      )}
    </Results>
  );
}

/** Items that match the search. */
export function FoundItems({ params, onChange }: FilterFieldsProps) {
  const list = useInfiniteQuery(itemSearchQuery(buildSearch(params)));
  return (
    <Results
      list={list}
      noun="items"
      params={params}
      onChange={onChange}
      skeleton={<ItemGridSkeleton count={12} />}
    >
      {(items) => (
        <ItemGrid items={items} label="Found items" busy={list.isPlaceholderData}>
          {(item, _index, eager) => <ItemLinkCard item={item} eager={eager} />}
        </ItemGrid>
      )}
    </Results>
  );
}

interface ResultsProps<Row> extends FilterFieldsProps {
  list: PagedListState & {
    data: Row[] | undefined;
    isPending: boolean;
    error: unknown;
    refetch: () => unknown;
  };
  noun: DiscoveryTab;
  skeleton: ReactNode;
  children: (rows: Row[]) => ReactNode;
}

/** A list of results in its four states. */
function Results<Row>({ list, noun, params, onChange, skeleton, children }: ResultsProps<Row>) {
  if (list.isPending) return skeleton;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title={`The ${noun} could not be loaded.`}
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  if (list.data.length === 0) return <NothingFound {...{ noun, params, onChange }} />;
  return (
    <>
      {children(list.data)}
      <NextPage list={list} noun={noun} />
    </>
  );
}

/** Says what the other tab has, and leads there; otherwise the way back is the action. Below it, something to look at. */
function NothingFound({ noun, params, onChange }: FilterFieldsProps & { noun: DiscoveryTab }) {
  const counts = useFoundCounts(params);
  const isFiltered = countFilters(params) > 0;
  const other: DiscoveryTab = noun === "outfits" ? "items" : "outfits";
  const elsewhere = counts?.[other] ?? 0;
  const shown = elsewhere === 1 ? `1 ${other.slice(0, -1)}` : `${formatCount(elsewhere)} ${other}`;
  return (
    <>
      <EmptyState
        followed
        glyph={<Search strokeWidth={1.4} />}
        title={
          params.query === ""
            ? `No ${noun} match these filters.`
            : `No ${noun} found for "${params.query}"${isFiltered ? " with these filters" : ""}.`
        }
        action={
          <div className="flex flex-wrap justify-center gap-3">
            {elsewhere > 0 && (
              <Button variant="primary" onClick={() => onChange({ tab: other })}>
                Show {shown}
              </Button>
            )}
            <Button
              variant={elsewhere > 0 ? "secondary" : "primary"}
              onClick={() => onChange(isFiltered ? noFilters : { query: "" })}
            >
              {isFiltered ? "Clear all filters" : "Clear search"}
            </Button>
          </div>
        }
      />
      <NewestBelow />
    </>
  );
}
