import type { ReadList } from "@/lib/admin-list";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import { deleteRow } from "@/lib/admin-rows";
import type { CombineStatus, Gender } from "@/lib/database";
import { genders } from "@/lib/genders";
import { isUuid } from "@/lib/patterns";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import { forgetReasons } from "./unsaved-reasons";

export interface AdminOutfit {
  id: string;
  version: number;
  name: string;
  slug: string;
  description: string | null;
  meta_description: string | null;
  main_image: string | null;
  image_alt: string | null;
  gender: Gender;
  item_ids: string[];
  outfit_styles: string[];
  colors: string[];
  status: CombineStatus;
  rejection_reason: string | null;
  created_by_admin: boolean;
  created_at: string;
  /** Sent with a review, which decides about this version only. */
  updated_at: string;
  user_id: string | null;
  /** Both are null after the account was deleted. */
  creator: { username: string | null; full_name: string | null };
}

export const statuses = [
  "pending",
  "approved",
  "rejected",
  "unlisted",
] as const satisfies CombineStatus[];

/** Labels of a review status. A row without one would count as approved. */
export const statusLabels: Readonly<Record<CombineStatus, string>> = {
  pending: "Pending Review",
  approved: "Approved",
  rejected: "Rejected",
  unlisted: "Unlisted",
};

/** A page of outfits. The function returns the total in each row, so a page after the end has no total. */
export const readOutfits: ReadList<AdminOutfit> = async (request, signal) => {
  const { term, sort, ascending, from, to, id } = request;
  const status = statuses.find((one) => one === request.filters.status);
  const gender = genders.find((one) => one === request.filters.gender);
  const { creator = "" } = request.filters;
  const rows = rowsOf(
    await supabase
      .rpc("list_outfits", {
        term,
        sort,
        ascending,
        page_offset: from,
        max_results: to - from + 1,
        ...(status !== undefined && { review_status: status }),
        ...(gender !== undefined && { outfit_gender: gender }),
        ...(isUuid(creator) && { creator }),
        ...(id !== undefined && { outfit_id: id }),
      })
      .abortSignal(signal),
  );
  return {
    rows: rows.map(({ total: _, creator_username, creator_full_name, ...row }) => ({
      ...row,
      gender: genders.find((one) => one === row.gender) ?? "unisex",
      // A missing status counts as approved.
      status: statuses.find((one) => one === row.status) ?? "approved",
      creator: { username: creator_username, full_name: creator_full_name },
    })),
    total: rows[0]?.total ?? 0,
  };
};

/** The name of an outfit's creator, whose account may have been deleted. */
export function creatorName({ creator }: AdminOutfit): string {
  return creator.full_name || creator.username || "Unknown User";
}

/** Whether an administrator decides about it: a submission that waits. */
export function isReviewable(outfit: AdminOutfit): boolean {
  return outfit.status === "pending" && !outfit.created_by_admin;
}

/** Whether it can be rejected, or taken offline. */
export function isRejectable({ status, created_by_admin }: AdminOutfit): boolean {
  return status !== "rejected" && !created_by_admin;
}

async function deleteOutfit(outfit: AdminOutfit): Promise<void> {
  await deleteRow("combines", outfit.id);
  forgetReasons([outfit.id]);
  removeUnusedPictures([outfit.main_image]);
}

export function useDeleteOutfit() {
  return useAdminChange({ change: deleteOutfit, success: "Outfit combination deleted" });
}
