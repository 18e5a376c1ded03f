import * as z from "zod/mini";
import { type RowChange, type SavedRow, undoEdit } from "@/lib/admin-rows";
import { nameSchema, pictureSchema, textSchema } from "@/lib/admin-schemas";
import { FieldError } from "@/lib/field-error";
import { genders } from "@/lib/genders";
import { insertOnce } from "@/lib/insert-once";
import { isOvertaken, keptText, saveChanges } from "@/lib/save-changes";
import { hasCode, messageOf, ServiceError, uniqueViolation } from "@/lib/service-error";
import { useAdminChange } from "@/lib/use-admin-change";
import type { AdminItem } from "./items";

/** Largest price that the column holds. */
const mostDollars = 99_999_999.99;

export const itemSchema = z.object({
  name: nameSchema("Name must be at least 2 characters", 200),
  product_id: z.string().check(z.trim(), z.regex(/^\d{0,15}$/, "Must be a number")),
  price: z.string().check(
    z.trim(),
    z.refine((text) => text !== "" && Number.isFinite(Number(text)), "Must be a number"),
    z.refine((text) => !(Number(text) < 0), "Price cannot be negative"),
    z.refine((text) => !(Number(text) > mostDollars), "Price is too high"),
    // The column would round it without a word.
    z.refine((text) => !/\.\d{3}|e-/i.test(text), "At most two digits after the point"),
  ),
  brand_id: z.string().check(z.minLength(1, "Brand is required")),
  category: z.string().check(z.minLength(1, "Category is required")),
  subcategory_id: z.string(),
  gender: z.enum(genders),
  source_url: z
    .string()
    .check(
      z.trim(),
      z.maxLength(2048, "At most 2048 characters"),
      z.regex(/^$|^https?:\/\/\S+$/i, "Must be a valid URL"),
    ),
  image: pictureSchema,
  description: textSchema(10_000),
  meta_description: textSchema(1000),
  colors: z.array(z.string()),
});

export type ItemValues = z.infer<typeof itemSchema>;

/** Values of the form for an item, or for a new one. */
export function toItemValues(item: AdminItem | null): ItemValues {
  return {
    name: item?.name ?? "",
    product_id: item?.product_id?.toString() ?? "",
    price: item?.price.toFixed(2) ?? "0",
    brand_id: item?.brand_id ?? "",
    category: item?.category_id ?? "",
    subcategory_id: item?.subcategory_id ?? "",
    gender: item?.gender ?? "unisex",
    source_url: item?.source_url ?? "",
    image: item?.image ?? "",
    description: item?.description ?? "",
    meta_description: item?.meta_description ?? "",
    colors: item?.colors ?? [],
  };
}

/** The columns of the form's values. Those that were read from the database may be null already. */
const rowOf = (values: ItemValues) => ({
  ...values,
  product_id: (values.product_id ?? "") === "" ? null : Number(values.product_id),
  price: Number(values.price),
  subcategory_id: values.subcategory_id === "" ? null : values.subcategory_id,
});

/** A subcategory belongs to its category. */
const classification = ["category", "subcategory_id"];

async function saveItem(change: RowChange<ItemValues>): Promise<SavedRow> {
  try {
    return await writeItem(change);
  } catch (error) {
    if (!isKnownProduct(error)) throw error;
    throw new FieldError("product_id", "Good piece but it is already in your database.", error);
  }
}

async function writeItem(change: RowChange<ItemValues>): Promise<SavedRow> {
  const row = rowOf(change.values);
  if (change.id === null) {
    await insertOnce("items", change.newId, row);
    return { title: "Item created", others: [] };
  }
  const before = rowOf(change.before);
  const others = await saveChanges("items", change, before, row, classification);
  return { title: "Item updated", others };
}

/** Whether another item has the same retailer's number. */
function isKnownProduct(error: unknown): error is ServiceError {
  return (
    error instanceof ServiceError &&
    hasCode(error, uniqueViolation) &&
    error.message.includes("items_product_id_key")
  );
}

export function useSaveItem() {
  return useAdminChange({
    change: saveItem,
    success: ({ title }) => title,
    successText: ({ others }) => keptText(others),
    isShownByForm: isOvertaken,
    undo: undoEdit(saveItem, "image"),
    failure: (error) => (error instanceof FieldError ? "Product already exists" : "Error"),
    failureText: (error) => messageOf(error, "Please try again."),
    awaitsLists: false,
  });
}
