import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { CombineStatus } from "@/lib/database";
import { notOneRowCode, overtakenCode } from "@/lib/present-row";
import { outfitKeys } from "@/lib/query-keys";
import { hasCode, messageOf, rowsOf, uniqueViolation } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { toast } from "@/lib/toast";
import {
  arrangementOf,
  type Draft,
  defaultName,
  isComposed,
  isSubmissionDescription,
  listItemsWithPicture,
  movedPieces,
  type PickedItem,
  pictureItem,
  type SubmissionFields,
  sheetWord,
  storedGender,
  submissionDescription,
} from "./draft";
import type { SavedSubmission } from "./get-submission";
import { uploadComposedPicture } from "./outfit-picture";
import { SavedBeforeError } from "./saved-before";

/** PostgreSQL's SQLSTATE for a violated check constraint: the rules of submissions. */
const checkViolation = "23514";
/** PostgreSQL's SQLSTATE for a reference to a row that does not exist. */
const foreignKeyViolation = "23503";

interface Submission {
  userId: string;
  draft: Draft;
  /** The outfit that is edited; null for a new one. */
  edited: SavedSubmission | null;
  /** Called before the fields are sent, so that another attempt knows them when no answer comes. */
  onSend: (fields: SubmissionFields) => void;
}

interface OutfitPicture {
  url: string | null;
  /** The item whose picture is shown because the sheet, which nobody has asked for, could not be drawn; null otherwise. */
  instead: PickedItem | null;
}

/** The picture that the draft chooses. Draws and uploads a composed one. */
async function pictureOf({ userId, draft }: Submission): Promise<OutfitPicture> {
  const { picture, items } = draft;
  if (picture.kind === "uploaded") return { url: picture.url, instead: null };
  if (!isComposed(draft)) return { url: pictureItem(draft)?.image ?? null, instead: null };
  const pictured = listItemsWithPicture(items);
  const layout = { arrangement: arrangementOf(draft), moved: movedPieces(draft) };
  const { composePicture } = await import("./compose-picture");
  const drawn = await composePicture(pictured, layout).catch((error: unknown) => {
    // The outfit is not refused because one of its pictures cannot be read.
    if (picture.kind === "item") return null;
    throw error;
  });
  if (drawn !== null) {
    return { url: await uploadComposedPicture(userId, drawn, sheetWord(draft)), instead: null };
  }
  const [instead = null] = pictured;
  return { url: instead?.image ?? null, instead };
}

/** A description that an administrator wrote stays; all others name the number of items. */
function descriptionOf({ draft, edited }: Submission): string | null {
  const written = (draft.base ?? edited)?.description ?? null;
  return isSubmissionDescription(written) ? submissionDescription(draft.items.length) : written;
}

interface Submitted extends Pick<OutfitPicture, "instead"> {
  /** The settings of the site may publish an outfit without a review. */
  status: CombineStatus;
}

async function submit(submission: Submission): Promise<Submitted> {
  const { url, instead } = await pictureOf(submission);
  return { status: await save(submission, url), instead };
}

/** Saves the outfit with this picture. Returns its status. */
async function save(submission: Submission, picture: string | null): Promise<CombineStatus> {
  const { draft, edited, userId } = submission;
  const fields = {
    name: draft.name.trim() || defaultName(new Date()),
    main_image: picture,
    gender: storedGender(draft.gender),
    description: descriptionOf(submission),
    item_ids: draft.items.map(({ id }) => id),
  };
  submission.onSend(fields);
  if (edited !== null) {
    const { saveEdit } = await import("./save-submission");
    return saveEdit(draft, edited, fields);
  }
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
    const { settleEarlier } = await import("./save-submission");
    const status = await settleEarlier(userId, draft, fields);
    if (status !== null) return status;
  }
  return rowsOf(response).status;
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

/** What is said about an outfit that shows another picture than the wizard did. */
function pictureNote({ instead }: Submitted): string {
  if (instead === null) return "";
  return ` Not all pictures could be read, so it shows that of ${instead.name} and not all items together. You can choose another one.`;
}

/** Submits a new outfit for review, or an edited one again. */
export function useSubmitOutfit() {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: submit,
    onSuccess: (submitted, { userId }) => {
      const note = pictureNote(submitted);
      if (submitted.status === "approved") {
        const text = `Your outfit combination is on the site.${note}`;
        toast("Outfit Combination Published", text, "success");
        void queryClient.invalidateQueries({ queryKey: outfitKeys.all() });
        return;
      }
      toast(
        "Outfit Combination Submitted",
        `Your outfit combination has been submitted for admin review.${note}`,
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
