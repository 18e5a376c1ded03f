import { queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import type { Gender } from "@/lib/database";
import { messageOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import type { AdminItem } from "./items";

/** The database changes no more at once. */
export const mostItems = 1000;

/** New values of several items; what is left out stays as it is. */
export interface ItemChanges {
  price?: number;
  brand?: string;
  category?: string;
  gender?: Gender;
  add_colors?: string[];
}

export const countItems = (count: number): string => (count === 1 ? "1 item" : `${count} items`);

/** Which items were left as they are, because somebody else has saved or deleted them since they were ticked. */
function describeLeft(left: readonly AdminItem[]): string {
  const names = left.slice(0, 3).map(({ name }) => name);
  const more = left.length > names.length ? ` and ${left.length - names.length} more` : "";
  return `Changed by somebody else meanwhile, and left alone: ${names.join(", ")}${more}`;
}

export function useEditItems() {
  return useAdminChange({
    change: async ({ items, changes }: { items: readonly AdminItem[]; changes: ItemChanges }) => {
      const seen = {
        ids: items.map(({ id }) => id),
        versions: items.map(({ version }) => version),
      };
      const changed = rowsOf(await supabase.rpc("edit_items", { ...seen, ...changes }));
      return { changed, left: items.filter(({ id }) => !changed.includes(id)) };
    },
    success: ({ changed }) => `${countItems(changed.length)} changed`,
    successText: ({ left }) => (left.length === 0 ? undefined : `${describeLeft(left)}.`),
    failure: "Nothing was changed",
    failureText: (error) => messageOf(error, "Please try again."),
    awaitsLists: false,
  });
}

export function useDeleteItems() {
  return useAdminChange({
    change: async (items: readonly AdminItem[]) => {
      const ids = items.map(({ id }) => id);
      const count = rowsOf(await supabase.rpc("delete_items", { ids }));
      removeUnusedPictures(items.map(({ image }) => image));
      return count;
    },
    success: (count) => `${countItems(count)} deleted`,
    failure: "Delete failed",
    failureText: (error) => messageOf(error, "Could not delete the items. Please try again later."),
    awaitsLists: false,
  });
}

/** How many outfits wear one of these items. */
export function wearingQuery(ids: readonly string[]) {
  return queryOptions({
    queryKey: [...adminKey, "wearing", ids],
    staleTime: 0,
    queryFn: async ({ signal }) =>
      rowsOf(await supabase.rpc("count_wearing", { ids: [...ids] }).abortSignal(signal)),
  });
}
