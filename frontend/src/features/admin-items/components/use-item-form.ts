import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { useFormPictures } from "@/components/admin/use-form-pictures";
import type { AdminItem } from "../api/items";
import { type ItemValues, itemSchema, toItemValues, useSaveItem } from "../api/save-item";

/** State of an item's form: its values, saving them, and what becomes of uploaded pictures. */
export function useItemForm(item: AdminItem | null, onClose: () => void) {
  const save = useSaveItem();
  const pictures = useFormPictures([item?.image]);
  const form = useForm<ItemValues>({
    resolver: zodResolver(itemSchema),
    mode: "onTouched",
    defaultValues: toItemValues(item),
  });

  const submit = form.handleSubmit(async (values) => {
    try {
      await save.mutateAsync({ id: item?.id ?? null, values, before: item && toItemValues(item) });
    } catch {
      // The mutation has shown the reason in a toast; the form stays open.
      return;
    }
    pictures.keepOnly([values.image]);
    onClose();
  });

  function cancel() {
    pictures.discardUploads();
    onClose();
  }

  return { form, submit, cancel, onUploaded: pictures.rememberUpload };
}
