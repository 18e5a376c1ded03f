import * as z from "zod/mini";
import { type RowChange, type SavedRow, undoEdit } from "@/lib/admin-rows";
import { nameSchema, pictureSchema, textSchema } from "@/lib/admin-schemas";
import { genders } from "@/lib/genders";
import { insertOnce } from "@/lib/insert-once";
import { isOvertaken, keptText, saveChanges } from "@/lib/save-changes";
import { messageOf } from "@/lib/service-error";
import { useSession } from "@/lib/session";
import { useAdminChange } from "@/lib/use-admin-change";
import type { AdminOutfit } from "./outfits";

export const outfitSchema = z.object({
  name: nameSchema("Name must be at least 2 characters", 200),
  description: textSchema(10_000),
  meta_description: textSchema(1000),
  main_image: pictureSchema.check(z.minLength(1, "Main image is required")),
  image_alt: textSchema(1000),
  gender: z.enum(genders),
  outfit_styles: z.array(z.string()),
  colors: z.array(z.string()),
  item_ids: z.array(z.string()).check(z.maxLength(50, "At most 50 items")),
});

export type OutfitValues = z.infer<typeof outfitSchema>;

/** Values of the form for an outfit, or for a new one. */
export function toOutfitValues(outfit: AdminOutfit | null): OutfitValues {
  return {
    name: outfit?.name ?? "",
    description: outfit?.description ?? "",
    meta_description: outfit?.meta_description ?? "",
    main_image: outfit?.main_image ?? "",
    image_alt: outfit?.image_alt ?? "",
    gender: outfit?.gender ?? "women",
    outfit_styles: outfit?.outfit_styles ?? [],
    colors: outfit?.colors ?? [],
    item_ids: outfit?.item_ids ?? [],
  };
}

async function saveOutfit(
  change: RowChange<OutfitValues>,
  userId: string | undefined,
): Promise<SavedRow> {
  const { values } = change;
  if (change.id !== null) {
    const others = await saveChanges("combines", change, change.before, values);
    return { title: "Outfit combination updated", others };
  }
  if (userId === undefined) throw new Error("User not authenticated");
  const row = { ...values, user_id: userId, status: "approved", created_by_admin: true };
  await insertOnce("combines", change.newId, row);
  return { title: "Outfit combination created", others: [] };
}

/** Saves an outfit; a new one is made in the administrator's name. */
export function useSaveOutfit() {
  const { user } = useSession();
  const save = (change: RowChange<OutfitValues>) => saveOutfit(change, user?.id);
  return useAdminChange({
    change: save,
    success: ({ title }) => title,
    successText: ({ others }) => keptText(others),
    isShownByForm: isOvertaken,
    undo: undoEdit(save, "main_image"),
    failureText: (error) => messageOf(error, "Please try again."),
    awaitsLists: false,
  });
}
