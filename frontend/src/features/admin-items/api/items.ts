import { queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { listOf, type ReadList } from "@/lib/admin-list";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import { anyContains, deleteRow } from "@/lib/admin-rows";
import type { Gender } from "@/lib/database";
import { genders } from "@/lib/genders";
import { isUuid } from "@/lib/patterns";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

export interface AdminItem {
  id: string;
  version: number;
  name: string;
  slug: string;
  created_at: string;
  product_id: number | null;
  price: number;
  description: string | null;
  meta_description: string | null;
  image: string | null;
  brand_id: string;
  category_id: string | null;
  subcategory_id: string | null;
  gender: Gender;
  source_url: string | null;
  colors: string[];
  brand: { name: string };
  category: { name: string } | null;
  subcategory: { name: string } | null;
}

const columns =
  "id, version, name, slug, created_at, product_id, price, description, meta_description, image, brand_id, category_id:category, subcategory_id, gender, source_url, colors, brand:brands(name), category:categories(name), subcategory:subcategories(name)";

/** What an item may lack. */
export const lacks = ["picture", "category", "colors"] as const;

/** In how many outfits an item is. */
export function itemUseQuery(itemId: string) {
  return queryOptions({
    queryKey: [...adminKey, "item-use", itemId],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const response = await supabase
        .from("combines")
        .select("id", { count: "exact" })
        .contains("item_ids", [itemId])
        .limit(1)
        .abortSignal(signal);
      rowsOf(response);
      return response.count ?? 0;
    },
  });
}

const sortable = ["name", "price", "created_at"];

/** Items whose name or retailer's number contains the term. */
export const readItems: ReadList<AdminItem> = async (request, signal) => {
  const { term, filters, sort, ascending, from, to, id } = request;
  let query = supabase.from("items").select(columns, { count: "exact" });
  if (term !== "") query = query.or(anyContains(["name", "product_number"], term));
  const { brand = "", category = "", without = "" } = filters;
  const gender = genders.find((one) => one === filters.gender);
  if (gender !== undefined) query = query.eq("gender", gender);
  if (without === "picture") query = query.is("image", null);
  if (without === "category") query = query.is("category", null);
  if (without === "colors") query = query.filter("colors", "eq", "{}");
  if (isUuid(brand)) query = query.eq("brand_id", brand);
  if (id !== undefined) query = query.eq("id", id);
  if (isUuid(category)) query = query.eq("category", category);
  return listOf(
    await query
      .order(sortable.includes(sort) ? sort : "created_at", { ascending })
      .order("id")
      .range(from, to)
      .abortSignal(signal),
  );
};

async function deleteItem(item: AdminItem): Promise<void> {
  await deleteRow("items", item.id);
  removeUnusedPictures([item.image]);
}

export function useDeleteItem() {
  return useAdminChange({
    change: deleteItem,
    success: "Item deleted",
    failure: "Delete failed",
    failureText: () => "Could not delete the item. Please try again later.",
  });
}
