import { queryOptions } from "@tanstack/react-query";
import * as z from "zod/mini";
import { adminKey } from "@/lib/admin-key";
import { listOf, type ReadList } from "@/lib/admin-list";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import { deleteRow, pageByName } from "@/lib/admin-rows";
import { nameSchema, pictureSchema } from "@/lib/admin-schemas";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import { useSaveRow } from "@/lib/use-save-row";

export interface Category {
  id: string;
  version: number;
  name: string;
  icon: string | null;
}

export const categorySchema = z.object({
  name: nameSchema("Name must be at least 2 characters"),
  icon: pictureSchema,
});

export const readCategories: ReadList<Category> = async (request, signal) =>
  listOf(
    await pageByName(
      supabase.from("categories").select("id, version, name, icon", { count: "exact" }),
      request,
      ["name"],
      signal,
    ),
  );

/** How many rows the deletion of a category touches. */
export function categoryUseQuery(categoryId: string) {
  return queryOptions({
    queryKey: [...adminKey, "category-use", categoryId],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const [subcategories, items] = await Promise.all([
        supabase
          .from("subcategories")
          .select("id", { count: "exact" })
          .eq("category_id", categoryId)
          .limit(1)
          .abortSignal(signal),
        supabase
          .from("items")
          .select("id", { count: "exact" })
          .eq("category", categoryId)
          .limit(1)
          .abortSignal(signal),
      ]);
      rowsOf(subcategories);
      rowsOf(items);
      return { subcategories: subcategories.count ?? 0, items: items.count ?? 0 };
    },
  });
}

export function useSaveCategory() {
  return useSaveRow({
    table: "categories",
    noun: "Category",
    picture: "icon",
  });
}

async function deleteCategory(category: Category): Promise<void> {
  await deleteRow("categories", category.id);
  removeUnusedPictures([category.icon]);
}

export function useDeleteCategory() {
  return useAdminChange({ change: deleteCategory, success: "Category deleted" });
}
