import * as z from "zod/mini";
import { listOf, type ReadList } from "@/lib/admin-list";
import { deleteRow, pageByName } from "@/lib/admin-rows";
import { nameSchema } from "@/lib/admin-schemas";
import { isUuid } from "@/lib/patterns";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import { useSaveRow } from "@/lib/use-save-row";

export interface Subcategory {
  id: string;
  version: number;
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
    .select("id, version, name, category_id, category:categories!inner(name)", { count: "exact" });
  const { category } = request.filters;
  const query = category !== undefined && isUuid(category) ? all.eq("category_id", category) : all;
  return listOf(await pageByName(query, request, ["name"], signal));
};

export function useSaveSubcategory() {
  return useSaveRow({
    table: "subcategories",
    noun: "Subcategory",
    unique: "subcategory of this category",
  });
}

export function useDeleteSubcategory() {
  return useAdminChange({
    change: ({ id }: Subcategory) => deleteRow("subcategories", id),
    success: "Subcategory deleted",
  });
}
