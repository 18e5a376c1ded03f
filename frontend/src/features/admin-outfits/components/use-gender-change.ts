import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import { itemsByIdQuery } from "@/lib/admin-items";
import type { Gender } from "@/lib/database";
import { toast } from "@/lib/toast";
import type { OutfitValues } from "../api/save-outfit";

/** A change of the gender that would take items out of the outfit. */
interface GenderChange {
  gender: Gender;
  /** Ids of the items that also fit the new gender. */
  kept: string[];
  lost: number;
}

/** Changes the gender of the outfit in a form. While items would be lost, `question` is set until it is answered. */
export function useGenderChange({ getValues, setValue }: UseFormReturn<OutfitValues>) {
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<GenderChange | null>(null);

  async function change(next: Gender) {
    const chosen = getValues("item_ids");
    // Which items fit is read again, because the outfit's list holds ids only.
    const items = await queryClient.fetchQuery(itemsByIdQuery(chosen)).catch(() => null);
    if (items === null) {
      toast("Error", "The items could not be checked. Please try again.", "danger");
      return;
    }
    const kept = items
      .filter((item) => next === "unisex" || item.gender === next || item.gender === "unisex")
      .map(({ id }) => id);
    if (kept.length === chosen.length) setValue("gender", next, { shouldDirty: true });
    else setQuestion({ gender: next, kept, lost: chosen.length - kept.length });
  }

  function confirm({ gender, kept }: GenderChange) {
    setValue("gender", gender, { shouldDirty: true });
    setValue("item_ids", kept, { shouldDirty: true });
    setQuestion(null);
  }

  return { change, question, confirm, cancel: () => setQuestion(null) };
}
