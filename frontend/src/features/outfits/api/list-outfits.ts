import type { Gender } from "@/lib/database";
import { newestFirst, type PageRequest, pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { outfitColumns } from "./outfit";

export interface OutfitFilter {
  /** Part of the name, or of the name of a brand, color or style; empty for all. */
  search: string;
  /** Any of these; empty for all. */
  genders: readonly Gender[];
}

/** Approved outfits, newest first; in a search, matches by name come before the others. */
export function outfitListQuery(filter: OutfitFilter) {
  return pagedQuery({
    queryKey: outfitKeys.list(filter),
    keepsPrevious: filter.search !== "",
    readPage: (page) => (filter.search === "" ? readNewest(filter, page) : readFound(filter, page)),
  });
}

async function readNewest({ genders }: OutfitFilter, page: PageRequest) {
  let outfits = supabase.from("combines").select(outfitColumns).eq("status", "approved");
  if (genders.length > 0) outfits = outfits.in("gender", [...genders]);
  return rowsOf(await newestFirst(outfits, page));
}

async function readFound({ search, genders }: OutfitFilter, { from, to, signal }: PageRequest) {
  return rowsOf(
    await supabase
      .rpc("search_outfits", {
        term: search,
        ...(genders.length > 0 && { genders: [...genders] }),
        page_offset: from,
        max_results: to - from + 1,
      })
      .select(outfitColumns)
      .abortSignal(signal),
  );
}
