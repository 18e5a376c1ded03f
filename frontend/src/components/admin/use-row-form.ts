import { zodResolver } from "@hookform/resolvers/zod";
import { isSameValue } from "@ui/merge-edit";
import { useIsShown } from "@ui/use-is-shown";
import { type BaseSyntheticEvent, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { type DefaultValues, type FieldValues, type Path, useForm } from "react-hook-form";
import type * as z from "zod/mini";
import type { Overtaken } from "@/components/overtaken-dialog";
import type { EditBase, RowChange } from "@/lib/admin-rows";
import { calmResolver } from "@/lib/calm-resolver";
import { FieldError } from "@/lib/field-error";
import type { Row } from "@/lib/present-row";
import { isOvertaken, type OvertakenError } from "@/lib/save-changes";
import { anotherRow } from "./form-footer";
import { useFormPictures } from "./use-form-pictures";

interface RowFormOptions<Values extends FieldValues, Stored> {
  /** The row that is edited; null for a new one. */
  row: Stored | null;
  schema: z.ZodMiniType<Values, Values>;
  /** The form's values of a row, which is the open one or what is stored by now, or of a new one. */
  toValues: (row: Stored | null) => Values;
  /** The row of the lists from the columns of the table, where they have other names. */
  fromColumns?: (columns: Row) => Stored;
  /** Fields with pictures. Files that were uploaded and are not saved are deleted. */
  pictures: readonly (keyof Values & string)[];
  /** Saves; a rejected promise leaves the form open. */
  save: (change: RowChange<Values>) => Promise<unknown>;
  onClose: () => void;
  /** After "Save and add another" (FormFooter): opens the next form in place of this one. */
  onAnother?: (saved: Values) => void;
}

/** Whether the form was sent by the button for one more row. */
function asksForAnother(event: BaseSyntheticEvent | undefined): boolean {
  const native = event?.nativeEvent;
  return (
    native instanceof SubmitEvent &&
    native.submitter instanceof HTMLButtonElement &&
    native.submitter.value === anotherRow
  );
}

/**
 * The form of a row of the catalogue: its values, saving them with the version that they were read with, what becomes of uploaded
 * pictures, and what somebody else has saved in between.
 */
export function useRowForm<
  Values extends FieldValues,
  Stored extends { id: string; version: number },
>(options: RowFormOptions<Values, Stored>) {
  const { row, toValues, pictures: pictureFields } = options;
  const initial = toValues(row);
  const picturesOf = (values: Values) => pictureFields.map((field) => values[field]);
  const base = useRef<EditBase<Values> | null>(row && { values: initial, version: row.version });
  const [newId] = useState(() => crypto.randomUUID());
  const [failure, setFailure] = useState<OvertakenError | null>(null);
  const [isSaving, setSaving] = useState(false);
  const isShown = useIsShown();
  const pictures = useFormPictures(picturesOf(initial));
  const form = useForm<Values>({
    resolver: calmResolver(zodResolver(options.schema)),
    mode: "onTouched",
    defaultValues: initial as DefaultValues<Values>,
  });

  function changeOf(values: Values): RowChange<Values> {
    if (base.current === null) return { id: null, newId, values, before: null };
    const { values: before, version } = base.current;
    // Of a new row there is a base once an earlier attempt has made it and somebody else has changed it.
    return { id: row?.id ?? newId, values, before, version };
  }

  const submit = form.handleSubmit(async (values, event) => {
    setSaving(true);
    try {
      await options.save(changeOf(values));
    } catch (error) {
      // A field that waits cannot be given the focus.
      flushSync(() => setSaving(false));
      if (!isShown()) pictures.discardUploads();
      // A toast tells about all other failures; the form stays open.
      else if (isOvertaken(error)) setFailure(error);
      else if (error instanceof FieldError) {
        const { field, message } = error;
        form.setError(field as Path<Values>, { message }, { shouldFocus: true });
      }
      return;
    }
    pictures.keepOnly(picturesOf(values));
    // Closed meanwhile, it would close the form that is open in its place.
    if (!isShown()) return;
    if (asksForAnother(event) && options.onAnother !== undefined) options.onAnother(values);
    else options.onClose();
  });

  function cancel() {
    // The row that is being saved may show the uploaded files; what becomes of them is known when the server has answered.
    if (!isSaving) pictures.discardUploads();
    options.onClose();
  }

  const storedBy = ({ present }: OvertakenError): Stored =>
    options.fromColumns?.(present) ?? (present as unknown as Stored);

  /** Goes on with the stored row: in these fields with its values, and in others with what was edited here. */
  function takeOver(stored: Stored, taken: readonly string[], asked: Readonly<Row>) {
    const now = toValues(stored);
    const mine = form.getValues();
    const before = base.current?.values ?? initial;
    for (const field of Object.keys(now) as Path<Values>[]) {
      // What was not edited here follows the stored row; otherwise its former value would be saved once more.
      const isMine = field in asked || !isSameValue(mine[field], before[field]);
      if (!isMine || taken.includes(field)) form.setValue(field, now[field]);
    }
    base.current = { values: now, version: stored.version };
  }

  const overtaken: Overtaken<Values> | null = failure && {
    fields: Object.keys(failure.theirs),
    others: failure.others,
    mine: form.getValues(),
    theirs: toValues(storedBy(failure)),
    resolve(taken) {
      // The others are those that were not edited here once the texts of the form are read as values: 19.9 is 19.90.
      takeOver(storedBy(failure), [...taken, ...failure.others], failure.theirs);
      setFailure(null);
      void submit();
    },
    dismiss: () => setFailure(null),
  };

  return { form, submit, isSaving, cancel, onUploaded: pictures.rememberUpload, overtaken };
}
