/**
 * Saves changes of an outfit that is stored already: an edit, or a draft that an earlier attempt has sent whose answer did not come.
 * Nothing that an administrator or another tab has changed since is overwritten without a question. Loaded when it is needed.
 */
import { isSameValue } from "@ui/merge-edit";
import type { CombineStatus } from "@/lib/database";
import { firstVersion } from "@/lib/present-row";
import { changedColumns, isOvertaken, saveChangesBy } from "@/lib/save-changes";
import { resultOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import {
  type Draft,
  isComposed,
  isDefaultName,
  type SubmissionBase,
  type SubmissionFields,
  sheetWord,
} from "./draft";
import { baseOf, type SavedSubmission } from "./get-submission";
import { deleteOutfitPicture, isComposedPicture } from "./outfit-picture";
import { SavedBeforeError } from "./saved-before";

/** Saves an edit of the outfit, unless an administrator or another tab has changed the same since it began. */
export function saveEdit(draft: Draft, edited: SavedSubmission, fields: SubmissionFields) {
  return saveSince(draft, draft.base ?? baseOf(edited), fields);
}

/** What a change begins with. Without a version the row is read and compared first. */
type ChangeBase = SubmissionFields & Partial<Pick<SubmissionBase, "version">>;

async function saveSince(
  { id, sent = [] }: Draft,
  base: ChangeBase,
  fields: SubmissionFields,
): Promise<CombineStatus> {
  async function save({ version, ...before }: ChangeBase, after: SubmissionFields) {
    const { row } = await saveChangesBy<SubmissionFields>(
      // Each save of a rejected outfit submits it again, also one that changes nothing.
      { table: "combines", column: "id", value: id, version, isAlwaysWritten: true },
      before,
      after,
      "status",
    );
    return row?.status as CombineStatus;
  }
  try {
    return await save(base, fields);
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    const present = error.present as unknown as SubmissionFields;
    // It follows from the items, or an administrator has written it, and then it stays: there is nothing to ask.
    const { description } = present;
    const known = [base, ...sent];
    return save({ ...findOwn(present, known, fields), description }, { ...fields, description });
  }
}

/** The base where nothing is known of earlier attempts: all that is saved may be somebody else's. */
const nothingKnown = { name: "", description: null, main_image: null, gender: null, item_ids: [] };

/**
 * The base of a change to an outfit that earlier attempts may have saved: each column as it is saved where that is one of the values
 * that are `known` as the person's own. Else somebody has changed it, and the base is an own value that differs from the one
 * which is to be saved, so that saving that counts as a change.
 */
function findOwn(
  saved: SubmissionFields,
  known: readonly SubmissionFields[],
  wanted: SubmissionFields,
): SubmissionFields {
  const otherwise = known.length === 0 ? nothingKnown : wanted;
  const columns = Object.keys(wanted) as (keyof SubmissionFields)[];
  const own = columns.map((column) => {
    const values =
      known.find((one) => isSameValue(one[column], saved[column])) ??
      known.find((one) => !isSameValue(one[column], wanted[column])) ??
      otherwise;
    return [column, values[column]];
  });
  return Object.fromEntries(own);
}

/** The fields with what an earlier attempt has chosen by itself: the name by the time, and the picture that was drawn of the same items. */
function keepChosen(draft: Draft, base: SubmissionFields, fields: SubmissionFields) {
  const isNamed = draft.name.trim() !== "" || !isDefaultName(base.name);
  const isDrawnBefore =
    isComposed(draft) &&
    isComposedPicture(base.main_image, sheetWord(draft)) &&
    isSameValue(base.item_ids, fields.item_ids);
  return {
    ...fields,
    ...(!isNamed && { name: base.name }),
    ...(isDrawnBefore && { main_image: base.main_image }),
  };
}

/**
 * Finishes a submission that an earlier attempt, whose response did not arrive, or another tab has already stored under the draft's
 * id. Changes the stored outfit to the draft where they differ, and returns its status; null when there is no such outfit. Throws an
 * `OvertakenError` when somebody else has changed the same fields since.
 */
export async function settleEarlier(
  userId: string,
  draft: Draft,
  fields: SubmissionFields,
): Promise<CombineStatus | null> {
  const saved = resultOf(
    await supabase
      .from("combines")
      .select("status, version, name, description, main_image, gender, item_ids")
      .eq("id", draft.id)
      .maybeSingle(),
  );
  if (saved === null) return null;
  const known = [...(draft.sent ?? []), ...(draft.base === undefined ? [] : [draft.base])];
  const { version: _, ...contents } = baseOf(saved);
  const base = saved.version === firstVersion ? contents : findOwn(contents, known, fields);
  const wanted = keepChosen(draft, base, fields);
  const changed = changedColumns<SubmissionFields>(base, wanted);
  const missing = Object.keys(changedColumns<SubmissionFields>(contents, wanted));
  const open = missing.filter((column) => column in changed);
  const isSettled = open.length === 0;
  if (!isSettled && (saved.status === "approved" || saved.status === "unlisted"))
    throw new SavedBeforeError(saved.name);
  const status = isSettled ? saved.status : await saveSince(draft, base, wanted);
  const replaced = open.includes("main_image");
  const unused = replaced ? saved.main_image : isComposed(draft) && fields.main_image;
  const kept = replaced ? wanted.main_image : saved.main_image;
  if (typeof unused === "string" && unused !== kept) {
    deleteOutfitPicture(userId, unused).catch(() => undefined);
  }
  return status;
}
