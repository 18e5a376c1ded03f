import type { CatalogueSearch } from "@/lib/catalogue-search";
import type { Gender } from "@/lib/database";
import { pagedQuery } from "@/lib/paged-query";
import { itemKeys } from "@/lib/query-keys";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { pickableArguments, pickableColumns } from "./pickable-items-request";

/** The members of an item that the picker shows, and those that tell where it lies on the outfit's picture. */
export interface PickableItem {
  id: string;
  name: string;
  image: string | null;
  image_color: string | null;
  price: number;
  gender: Gender;
  brand: { name: string };
  category: { name: string } | null;
  subcategory: { name: string } | null;
}

/** Items to choose from, newest first; with a term, matches by name come before the others. */
export function pickableItemsQuery(search: CatalogueSearch) {
  return pagedQuery<PickableItem>({
    queryKey: itemKeys.list({ ...search, picker: true }),
    keepsPrevious: true,
    readPage: async ({ from, to, signal }) =>
      rowsOf(
        await supabase
          .rpc("search_items", pickableArguments(search, from, to))
          .select(pickableColumns)
          .abortSignal(signal),
      ),
  });
}
