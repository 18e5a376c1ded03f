import { queryOptions } from "@tanstack/react-query";
import { outfitKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** The newest approved outfits that have a picture; picture and name only. */
export function latestOutfitsQuery(count: number) {
  return queryOptions({
    queryKey: outfitKeys.latest(count),
    queryFn: async ({ signal }) =>
      rowsOf(
        await supabase
          .from("combines")
          .select("id, name, main_image, image_alt")
          .eq("status", "approved")
          .not("main_image", "is", null)
          .order("created_at", { ascending: false })
          .order("id")
          .limit(count)
          .abortSignal(signal),
      ),
  });
}
