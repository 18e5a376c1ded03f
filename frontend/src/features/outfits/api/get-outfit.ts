import { queryOptions } from "@tanstack/react-query";
import { isUuid } from "@/lib/patterns";
import { outfitKeys } from "@/lib/query-keys";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Outfit, outfitColumns } from "./outfit";

/** Reads an outfit by its slug or id; null when there is none that the caller may see. */
export function outfitQuery(slugOrId: string) {
  return queryOptions({
    queryKey: outfitKeys.detail(slugOrId),
    queryFn: async ({ signal }): Promise<Outfit | null> => {
      const isId = isUuid(slugOrId);
      const outfit = resultOf(
        await supabase
          .from("combines")
          .select(outfitColumns)
          .eq(isId ? "id" : "slug", slugOrId)
          .abortSignal(signal)
          .maybeSingle(),
      );
      if (outfit !== null || !isId) return outfit;
      // An outfit that is in no list has a link of its own.
      return resultOf(
        await supabase
          .rpc("unlisted_outfit", { link: slugOrId })
          .select(outfitColumns)
          .abortSignal(signal)
          .maybeSingle(),
      );
    },
  });
}
