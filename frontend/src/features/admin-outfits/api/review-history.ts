import { queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import type { CombineStatus, Gender } from "@/lib/database";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import type { AdminOutfit } from "./outfits";

/** The parts of an outfit that a decision is about. */
export interface ReviewedParts {
  name: string;
  description: string | null;
  main_image: string | null;
  gender: Gender;
  item_ids: readonly string[];
  outfit_styles: readonly string[];
  colors: readonly string[];
}

/** An earlier decision about an outfit, with the outfit as it was then. */
export interface PastReview extends ReviewedParts {
  id: string;
  decision: Exclude<CombineStatus, "pending" | "unlisted">;
  reason: string | null;
  decided_at: string;
  /** Null when the account was deleted. */
  decider: { username: string | null } | null;
}

const columns =
  "id, decision, reason, decided_at, name, description, main_image, gender, item_ids, outfit_styles, colors, decider:profiles(username)";

/** Decisions about this outfit, newest first. */
export function reviewHistoryQuery(outfitId: string) {
  return queryOptions({
    queryKey: [...adminKey, "review-history", outfitId],
    queryFn: async ({ signal }): Promise<PastReview[]> =>
      rowsOf(
        await supabase
          .from("combine_reviews")
          .select(columns)
          .eq("combine_id", outfitId)
          .order("decided_at", { ascending: false })
          .limit(50)
          .abortSignal(signal),
      ),
  });
}

/** The differences between the reviewed version of an outfit and the current one. Texts are null where there was or is none. */
export interface OutfitChanges {
  texts: { term: string; before: string | null; now: string | null }[];
  /** The picture was replaced; its address before. */
  picture: { before: string | null } | null;
  lists: { kind: ListKind; added: string[]; removed: string[] }[];
}

type ListKind = "item_ids" | "outfit_styles" | "colors";

const listKinds: readonly ListKind[] = ["item_ids", "outfit_styles", "colors"];
const textTerms = [
  { term: "Name", key: "name" },
  { term: "Text", key: "description" },
  { term: "Gender", key: "gender" },
] as const;

/** Compares an outfit with the reviewed version. The order of ids does not matter. */
export function findChanges(before: ReviewedParts, now: AdminOutfit): OutfitChanges {
  const texts = textTerms.flatMap(({ term, key }) =>
    before[key] === now[key] ? [] : [{ term, before: before[key], now: now[key] }],
  );
  const lists = listKinds.flatMap((kind) => {
    const added = now[kind].filter((id) => !before[kind].includes(id));
    const removed = before[kind].filter((id) => !now[kind].includes(id));
    return added.length + removed.length === 0 ? [] : [{ kind, added, removed }];
  });
  const picture = before.main_image === now.main_image ? null : { before: before.main_image };
  return { texts, picture, lists };
}

/** Whether the outfit is as it was. */
export function isUnchanged({ texts, picture, lists }: OutfitChanges): boolean {
  return texts.length === 0 && picture === null && lists.length === 0;
}
