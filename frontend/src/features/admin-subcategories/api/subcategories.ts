import * as z from "zod/mini";
import { listOf, type ReadList } from "@/lib/admin-list";
import {
  changedRow,
  deleteRow,
  pageByName,
  type RowChange,
  saveFailureText,
  undoEdit,
} from "@/lib/admin-rows";
import { nameSchema } from "@/lib/admin-schemas";
import { isUuid } from "@/lib/patterns";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

export interface Subcategory {
  id: string;
  name: string;
  category_id: string;
  category: { name: string };
}

export const subcategorySchema = z.object({
  name: nameSchema("Subcategory name must be at least 2 characters"),
  category_id: z.string().check(z.minLength(1, "Please select a category")),
});

export const readSubcategories: ReadList<Subcategory> = async (request, signal) => {
  const all = supabase
    .from("subcategories")
    .select("id, name, category_id, category:categories!inner(name)", { count: "exact" });
  const { category } = request.filters;
  const query = category !== undefined && isUuid(category) ? all.eq("category_id", category) : all;
  return listOf(await pageByName(query, request, ["name"], signal));
};

type SubcategoryChange = RowChange<z.infer<typeof subcategorySchema>>;

async function saveSubcategory({ id, values }: SubcategoryChange) {
  const table = supabase.from("subcategories");
  changedRow(
    id === null
      ? await table.insert(values).select("id")
      : await table.update(values).eq("id", id).select("id"),
  );
  return id === null ? "Subcategory created" : "Subcategory updated";
}

export function useSaveSubcategory() {
  return useAdminChange({
    change: saveSubcategory,
    success: (title) => title,
    undo: undoEdit(saveSubcategory),
    failureText: saveFailureText("subcategory of this category"),
  });
}

export function useDeleteSubcategory() {
  return useAdminChange({
    change: ({ id }: Subcategory) => deleteRow("subcategories", id),
    success: "Subcategory deleted",
  });
}
