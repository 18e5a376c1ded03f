import * as z from "zod/mini";
import { type ListResult, listOf, type ReadList } from "@/lib/admin-list";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import { deleteRow, pageByName } from "@/lib/admin-rows";
import { nameSchema, pictureSchema, textSchema } from "@/lib/admin-schemas";
import { hasCode, messageOf, rowsOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import { useSaveRow } from "@/lib/use-save-row";

export interface Brand {
  id: string;
  version: number;
  name: string;
  logo: string | null;
  description: string | null;
  meta_description: string | null;
  created_at: string;
}

export const brandSchema = z.object({
  name: nameSchema("Brand name must be at least 2 characters"),
  logo: pictureSchema,
  description: textSchema(10_000),
  meta_description: textSchema(1000),
});

export const readBrands: ReadList<Brand> = async (request, signal): Promise<ListResult<Brand>> => {
  const query = supabase
    .from("brands")
    .select("id, version, name, logo, description, meta_description, created_at", {
      count: "exact",
    });
  return listOf(await pageByName(query, request, ["name", "created_at"], signal));
};

export function useSaveBrand() {
  return useSaveRow({
    table: "brands",
    noun: "Brand",
    picture: "logo",
  });
}

/** PostgreSQL's SQLSTATE for a row that others still refer to. */
const foreignKeyViolation = "23503";

async function deleteBrand(brand: Brand): Promise<void> {
  try {
    await deleteRow("brands", brand.id);
  } catch (error) {
    if (!hasCode(error, foreignKeyViolation)) throw error;
    const items = await supabase
      .from("items")
      .select("id", { count: "exact" })
      .eq("brand_id", brand.id)
      .limit(1);
    rowsOf(items);
    const count = items.count ?? 0;
    const subject = count === 1 ? "1 item is" : `${count} items are`;
    throw new ServiceError(
      `${subject} of this brand. Move ${count === 1 ? "it" : "them"} first.`,
      foreignKeyViolation,
      409,
      error,
    );
  }
  removeUnusedPictures([brand.logo]);
}

export function useDeleteBrand() {
  return useAdminChange({
    change: deleteBrand,
    success: "Brand deleted",
    failureText: (error) => messageOf(error, "Please try again."),
  });
}
