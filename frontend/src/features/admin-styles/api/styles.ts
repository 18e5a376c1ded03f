import * as z from "zod/mini";
import { listOf, type ReadList } from "@/lib/admin-list";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import { deleteRow, pageByName } from "@/lib/admin-rows";
import { nameSchema, pictureSchema, textSchema } from "@/lib/admin-schemas";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import { useSaveRow } from "@/lib/use-save-row";

/** The two vocabularies with the same columns: styles of items, and styles of outfits. */
export type StyleTable = "styles" | "outfit_styles";

/** How messages begin that are about a row of each. */
const nouns = { styles: "Style", outfit_styles: "Outfit style" } as const;

export interface Style {
  id: string;
  version: number;
  name: string;
  description: string | null;
  meta_description: string | null;
  image: string | null;
}

export const styleSchema = z.object({
  name: nameSchema("Name must be at least 2 characters"),
  image: pictureSchema,
  description: textSchema(10_000),
  meta_description: textSchema(1000),
});

const columns = "id, version, name, description, meta_description, image";

function readStylesOf(table: StyleTable): ReadList<Style> {
  return async (request, signal) => {
    const query = supabase.from(table).select(columns, { count: "exact" });
    return listOf(await pageByName(query, request, ["name"], signal));
  };
}

export const readStyles: Record<StyleTable, ReadList<Style>> = {
  styles: readStylesOf("styles"),
  outfit_styles: readStylesOf("outfit_styles"),
};

export function useSaveStyle(table: StyleTable) {
  return useSaveRow({
    table,
    noun: nouns[table],
    picture: "image",
  });
}

export function useDeleteStyle(table: StyleTable) {
  return useAdminChange({
    change: async (style: Style) => {
      await deleteRow(table, style.id);
      removeUnusedPictures([style.image]);
    },
    success: `${nouns[table]} deleted`,
    failureText: () => `Failed to delete the ${nouns[table].toLowerCase()}. Please try again.`,
  });
}
