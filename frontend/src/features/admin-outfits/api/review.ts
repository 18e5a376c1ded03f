import { queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { messageOf, rowsOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";
import { useAdminChange } from "@/lib/use-admin-change";
import { type AdminOutfit, isRejectable, isReviewable } from "./outfits";
import { forgetReasons, outfitsWithReason } from "./unsaved-reasons";

export interface Review {
  outfit: AdminOutfit;
  approve: boolean;
  /** The reason that the creator sees. */
  reason?: string;
}

async function reviewOutfit(review: Review) {
  try {
    await sendReview(review);
  } catch (error) {
    // It waits no longer, so that there is nothing left to give a reason for.
    if (error instanceof ServiceError && error.status === notWaiting) {
      forgetReasons([review.outfit.id]);
    }
    throw error;
  }
  forgetReasons([review.outfit.id]);
  return review.approve;
}

async function sendReview({ outfit, approve, reason = "" }: Review): Promise<void> {
  rowsOf(
    // Of an outfit that was decided about, the decision is changed.
    await supabase.rpc(isReviewable(outfit) ? "review_combine" : "change_review", {
      combine_id: outfit.id,
      approve,
      // Refused with 409 when the outfit has changed since this page has shown it.
      seen: outfit.updated_at,
      ...(reason !== "" && { reason }),
    }),
  );
}

/** Forgets what was typed about these outfits in another state than they have now; all of it where they are not among the rejectable. */
function forgetOutdated(ids: readonly string[], rejectable: readonly RejectableOutfit[]): void {
  const idsOf = (isPublished: boolean) =>
    rejectable.filter(({ status }) => (status !== "pending") === isPublished).map(({ id }) => id);
  forgetReasons(ids.filter((id) => rejectable.every((outfit) => outfit.id !== id)));
  forgetReasons(idsOf(true), false);
  forgetReasons(idsOf(false), true);
}

interface RejectableOutfit {
  id: string;
  status: string | null;
}

/**
 * Forgets the reasons of outfits that were decided about, or are gone: by a colleague, or by an attempt whose answer was lost. A list of
 * those that wait does not show them any more, so the server is asked about what is not in the list.
 */
export async function forgetReasonsOfDecided(listed: readonly AdminOutfit[]): Promise<void> {
  forgetOutdated(
    listed.map(({ id }) => id),
    listed.filter(isRejectable),
  );
  const others = outfitsWithReason().filter((id) => listed.every((outfit) => outfit.id !== id));
  if (others.length === 0) return;
  const { data: rejectable } = await supabase
    .from("combines")
    .select("id, status")
    .in("id", others)
    .neq("status", "rejected");
  // Where the server cannot be asked, no text is given up.
  if (rejectable !== null) forgetOutdated(others, rejectable);
}

/** Lets outfits wait again about which this administrator has just decided. */
async function withdrawReviews(ids: string[]): Promise<void> {
  const withdrawn = rowsOf(await supabase.rpc("withdraw_reviews", { combine_ids: ids }));
  if (withdrawn.length < ids.length) {
    throw new ServiceError("Somebody has changed an outfit meanwhile. Look at it again.", "", 409);
  }
}

/** HTTP status of a review that came too late: the outfit was changed, or reviewed by another administrator. */
const conflict = 409;
const notWaiting = 404;

/** Whether a review was refused because the outfit is not as it is shown, so that it has to be looked at again. */
export const hasOutfitChanged = (error: unknown): boolean =>
  error instanceof ServiceError && (error.status === conflict || error.status === notWaiting);

export function useReviewOutfit() {
  return useAdminChange({
    change: reviewOutfit,
    success: (approved) => (approved ? "Combine Approved" : "Combine Rejected"),
    // A changed decision is changed once more by its own button.
    undo: ({ outfit }) => (isReviewable(outfit) ? () => withdrawReviews([outfit.id]) : null),
    failureText: (error) =>
      hasOutfitChanged(error)
        ? messageOf(error, "The outfit has changed. Look at it again.")
        : "Failed to update combine status.",
  });
}

/** Reviews several outfits. Those that were changed meanwhile are skipped and counted. */
async function reviewOutfits({ outfits, approve, reason = "" }: BulkReview) {
  const answers = rowsOf(
    await supabase.rpc("review_combines", {
      decisions: outfits.map(({ id, updated_at }) => ({
        id,
        approve,
        seen: updated_at,
        ...(reason !== "" && { reason }),
      })),
    }),
  );
  // The generator does not know that the column may be null.
  const ids = answers.flatMap(
    ({ combine_id, error }: { combine_id: string; error: string | null }) =>
      error === null ? [combine_id] : [],
  );
  forgetReasons(ids);
  const refused = outfits.map(({ id }) => id).filter((id) => !ids.includes(id));
  return { approve, ids, refused };
}

export interface BulkReview {
  outfits: readonly AdminOutfit[];
  approve: boolean;
  reason?: string;
}

export function useReviewOutfits() {
  return useAdminChange({
    change: async (review: BulkReview) => {
      const result = await reviewOutfits(review);
      const { length } = result.refused;
      if (length > 0) {
        const subject = length === 1 ? "1 outfit was" : `${length} outfits were`;
        const text = `${subject} changed or reviewed meanwhile. Look at them again.`;
        toast("Error", text, "danger");
      }
      return result;
    },
    success: ({ approve, ids }) =>
      ids.length === 0 ? undefined : `${ids.length} ${approve ? "approved" : "rejected"}`,
    undo: (_review, { ids }) => (ids.length === 0 ? null : () => withdrawReviews(ids)),
    failureText: () => "Failed to update combine status.",
  });
}

/** Seconds for which the addresses of private photos are valid; they are fetched anew for every review. */
const addressSeconds = 3600;

export interface TrainingPhoto {
  slot: number;
  /** Null when the file is missing or cannot be signed. */
  url: string | null;
}

/** The private photos of a creator, by signed addresses. */
export function trainingPhotosQuery(userId: string) {
  return queryOptions({
    queryKey: [...adminKey, "training-photos", userId],
    staleTime: (addressSeconds / 2) * 1000,
    queryFn: async ({ signal }): Promise<TrainingPhoto[]> => {
      const rows = rowsOf(
        await supabase
          .from("user_training_images")
          .select("image_url, image_order")
          .eq("user_id", userId)
          .order("image_order")
          .abortSignal(signal),
      );
      if (rows.length === 0) return [];
      const { storage } = await import("@/lib/storage");
      const { data, error } = await storage.from("profile-avatars").createSignedUrls(
        rows.map(({ image_url }) => image_url),
        addressSeconds,
      );
      if (error !== null) throw new ServiceError(error.message, "", 0, error);
      return rows.map(({ image_order }, index) => ({
        slot: image_order,
        url: data[index]?.error === null ? data[index].signedUrl : null,
      }));
    },
  });
}
