/** The state of a form about the schema, which makes SQL. */
import type { FieldValues } from "react-hook-form";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import type { SchemaChange } from "./form-dialog";

interface SchemaFormOptions<Draft extends FieldValues> {
  /** The object as the catalog has it; for a new one, what the form begins with. */
  saved: Draft;
  isNew: boolean;
  findProblem: (draft: Draft) => string | null;
  /** The change that leads from what is saved to the draft. */
  describe: (draft: Draft, saved: Draft) => SchemaChange;
  onSubmit: (change: SchemaChange) => void;
}

export function useSchemaForm<Draft extends FieldValues>({
  describe,
  onSubmit,
  ...options
}: SchemaFormOptions<Draft>) {
  const form = useDraftForm<Draft>({
    ...options,
    onSubmit: (draft, saved) => onSubmit(describe(draft, saved)),
  });
  const sql = form.problem === null ? describe(form.merged, form.saved).sql : "";
  return { ...form, sql };
}
