import { useQueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { outfitKeys } from "@/lib/query-keys";
import { messageOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";
import type { Outfit } from "./outfit";

/** Ids of outfits that are hidden while their deletion can still be taken back. */
let pending: ReadonlySet<string> = new Set();
const listeners = new Set<() => void>();

function setPending(id: string, isPending: boolean): void {
  const next = new Set(pending);
  if (isPending) next.add(id);
  else next.delete(id);
  pending = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The outfits without those that are being deleted. */
export function useWithoutDeleted<Row extends { id: string }>(
  outfits: readonly Row[] | undefined,
): Row[] | undefined {
  const hidden = useSyncExternalStore(subscribe, () => pending);
  return outfits?.filter(({ id }) => !hidden.has(id));
}

/** Deletes the row. An outfit that was approved meanwhile stays: its creator may no longer delete it. */
async function deleteRow(outfitId: string): Promise<void> {
  const deleted = rowsOf(await supabase.from("combines").delete().eq("id", outfitId).select("id"));
  if (deleted.length === 0) throw new Error("It was approved or deleted meanwhile.");
}

/**
 * Deletes an unpublished outfit of the user. It disappears from the lists immediately, and is deleted from the database
 * when "Undo" is no longer offered; if the site is closed before that, it is kept.
 */
export function useDeleteOutfit(userId: string): (outfit: Pick<Outfit, "id" | "name">) => void {
  const queryClient = useQueryClient();

  async function deleteForGood(id: string, name: string) {
    try {
      await deleteRow(id);
    } catch (error) {
      toast("Error", messageOf(error, `${name} could not be deleted.`), "danger");
    }
    await queryClient.invalidateQueries({ queryKey: outfitKeys.byCreator(userId, "everything") });
    setPending(id, false);
    queryClient.removeQueries({ queryKey: outfitKeys.details() });
  }

  return ({ id, name }) => {
    setPending(id, true);
    toast("Outfit deleted", name, "neutral", {
      label: "Undo",
      onPress: () => setPending(id, false),
      onMiss: () => void deleteForGood(id, name),
    });
  };
}
