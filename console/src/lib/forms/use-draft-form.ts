/**
 * A form whose fields are the members of a draft, and whose button asks or shows something before anything is saved: the SQL of a
 * change of the schema, or an answer. The draft stays while that stands over the form.
 */
import { mergeEdit } from "@ui/merge-edit";
import type { FieldValues, Path, PathValue } from "react-hook-form";
import * as z from "zod/mini";
import { useEditForm } from "./use-edit-form";

interface DraftFormOptions<Draft extends FieldValues> {
  /** What is saved at the moment; for something new, what the form begins with. */
  saved: Draft;
  /** Reads what is saved, where `saved` may be older. */
  read?: () => Promise<Draft>;
  isNew: boolean;
  /** A sentence that says what is missing; null when the draft is complete. */
  findProblem: (draft: Draft) => string | null;
  /** Called with the draft, joined with what others have saved since it began. */
  onSubmit: (draft: Draft, saved: Draft) => void | Promise<void>;
}

const same = <Draft>(draft: Draft): Draft => draft;

/** The name of the one rule of the whole draft, whose message belongs to no field. */
const wholeDraft = "draft";

function schemaOf<Draft>(findProblem: (draft: Draft) => string | null) {
  return z.custom<Draft>().check((check) => {
    const message = findProblem(check.value);
    if (message === null) return;
    check.issues.push({ code: "custom", message, path: [wholeDraft], input: check.value });
  });
}

export function useDraftForm<Draft extends FieldValues>({
  saved,
  read,
  isNew,
  findProblem,
  onSubmit,
}: DraftFormOptions<Draft>) {
  const edit = useEditForm<Draft, Draft>({
    saved,
    valuesOf: same,
    savedOf: same,
    schema: schemaOf(findProblem),
    isNew,
    ...(read !== undefined && { read }),
    write: async ({ values }, theirs) => {
      await onSubmit(values, theirs);
      return null;
    },
  });
  const draft = edit.values;
  return {
    ...edit,
    draft,
    /** The draft with what others have saved meanwhile in the fields that are as they were. */
    merged: mergeEdit(edit.base, draft, edit.saved).values,
    problem: findProblem(draft),
    /** The problem of the last attempt. */
    refusal: edit.form.formState.errors[wholeDraft]?.message as string | undefined,
    change(changes: Partial<Draft>): void {
      for (const [field, value] of Object.entries(changes)) {
        edit.form.setValue(field as Path<Draft>, value as PathValue<Draft, Path<Draft>>, {
          shouldValidate: edit.form.formState.isSubmitted,
        });
      }
    },
  };
}
