import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { CombineStatus } from "@/lib/database";
import { isOtherVersion, notOneRowCode, overtakenCode } from "@/lib/present-row";
import { outfitKeys } from "@/lib/query-keys";
import { hasCode, messageOf, resultOf, rowsOf, uniqueViolation } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";
import { composePicture } from "./compose-picture";
import {
  type Draft,
  defaultName,
  isDefaultName,
  isSubmissionDescription,
  pictureItem,
  type SubmissionBase,
  type SubmissionFields,
  storedGender,
  submissionDescription,
} from "./draft";
import { baseOf, type SavedSubmission } from "./get-submission";
import { deleteOutfitPicture, isComposedPicture, uploadComposedPicture } from "./outfit-picture";

/** PostgreSQL's SQLSTATE for a violated check constraint: the rules of submissions. */
const checkViolation = "23514";
/** PostgreSQL's SQLSTATE for a reference to a row that does not exist. */
const foreignKeyViolation = "23503";

/** How often an outfit that somebody else saves at the same moment is tried. */
const attempts = 3;

interface Submission {
  userId: string;
  draft: Draft;
  /** The outfit that is edited; null for a new one. */
  edited: SavedSubmission | null;
}

/** The address of the picture that the draft chooses. Draws and uploads a composed one. */
async function pictureOf({ userId, draft }: Submission): Promise<string | null> {
  const { picture, items } = draft;
  if (picture.kind === "uploaded") return picture.url;
  if (picture.kind === "item") return pictureItem(draft)?.image ?? null;
  const urls = items.flatMap(({ image }) => image ?? []);
  return uploadComposedPicture(userId, await composePicture(urls));
}

/** A description that an administrator wrote stays; all others name the number of items. */
function descriptionOf({ draft, edited }: Submission): string | null {
  const written = (draft.base ?? edited)?.description ?? null;
  return isSubmissionDescription(written) ? submissionDescription(draft.items.length) : written;
}

/** Saves the outfit. Returns its status: the settings of the site may publish it without a review. */
async function submit(submission: Submission): Promise<CombineStatus> {
  const { draft, edited, userId } = submission;
  const fields = {
    name: draft.name.trim() || defaultName(new Date()),
    main_image: await pictureOf(submission),
    gender: storedGender(draft.gender),
    description: descriptionOf(submission),
    item_ids: draft.items.map(({ id }) => id),
  };
  if (edited !== null) return saveEdit(draft, edited, fields);
  const response = await supabase
    .from("combines")
    .insert({
      ...fields,
      id: draft.id,
      user_id: userId,
      meta_description: null,
      outfit_styles: [],
      status: "pending",
      created_by_admin: false,
    })
    .select("status")
    .single();
  if (hasCode(response.error, uniqueViolation)) {
    const status = await settleEarlier(submission, fields);
    if (status !== null) return status;
  }
  return rowsOf(response).status;
}

/** Saves an edit of the outfit, unless an administrator or another tab has changed the same since it began. */
async function saveEdit(draft: Draft, edited: SavedSubmission, fields: SubmissionFields) {
  const { isOvertaken, saveChangesBy } = await import("@/lib/save-changes");
  async function save({ version, ...before }: SubmissionBase, after: SubmissionFields) {
    const { row } = await saveChangesBy<SubmissionFields>(
      // Each save of a rejected outfit submits it again, also one that changes nothing.
      { table: "combines", column: "id", value: edited.id, version, isAlwaysWritten: true },
      before,
      after,
      "status",
    );
    return row?.status as CombineStatus;
  }
  const base = draft.base ?? baseOf(edited);
  try {
    return await save(base, fields);
  } catch (error) {
    if (!isOvertaken(error) || Object.keys(error.theirs).join() !== "description") throw error;
    // It follows from the items, or an administrator has written it, and then it stays: there is nothing to ask.
    const { description } = error.theirs as Pick<SubmissionFields, "description">;
    return save({ ...base, description }, { ...fields, description });
  }
}

/** An earlier attempt has saved the draft with other contents, and the outfit cannot be changed any more. */
export class SavedBeforeError extends Error {
  constructor(name: string) {
    super(
      `It was saved before as “${name}” and is on the site. Your changes are kept here: submit them again for a second outfit.`,
    );
  }
}

/**
 * An earlier attempt has saved an outfit with the draft's id although its response did not arrive, or another tab has. Returns the
 * outfit's status when it is what was to be saved, or after it was changed to it; null when the outfit is not there.
 */
async function settleEarlier(
  submission: Submission,
  fields: SubmissionFields,
  attempt = 1,
): Promise<CombineStatus | null> {
  const { draft, userId } = submission;
  const saved = resultOf(
    await supabase
      .from("combines")
      .select("status, name, main_image, gender, item_ids, version")
      .eq("id", draft.id)
      .maybeSingle(),
  );
  if (saved === null) return null;
  // A name by the time, and a picture that is drawn anew, are others with each attempt.
  const isUnnamed = draft.name.trim() === "";
  const isDrawn = draft.picture.kind === "composed";
  const isSame =
    (isUnnamed ? isDefaultName(saved.name) : saved.name === fields.name) &&
    (isDrawn ? isComposedPicture(saved.main_image) : saved.main_image === fields.main_image) &&
    saved.gender === fields.gender &&
    saved.item_ids.join() === fields.item_ids.join();
  if (isSame) {
    // The picture that was drawn for this attempt is not needed.
    if (fields.main_image !== null && fields.main_image !== saved.main_image) {
      deleteOutfitPicture(userId, fields.main_image).catch(() => undefined);
    }
    return saved.status;
  }
  if (saved.status === "approved") throw new SavedBeforeError(saved.name);
  const response = await supabase
    .from("combines")
    .update({ ...fields, version: saved.version })
    .eq("id", draft.id)
    .select("status")
    .single();
  // Somebody has saved it between reading and writing: it is compared again.
  if (isOtherVersion(response.error) && attempt < attempts) {
    return settleEarlier(submission, fields, attempt + 1);
  }
  const { status } = rowsOf(response);
  if (saved.main_image !== null && saved.main_image !== fields.main_image) {
    deleteOutfitPicture(userId, saved.main_image).catch(() => undefined);
  }
  return status;
}

function explainFailure(error: unknown): string {
  if (error instanceof SavedBeforeError) return error.message;
  if (hasCode(error, checkViolation)) return messageOf(error, "The outfit is incomplete.");
  if (hasCode(error, foreignKeyViolation)) {
    return "One of the items is no longer in the catalogue. Take it out and submit again.";
  }
  if (hasCode(error, notOneRowCode)) {
    return "The outfit was approved or deleted meanwhile and can no longer be edited.";
  }
  return "Failed to submit outfit combination. Please try again.";
}

/** Submits a new outfit for review, or an edited one again. */
export function useSubmitOutfit() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: submit,
    onSuccess: (status, { userId }) => {
      if (status === "approved") {
        toast("Outfit Combination Published", "Your outfit combination is on the site.", "success");
        void queryClient.invalidateQueries({ queryKey: outfitKeys.all() });
        return;
      }
      toast(
        "Outfit Combination Submitted",
        "Your outfit combination has been submitted for admin review.",
        "success",
      );
      // Not awaited: the wizard closes immediately while the lists are reloaded.
      void queryClient.invalidateQueries({ queryKey: outfitKeys.byCreator(userId, "everything") });
      void queryClient.invalidateQueries({ queryKey: outfitKeys.details() });
    },
    onError: (error) => {
      // The wizard asks what to keep.
      if (!hasCode(error, overtakenCode))
        toast("Submission Failed", explainFailure(error), "danger");
    },
  });
}
