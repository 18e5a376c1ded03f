import { queryOptions } from "@tanstack/react-query";
import { itemKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Item, itemColumns } from "./item";

const maxResults = 12;

/** Other items of the same category, those of the same subcategory first, then the newest. Empty without a category. */
export function similarItemsQuery(item: Pick<Item, "id" | "category" | "subcategory">) {
  return queryOptions({
    queryKey: itemKeys.similar(item.id),
    queryFn: async ({ signal }): Promise<Item[]> => {
      if (item.category === null) return [];
      const items = rowsOf(
        await supabase
          .from("items")
          .select(itemColumns)
          .eq("category", item.category.id)
          .neq("id", item.id)
          .order("created_at", { ascending: false })
          .order("id")
          .limit(3 * maxResults)
          .abortSignal(signal),
      );
      const isClose = (other: Item) => other.subcategory?.id === item.subcategory?.id;
      return [...items.filter(isClose), ...items.filter((other) => !isClose(other))].slice(
        0,
        maxResults,
      );
    },
  });
}
