import { queryOptions, useQuery } from "@tanstack/react-query";
import { type CatalogueSearch, searchArguments } from "@/lib/catalogue-search";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import {
  countFilters,
  type DiscoveryParams,
  type DiscoveryTab,
  discoveryTabs,
} from "./discovery-params";

export function buildSearch(params: DiscoveryParams): CatalogueSearch {
  return {
    term: params.query,
    genders: params.genders,
    categories: params.category,
    brands: params.brand,
    colors: params.color,
    minPrice: params.minPrice,
    maxPrice: params.maxPrice,
  };
}

export type FoundCounts = Record<DiscoveryTab, number>;

/** How many outfits and items a search finds. The database counts up to 100. */
function foundCountsQuery(search: CatalogueSearch & { styles: readonly string[] }) {
  return queryOptions({
    queryKey: ["found", search],
    queryFn: async ({ signal }): Promise<FoundCounts | null> => {
      const { styles } = search;
      const args = {
        ...searchArguments(search),
        ...(styles.length > 0 && { styles: [...styles] }),
      };
      const [counts] = rowsOf(await supabase.rpc("count_found", args).abortSignal(signal));
      return counts ?? null;
    },
  });
}

/** The counts of both tabs while something is searched or filtered; undefined before they are known. */
export function useFoundCounts(params: DiscoveryParams): FoundCounts | undefined {
  const isNarrowed =
    params.query !== "" || discoveryTabs.some((tab) => countFilters({ ...params, tab }) > 0);
  const search = { ...buildSearch(params), styles: params.style };
  const { data } = useQuery({ ...foundCountsQuery(search), enabled: isNarrowed });
  return data ?? undefined;
}

/** A count as it is shown: it says no more than the database has counted. */
export const formatCount = (count: number): string => (count >= 100 ? "99+" : `${count}`);
