import { queryOptions } from "@tanstack/react-query";
import { isUuid } from "@/lib/patterns";
import { itemKeys } from "@/lib/query-keys";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Item, itemColumns } from "./item";

/** Reads an item by its slug or id; null when there is none. */
export function itemQuery(slugOrId: string) {
  return queryOptions({
    queryKey: itemKeys.detail(slugOrId),
    queryFn: async ({ signal }): Promise<Item | null> =>
      resultOf(
        await supabase
          .from("items")
          .select(itemColumns)
          .eq(isUuid(slugOrId) ? "id" : "slug", slugOrId)
          .abortSignal(signal)
          .maybeSingle(),
      ),
  });
}
