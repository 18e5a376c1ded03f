/** A new enum, or values added to one and renamed. */
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Plus, X } from "lucide-react";
import { useState } from "react";
import { listOf, type SchemaObject } from "@/api/objects";
import { Input } from "@/components/input";
import { alterEnum, createEnum, type EnumDraft } from "@/lib/sql/ddl/enums";
import { SchemaSelect } from "./choices";
import { NameField } from "./fields";
import { FormDialog, type SchemaChange } from "./form-dialog";
import { useSchemaForm } from "./use-schema-form";

interface EnumFormProps {
  /** The type to change; null for a new one. */
  type: SchemaObject | null;
  schema: string;
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

export function EnumForm({ type, schema, onSubmit, onClose }: EnumFormProps) {
  // The statements name single values, so that values which others add meanwhile stay.
  const [saved] = useState<EnumDraft>(() => ({
    schema: type?.schema ?? (schema || "public"),
    name: type?.name ?? "",
    values:
      type === null
        ? [{ label: "", was: null }]
        : listOf(type, "values").map((label) => ({ label, was: label })),
  }));
  const form = useSchemaForm<EnumDraft>({
    saved,
    isNew: type === null,
    findProblem,
    describe: (draft) => ({
      title: `${type === null ? "Create" : "Change"} enum ${draft.name}`,
      sql: type === null ? createEnum(draft) : alterEnum(draft),
    }),
    onSubmit,
  });
  const { draft } = form;
  const setValues = (values: EnumDraft["values"]) => form.change({ values });
  return (
    <FormDialog
      title={type === null ? "New enum" : `Enum ${type.name}`}
      form={form}
      onClose={onClose}
    >
      {type === null && (
        <div className="grid gap-4 sm:grid-cols-[10rem_minmax(0,1fr)]">
          <SchemaSelect value={draft.schema} onChange={(name) => form.change({ schema: name })} />
          <NameField autoFocus value={draft.name} onChange={(name) => form.change({ name })} />
        </div>
      )}
      <fieldset>
        <legend className="mb-1 font-medium text-caption">Values, in their order</legend>
        <ul className="space-y-1.5">
          {draft.values.map((value, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a value that is being named has no identity but its place.
            <li key={index} className="flex items-center gap-2">
              <Input
                mono
                aria-label={`Value ${index + 1}`}
                value={value.label}
                onChange={(event) =>
                  setValues(
                    draft.values.map((each, at) =>
                      at === index ? { ...each, label: event.target.value } : each,
                    ),
                  )
                }
              />
              <IconButton
                size="dense"
                label={`Insert a value below ${value.label}`}
                onClick={() =>
                  setValues(draft.values.toSpliced(index + 1, 0, { label: "", was: null }))
                }
              >
                <Plus aria-hidden="true" className="size-3.5" />
              </IconButton>
              <IconButton
                size="dense"
                label={
                  value.was === null
                    ? `Remove ${value.label}`
                    : "PostgreSQL cannot remove a value of an enum"
                }
                disabled={value.was !== null}
                onClick={() => setValues(draft.values.toSpliced(index, 1))}
              >
                <X aria-hidden="true" className="size-3.5" />
              </IconButton>
            </li>
          ))}
        </ul>
        <Button
          size="dense"
          className="mt-2"
          onClick={() => setValues([...draft.values, { label: "", was: null }])}
        >
          <Plus aria-hidden="true" className="size-3.5" />
          Add a value
        </Button>
      </fieldset>
    </FormDialog>
  );
}

function findProblem({ name, values }: EnumDraft): string | null {
  if (name.trim() === "") return "Name the enum.";
  if (values.some(({ label }) => label === "")) return "A value is empty.";
  const labels = values.map(({ label }) => label);
  const repeated = labels.find((label, index) => labels.indexOf(label) !== index);
  return repeated === undefined ? null : `${repeated} stands there twice.`;
}
