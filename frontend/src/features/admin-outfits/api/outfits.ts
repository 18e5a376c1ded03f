import { listOf, type ReadList } from "@/lib/admin-list";
import { removeUnusedPictures } from "@/lib/admin-pictures";
import { deleteRow, pageByName } from "@/lib/admin-rows";
import type { CombineStatus, Gender } from "@/lib/database";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

export interface AdminOutfit {
  id: string;
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
  creator: { username: string | null; full_name: string | null } | null;
}

const columns =
  "id, name, slug, description, meta_description, main_image, image_alt, gender, item_ids, outfit_styles, colors, status, rejection_reason, created_by_admin, created_at, updated_at, user_id, creator:profiles!combines_user_id_fkey(username, full_name)";

export const statuses = ["pending", "approved", "rejected"] as const satisfies CombineStatus[];

/** Labels of a review status. A row without one would count as approved. */
export const statusLabels: Readonly<Record<CombineStatus, string>> = {
  pending: "Pending Review",
  approved: "Approved",
  rejected: "Rejected",
};

export const readOutfits: ReadList<AdminOutfit> = async (request, signal) => {
  const all = supabase.from("combines").select(columns, { count: "exact" });
  const status = statuses.find((one) => one === request.filters.status);
  const query = status === undefined ? all : all.eq("status", status);
  return listOf(await pageByName(query, request, ["name", "created_at"], signal));
};

/** Who made an outfit; accounts may have been deleted. */
export function creatorName({ creator }: AdminOutfit): string {
  return creator?.full_name || creator?.username || "Unknown User";
}

/** Whether an administrator decides about it: a submission that waits. */
export function isReviewable(outfit: AdminOutfit): boolean {
  return outfit.status === "pending" && !outfit.created_by_admin;
}

async function deleteOutfit(outfit: AdminOutfit): Promise<void> {
  await deleteRow("combines", outfit.id);
  removeUnusedPictures([outfit.main_image]);
}

export function useDeleteOutfit() {
  return useAdminChange({ change: deleteOutfit, success: "Outfit combination deleted" });
}
