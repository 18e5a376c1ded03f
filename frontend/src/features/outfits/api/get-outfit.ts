import { queryOptions } from "@tanstack/react-query";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Outfit, outfitColumns } from "./outfit";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** One outfit by its slug or its id; null when there is none, or none that one may see. */
export function outfitQuery(slugOrId: string) {
  return queryOptions({
    queryKey: ["outfits", "one", slugOrId],
    queryFn: async ({ signal }): Promise<Outfit | null> => {
      const column = uuid.test(slugOrId) ? "id" : "slug";
      return resultOf(
        await supabase
          .from("combines")
          .select(outfitColumns)
          .eq(column, slugOrId)
          .abortSignal(signal)
          .maybeSingle(),
      );
    },
  });
}
