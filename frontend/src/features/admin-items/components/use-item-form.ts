import { zodResolver } from "@hookform/resolvers/zod";
import { useForm } from "react-hook-form";
import { useFormPictures } from "@/components/admin/use-form-pictures";
import { rowChange } from "@/lib/admin-rows";
import { calmResolver } from "@/lib/calm-resolver";
import { toast } from "@/lib/toast";
import { useEditBase } from "@/lib/use-edit-base";
import { type ImportedProduct, isInDollars } from "../api/import-product";
import type { AdminItem } from "../api/items";
import { type ItemValues, itemSchema, toItemValues, useSaveItem } from "../api/save-item";

/** State of an item's form: its values, saving them, and what becomes of uploaded pictures. */
export function useItemForm(item: AdminItem | null, onClose: () => void) {
  const save = useSaveItem();
  const base = useEditBase(item && toItemValues(item));
  const pictures = useFormPictures([item?.image]);
  const form = useForm<ItemValues>({
    resolver: calmResolver(zodResolver(itemSchema)),
    mode: "onTouched",
    defaultValues: toItemValues(item),
  });

  const submit = form.handleSubmit(async (values) => {
    try {
      await save.mutateAsync(rowChange(item, values, base.read()));
    } catch (error) {
      base.learn(error);
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

  /** Fills in the imported fields. Text in other fields is kept. */
  function fillIn(product: ImportedProduct) {
    const { brandId, gender, description, price } = product;
    const found: Partial<ItemValues> = {
      name: product.name,
      product_id: `${product.productId}`,
      source_url: product.sourceUrl,
      image: product.image,
      ...(price !== null && isInDollars(product) && { price: price.toFixed(2) }),
      ...(brandId !== null && { brand_id: brandId }),
      ...(gender !== null && { gender }),
      ...(description !== null && { description }),
    };
    form.reset({ ...form.getValues(), ...found }, { keepDefaultValues: true });
    const rest = description === null ? ", colors and description" : " and colors";
    toast("Product imported", `Please fill in category, subcategory${rest} manually.`, "success");
  }

  return { form, submit, cancel, onUploaded: pictures.rememberUpload, fillIn };
}
