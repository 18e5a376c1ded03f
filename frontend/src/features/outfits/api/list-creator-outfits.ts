import { infiniteQueryOptions } from "@tanstack/react-query";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { joinPages, type OutfitPage, outfitColumns, outfitPage, outfitPageSize } from "./outfit";

/** Who is asking: creators see their submissions of every status, everybody else the approved ones. */
export type CreatorView = "everything" | "approved";

/** A creator's outfits, newest first. */
export function creatorOutfitsQuery(userId: string, view: CreatorView) {
  return infiniteQueryOptions({
    queryKey: ["outfits", "creator", userId, view],
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }): Promise<OutfitPage> => {
      let query = supabase.from("combines").select(outfitColumns).eq("user_id", userId);
      if (view === "approved") query = query.eq("status", "approved");
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
  });
}
