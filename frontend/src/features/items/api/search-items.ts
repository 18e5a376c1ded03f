import { type CatalogueSearch, searchArguments } from "@/lib/catalogue-search";
import { pagedQuery } from "@/lib/paged-query";
import { itemKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { itemColumns } from "./item";

/** Matching items, newest first; with a term, matches by name come before the others. */
export function itemSearchQuery(search: CatalogueSearch) {
  return pagedQuery({
    queryKey: itemKeys.list(search),
    keepsPrevious: true,
    readPage: async ({ from, to, signal }) =>
      rowsOf(
        await supabase
          .rpc("search_items", {
            ...searchArguments(search),
            page_offset: from,
            max_results: to - from + 1,
          })
          .select(itemColumns)
          .abortSignal(signal),
      ),
  });
}
