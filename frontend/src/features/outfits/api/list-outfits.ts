import { infiniteQueryOptions } from "@tanstack/react-query";
import type { Gender } from "@/lib/database.types";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import {
  containsPattern,
  joinPages,
  type OutfitPage,
  outfitColumns,
  outfitPage,
  outfitPageSize,
} from "./outfit";

export interface OutfitFilter {
  /** Part of the name; empty for all. */
  search: string;
  /** Any of these; empty for all. */
  genders: readonly Gender[];
}

/** Approved outfits, newest first. */
export function outfitListQuery(filter: OutfitFilter) {
  return infiniteQueryOptions({
    queryKey: ["outfits", "list", filter],
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }): Promise<OutfitPage> => {
      let query = supabase.from("combines").select(outfitColumns).eq("status", "approved");
      if (filter.search !== "") query = query.ilike("name", containsPattern(filter.search));
      if (filter.genders.length > 0) query = query.in("gender", [...filter.genders]);
      const rows = rowsOf(
        await query
          .order("created_at", { ascending: false })
          .order("id")
          .range(pageParam, pageParam + outfitPageSize - 1)
          .abortSignal(signal),
      );
      return outfitPage(rows, pageParam);
    },
    getNextPageParam: (last) => last.nextOffset,
    select: (data) => joinPages(data.pages),
    // While the next letters are searched for, the last results stay.
    placeholderData: (previous) => (filter.search === "" ? undefined : previous),
  });
}
