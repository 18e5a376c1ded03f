import { queryOptions } from "@tanstack/react-query";
import type { CombineStatus } from "@/lib/database";
import { outfitKeys } from "@/lib/query-keys";
import { resultOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { type Draft, itemsThatDoNotFit, type PickedItem, type SubmissionBase } from "./draft";

const pickedItemColumns =
  "id, name, image, image_color, price, gender, category:categories(name), subcategory:subcategories(name)";

/** What of a saved outfit the wizard changes, with its items. */
export interface SavedContents extends SubmissionBase {
  items: PickedItem[];
}

/** An outfit of the user, as the wizard edits it. */
export interface SavedSubmission extends SavedContents {
  id: string;
  status: CombineStatus;
  rejection_reason: string | null;
}

/** Reads items by their ids, in that order; those that are no longer in the catalogue are left out. */
export async function listPickedItems(ids: readonly string[]): Promise<PickedItem[]> {
  if (ids.length === 0) return [];
  const rows = rowsOf(
    await supabase
      .from("items")
      .select(pickedItemColumns)
      .in("id", [...ids]),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** An outfit of this user by its id; null when they have none with it. */
export function submissionQuery(userId: string, outfitId: string) {
  return queryOptions({
    queryKey: [...outfitKeys.detail(outfitId), "to-edit", userId],
    // An old state would be edited and overwrite the newer one.
    staleTime: 0,
    gcTime: 0,
    queryFn: async ({ signal }): Promise<SavedSubmission | null> => {
      const outfit = resultOf(
        await supabase
          .from("combines")
          .select(
            "id, version, name, description, main_image, gender, item_ids, status, rejection_reason",
          )
          .eq("id", outfitId)
          .eq("user_id", userId)
          .abortSignal(signal)
          .maybeSingle(),
      );
      return outfit && { ...outfit, items: await listPickedItems(outfit.item_ids) };
    },
  });
}

/** The draft that an edit begins with. */
export function draftOf(outfit: SavedSubmission): Draft {
  return {
    id: outfit.id,
    ...choicesOf(outfit),
    savedPicture: outfit.main_image,
    base: baseOf(outfit),
  };
}

/** The choices that make the outfit what it is. */
function choicesOf(outfit: SavedContents): Pick<Draft, "gender" | "items" | "name" | "picture"> {
  const shown = outfit.items.find(({ image }) => image !== null && image === outfit.main_image);
  return {
    // An outfit for everybody may contain items for men and women: then no gender was chosen.
    gender: itemsThatDoNotFit(outfit.items, outfit.gender).length > 0 ? "all" : outfit.gender,
    items: outfit.items,
    name: outfit.name,
    picture:
      shown !== undefined || outfit.main_image === null
        ? { kind: "item", itemId: shown?.id ?? null }
        : { kind: "uploaded", url: outfit.main_image },
  };
}

/** What an edit of the outfit begins with. */
export function baseOf(outfit: SubmissionBase): SubmissionBase {
  const { version, name, description, main_image, gender, item_ids } = outfit;
  return { version, name, description, main_image, gender, item_ids };
}

/** Goes on with the outfit as it is saved by now: these columns of the draft become as they are saved. */
export function followSaved(outfit: SavedContents, columns: readonly string[]): Partial<Draft> {
  const saved = choicesOf(outfit);
  return {
    base: baseOf(outfit),
    ...(columns.includes("name") && { name: saved.name }),
    ...(columns.includes("item_ids") && { items: saved.items }),
    ...(columns.includes("gender") && { gender: saved.gender }),
    ...(columns.includes("main_image") && { picture: saved.picture }),
  };
}
