import * as z from "zod/mini";
import { listOf, type ReadList } from "@/lib/admin-list";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import {
  changedRow,
  deleteRow,
  pageByName,
  type RowChange,
  saveFailureText,
  undoEdit,
} from "@/lib/admin-rows";
import { nameSchema, pictureSchema, textSchema } from "@/lib/admin-schemas";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

/** The two vocabularies with the same columns: styles of items, and styles of outfits. */
export type StyleTable = "styles" | "outfit_styles";

/** How messages begin that are about a row of each. */
const nouns = { styles: "Style", outfit_styles: "Outfit style" } as const;

export interface Style {
  id: string;
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

const columns = "id, name, description, meta_description, image";

export const readStyles: Record<StyleTable, ReadList<Style>> = {
  styles: async (request, signal) =>
    listOf(
      await pageByName(
        supabase.from("styles").select(columns, { count: "exact" }),
        request,
        ["name"],
        signal,
      ),
    ),
  outfit_styles: async (request, signal) =>
    listOf(
      await pageByName(
        supabase.from("outfit_styles").select(columns, { count: "exact" }),
        request,
        ["name"],
        signal,
      ),
    ),
};

type StyleChange = RowChange<z.infer<typeof styleSchema>>;

async function saveStyle(table: StyleTable, { id, values }: StyleChange) {
  const rows = supabase.from(table);
  changedRow(
    id === null
      ? await rows.insert(values).select("id")
      : await rows.update(values).eq("id", id).select("id"),
  );
  return `${nouns[table]} ${id === null ? "created" : "updated"}`;
}

export function useSaveStyle(table: StyleTable) {
  const save = (change: StyleChange) => saveStyle(table, change);
  return useAdminChange({
    change: save,
    success: (title) => title,
    undo: undoEdit(save, "image"),
    failureText: saveFailureText(nouns[table].toLowerCase()),
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
