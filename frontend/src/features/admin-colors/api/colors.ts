import * as z from "zod/mini";
import { listOf, type ReadList } from "@/lib/admin-list";
import { deleteRow, pageByName } from "@/lib/admin-rows";
import { nameSchema, textSchema } from "@/lib/admin-schemas";
import { expandHexColor } from "@/lib/hex-color";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import { useSaveRow } from "@/lib/use-save-row";

export interface Color {
  id: string;
  version: number;
  name: string;
  hex_code: string;
  description: string | null;
  meta_description: string | null;
}

export const colorSchema = z.object({
  name: nameSchema("Name must be at least 2 characters"),
  hex_code: z
    .string()
    .check(
      z.trim(),
      z.regex(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i, "Invalid hex color code (e.g. #FF0000)"),
      z.overwrite(expandHexColor),
    ),
  description: textSchema(10_000),
  meta_description: textSchema(1000),
});

export const readColors: ReadList<Color> = async (request, signal) =>
  listOf(
    await pageByName(
      supabase
        .from("colors")
        .select("id, version, name, hex_code, description, meta_description", { count: "exact" }),
      request,
      ["name", "hex_code"],
      signal,
    ),
  );

export function useSaveColor() {
  return useSaveRow({
    table: "colors",
    noun: "Color",
  });
}

export function useDeleteColor() {
  return useAdminChange({
    change: ({ id }: Color) => deleteRow("colors", id),
    success: "Color deleted",
    failureText: () => "Failed to delete the color. Please try again.",
  });
}
