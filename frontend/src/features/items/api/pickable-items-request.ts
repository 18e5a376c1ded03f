// The request for the items of the wizard, for the app and for the script in index.html that sends the first one early.

import { type CatalogueSearch, searchArguments } from "@/lib/catalogue-search";
import { servicesUrl } from "@/lib/services";

export const pickableColumns =
  "id, name, image, image_color, price, gender, brand:brands(name), category:categories(name), subcategory:subcategories(name)";

/** The arguments of `search_items` for the rows `from` to `to`. */
export function pickableArguments(search: CatalogueSearch, from: number, to: number) {
  return { ...searchArguments(search), page_offset: from, max_results: to - from + 1 };
}

/** The address of the request, exactly as supabase-js writes it. */
export function pickableItemsUrl(): string {
  const url = new URL(`${servicesUrl}/rest/v1/rpc/search_items`);
  url.searchParams.set("select", pickableColumns.replaceAll(" ", ""));
  return url.href;
}
