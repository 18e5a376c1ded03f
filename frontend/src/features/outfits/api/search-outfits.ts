import { type CatalogueSearch, searchArguments } from "@/lib/catalogue-search";
import { pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { outfitColumns } from "./outfit";

export interface OutfitSearch extends CatalogueSearch {
  styles: readonly string[];
}

/** Matching outfits, newest first; with a term, matches by name come before the others. */
export function outfitSearchQuery(search: OutfitSearch) {
  return pagedQuery({
    queryKey: outfitKeys.list(search),
    keepsPrevious: true,
    readPage: async ({ from, to, signal }) =>
      rowsOf(
        await supabase
          .rpc("search_outfits", {
            ...searchArguments(search),
            ...(search.styles.length > 0 && { styles: [...search.styles] }),
            page_offset: from,
            max_results: to - from + 1,
          })
          .select(outfitColumns)
          .abortSignal(signal),
      ),
  });
}
