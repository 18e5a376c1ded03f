import { Field } from "@ui/field";
import { SavingFields } from "@ui/saving-fields";
import { Controller } from "react-hook-form";
import type * as z from "zod/mini";
import { type FieldView, OvertakenDialog, showPicture } from "@/components/overtaken-dialog";
import { Input } from "@/components/ui/input";
import type { PicturePlace } from "@/lib/admin-pictures";
import type { RowChange } from "@/lib/admin-rows";
import { Choices, ColorPicker, Select, TextArea } from "./controls";
import { EditDialog } from "./edit-dialog";
import { FormFooter } from "./form-footer";
import { PictureField } from "./picture-field";
import { useRowForm } from "./use-row-form";

/** Values of a form: texts by column. An empty text is stored as null where the column allows it. */
export type FormValues = Record<string, string>;

interface FieldBase {
  /** Column of the database. */
  name: string;
  label: string;
  hint?: string;
  /** Whether the row is not saved without it; the field is marked (admin.css). */
  isRequired?: boolean;
}

export type FieldSpec = FieldBase &
  (
    | { kind: "text" | "long-text" | "color" }
    | { kind: "picture"; place: PicturePlace }
    | {
        kind: "choice";
        options: readonly { id: string; name: string }[] | undefined;
        prompt: string;
      }
  );

interface EntityFormProps<Row> {
  title: string;
  /** What is edited, as in "brand". */
  noun: string;
  fields: readonly FieldSpec[];
  schema: z.ZodMiniType<FormValues, FormValues>;
  /** Null for a new row. */
  row: Row | null;
  toValues: (row: Row | null) => FormValues;
  /** Saves the values; a rejected promise leaves the form open. */
  onSave: (change: RowChange<FormValues>) => Promise<unknown>;
  onClose: () => void;
}

/** The form of a catalogue row in a panel. Fields are checked when they lose the focus and explain what is wrong below. */
export function EntityForm<Row extends { id: string; version: number }>({
  title,
  noun,
  fields,
  schema,
  row,
  toValues,
  onSave,
  onClose,
}: EntityFormProps<Row>) {
  const { form, submit, isSaving, cancel, onUploaded, overtaken } = useRowForm<FormValues, Row>({
    row,
    schema,
    toValues,
    pictures: fields.flatMap((field) => (field.kind === "picture" ? [field.name] : [])),
    save: onSave,
    onClose,
  });
  const { control, formState } = form;
  return (
    <EditDialog title={title} isDirty={formState.isDirty} onClose={cancel}>
      <form noValidate onSubmit={submit} className="flex flex-1 flex-col gap-4">
        <SavingFields isSaving={isSaving} className="flex flex-col gap-4">
          {fields.map((spec) => (
            <Controller
              key={spec.name}
              control={control}
              name={spec.name}
              render={({ field, fieldState }) => (
                <EntityField
                  spec={spec}
                  field={{ ...field, value: field.value ?? "" }}
                  error={fieldState.error?.message}
                  onUploaded={onUploaded}
                />
              )}
            />
          ))}
        </SavingFields>
        <FormFooter pending={isSaving} />
      </form>
      {overtaken !== null && (
        <OvertakenDialog
          noun={noun}
          overtaken={overtaken}
          fields={Object.fromEntries(fields.map((spec) => [spec.name, viewOf(spec)]))}
        />
      )}
    </EditDialog>
  );
}

/** How a value of the field is shown beside another one. */
function viewOf(spec: FieldSpec): FieldView {
  const { label } = spec;
  if (spec.kind === "picture") return { label, show: showPicture };
  if (spec.kind !== "choice") return { label };
  const nameOf = (id: unknown) => spec.options?.find((option) => option.id === id)?.name;
  return { label, show: (id) => nameOf(id) ?? "Not in the list" };
}

interface EntityFieldProps {
  spec: FieldSpec;
  field: {
    name: string;
    value: string;
    onChange: (value: string) => void;
    onBlur: () => void;
    ref: (element: HTMLElement | null) => void;
  };
  error: string | undefined;
  onUploaded: (url: string) => void;
}

function EntityField({ spec, field, error, onUploaded }: EntityFieldProps) {
  if (spec.kind === "picture") {
    return (
      <PictureField
        label={spec.label}
        hint={spec.hint}
        place={spec.place}
        value={field.value}
        error={error}
        onChange={field.onChange}
        onBlur={field.onBlur}
        onUploaded={onUploaded}
      />
    );
  }
  const common = {
    name: field.name,
    value: field.value,
    onBlur: field.onBlur,
    onChange: (event: { target: { value: string } }) => field.onChange(event.target.value),
    ref: field.ref,
    "aria-required": spec.isRequired,
  };
  return (
    <Field label={spec.label} error={error} hint={spec.hint}>
      {(attributes) => {
        if (spec.kind === "long-text") return <TextArea {...attributes} {...common} />;
        if (spec.kind === "choice") {
          return (
            <Select {...attributes} {...common}>
              <Choices prompt={spec.prompt} rows={spec.options} chosen={field.value} />
            </Select>
          );
        }
        if (spec.kind === "color") {
          return (
            <div className="flex items-center gap-3">
              <Input {...attributes} {...common} />
              <ColorPicker label="Color picker" value={field.value} onChange={field.onChange} />
            </div>
          );
        }
        return <Input {...attributes} {...common} />;
      }}
    </Field>
  );
}
