import { useRowForm } from "@/components/admin/use-row-form";
import type { Overtaken } from "@/components/overtaken-dialog";
import { toast } from "@/lib/toast";
import { type ImportedProduct, isInDollars } from "../api/import-product";
import type { AdminItem } from "../api/items";
import { type ItemValues, itemSchema, toItemValues, useSaveItem } from "../api/save-item";

export type OvertakenItem = Overtaken<ItemValues>;

export interface ItemFormProps {
  /** Null for a new one. */
  item: AdminItem | null;
  /** What a new item begins with, such as the brand and category of the one before. */
  start?: Partial<ItemValues> | undefined;
  onClose: () => void;
  /** Opens the form of one more item. */
  onAnother?: (saved: ItemValues) => void;
}

/** State of an item's form: its values, saving them, and what becomes of uploaded pictures. */
export function useItemForm({ item, start, onClose, onAnother }: ItemFormProps) {
  const save = useSaveItem();
  const { form, ...rest } = useRowForm<ItemValues, AdminItem>({
    row: item,
    schema: itemSchema,
    toValues: (row) => (row === null ? { ...toItemValues(null), ...start } : toItemValues(row)),
    // The lists have the category under another name, because `category` is its row there.
    fromColumns: (columns) =>
      ({ ...columns, category_id: columns.category }) as unknown as AdminItem,
    pictures: ["image"],
    save: save.mutateAsync,
    onClose,
    ...(onAnother !== undefined && { onAnother }),
  });

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
    const missing = description === null ? ", colors and description" : " and colors";
    toast(
      "Product imported",
      `Please fill in category, subcategory${missing} manually.`,
      "success",
    );
  }

  return { form, ...rest, fillIn };
}
