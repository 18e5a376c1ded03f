import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { adminListKey, type ListResult } from "@/lib/admin-list";
import { changedRow } from "@/lib/admin-rows";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import type { NamedRow } from "@/lib/vocabulary";

/** Subcategories of one category, by name. */
export function subcategoriesOfQuery(categoryId: string) {
  return queryOptions({
    queryKey: [...adminKey, "subcategories-of", categoryId],
    queryFn: async ({ signal, client }): Promise<NamedRow[]> => {
      const response = await supabase
        .from("subcategories")
        .select("id, name")
        .eq("category_id", categoryId)
        .order("name")
        .abortSignal(signal);
      // When they cannot be read, those that the subcategories' own section has loaded are better than none.
      const loaded = response.error === null ? [] : findLoaded(client, categoryId);
      return loaded.length > 0 ? loaded : rowsOf(response);
    },
  });
}

function findLoaded(client: QueryClient, categoryId: string): NamedRow[] {
  const lists = client.getQueriesData<ListResult<NamedRow & { category_id: string }>>({
    queryKey: adminListKey("subcategories"),
  });
  const rows = lists.flatMap(([, list]) => list?.rows ?? []);
  return rows.filter(({ category_id }) => category_id === categoryId);
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
