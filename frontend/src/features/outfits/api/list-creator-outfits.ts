import { newestFirst, pagedQuery } from "@/lib/paged-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Outfit, outfitColumns } from "./outfit";

/** Creators see their submissions of every status, all others only approved outfits. */
export type CreatorView = "everything" | "approved";

/** A creator's approved outfits, or all of the user's own, newest first. */
export function creatorOutfitsQuery(userId: string, view: CreatorView) {
  return pagedQuery<Outfit>({
    queryKey: outfitKeys.byCreator(userId, view),
    readPage: async (page) => {
      let outfits = supabase.from("combines").select(outfitColumns).eq("user_id", userId);
      if (view === "approved") outfits = outfits.eq("status", "approved");
      return rowsOf(await newestFirst(outfits, page));
    },
  });
}

/** An outfit of the user, with the members that only its creator and administrators may read. */
export interface OwnOutfit extends Outfit {
  /** Why it was rejected, if the administrator wrote a reason. */
  rejection_reason: string | null;
}

/** The signed-in user's outfits of every status, newest first. */
export function ownOutfitsQuery(userId: string) {
  return pagedQuery<OwnOutfit>({
    queryKey: [...outfitKeys.byCreator(userId, "everything"), "own"],
    readPage: async (page) =>
      rowsOf(
        await newestFirst(
          supabase
            .from("combines")
            .select(`${outfitColumns}, rejection_reason`)
            .eq("user_id", userId),
          page,
        ),
      ),
  });
}
