import { useState } from "react";
import { type AdminOutfit, isReviewable } from "../api/outfits";

/** The selected outfits of the shown page. An outfit that left the page, or was reviewed meanwhile, is deselected. */
export function useSelection(rows: readonly AdminOutfit[] | undefined) {
  const [ticked, setTicked] = useState<ReadonlySet<string>>(new Set());
  const outfits = (rows ?? []).filter((outfit) => ticked.has(outfit.id) && isReviewable(outfit));
  return {
    outfits,
    ids: new Set(outfits.map(({ id }) => id)) as ReadonlySet<string>,
    toggle: (outfit: AdminOutfit) => {
      if (!isReviewable(outfit)) return;
      setTicked((before) => {
        const next = new Set(before);
        if (!next.delete(outfit.id)) next.add(outfit.id);
        return next;
      });
    },
    clear: () => setTicked(new Set()),
  };
}
