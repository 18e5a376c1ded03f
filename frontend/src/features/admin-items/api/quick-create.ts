import { queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { changedRow } from "@/lib/admin-rows";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

/** Subcategories of one category, by name. */
export function subcategoriesOfQuery(categoryId: string) {
  return queryOptions({
    queryKey: [...adminKey, "subcategories-of", categoryId],
    queryFn: async ({ signal }) =>
      rowsOf(
        await supabase
          .from("subcategories")
          .select("id, name")
          .eq("category_id", categoryId)
          .order("name")
          .abortSignal(signal),
      ),
  });
}

/** Rows that the form of an item can create on the way. Each resolves with the id of the new row. */
export function useCreateBrand() {
  return useAdminChange({
    change: async (name: string) =>
      changedRow(await supabase.from("brands").insert({ name }).select("id")).id,
    success: "Brand created",
    failure: "Error creating brand",
    failureText: () => "Please try again later",
  });
}

export function useCreateSubcategory() {
  return useAdminChange({
    change: async (row: { name: string; category_id: string }) =>
      changedRow(await supabase.from("subcategories").insert(row).select("id")).id,
    success: "Subcategory created",
    failure: "Error creating subcategory",
    failureText: () => "Please try again later",
  });
}

export function useCreateColor() {
  return useAdminChange({
    change: async (row: { name: string; hex_code: string }) =>
      changedRow(await supabase.from("colors").insert(row).select("id")).id,
    success: "Color created",
  });
}
