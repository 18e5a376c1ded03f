import { newestFirst, pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { outfitColumns } from "./outfit";

/** Creators see their submissions of every status, everybody else only approved outfits. */
export type CreatorView = "everything" | "approved";

/** A creator's outfits, newest first. */
export function creatorOutfitsQuery(userId: string, view: CreatorView) {
  return pagedQuery({
    queryKey: outfitKeys.byCreator(userId, view),
    readPage: async (page) => {
      let outfits = supabase.from("combines").select(outfitColumns).eq("user_id", userId);
      if (view === "approved") outfits = outfits.eq("status", "approved");
      return rowsOf(await newestFirst(outfits, page));
    },
  });
}
