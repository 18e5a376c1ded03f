import { useRowForm } from "@/components/admin/use-row-form";
import type { AdminOutfit } from "../api/outfits";
import { type OutfitValues, outfitSchema, toOutfitValues, useSaveOutfit } from "../api/save-outfit";

/** State of an outfit's form: its values, saving them, and what becomes of uploaded pictures. */
export function useOutfitForm(outfit: AdminOutfit | null, onClose: () => void) {
  const save = useSaveOutfit();
  return useRowForm<OutfitValues, AdminOutfit>({
    row: outfit,
    schema: outfitSchema,
    toValues: toOutfitValues,
    pictures: ["main_image"],
    save: save.mutateAsync,
    onClose,
  });
}
