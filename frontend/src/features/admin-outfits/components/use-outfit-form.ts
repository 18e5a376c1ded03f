import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { useFormPictures } from "@/components/admin/use-form-pictures";
import { rowChange } from "@/lib/admin-rows";
import { calmResolver } from "@/lib/calm-resolver";
import { useEditBase } from "@/lib/use-edit-base";
import type { AdminOutfit } from "../api/outfits";
import { type OutfitValues, outfitSchema, toOutfitValues, useSaveOutfit } from "../api/save-outfit";

/** State of an outfit's form: its values, saving them, and what becomes of uploaded pictures. */
export function useOutfitForm(outfit: AdminOutfit | null, onClose: () => void) {
  const save = useSaveOutfit();
  const base = useEditBase(outfit && toOutfitValues(outfit));
  const pictures = useFormPictures([outfit?.main_image]);
  const form = useForm<OutfitValues>({
    resolver: calmResolver(zodResolver(outfitSchema)),
    mode: "onTouched",
    defaultValues: toOutfitValues(outfit),
  });

  const submit = form.handleSubmit(async (values) => {
    try {
      await save.mutateAsync(rowChange(outfit, values, base.read()));
    } catch (error) {
      base.learn(error);
      // The mutation has shown the reason in a toast; the form stays open.
      return;
    }
    pictures.keepOnly([values.main_image]);
    onClose();
  });

  function cancel() {
    pictures.discardUploads();
    onClose();
  }

  return { form, submit, cancel, onUploaded: pictures.rememberUpload };
}
