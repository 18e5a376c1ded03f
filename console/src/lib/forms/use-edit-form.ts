/**
 * The state of a form that edits something saved. The state in which the edit began is kept with what is typed. When somebody else
 * saves meanwhile, untouched fields follow and touched ones stay; when the form is saved, only its own changes are, and a field that
 * both have changed is asked about.
 */
import {
  type EditConflict,
  isSameValue,
  type MergedEdit,
  mergeEdit,
  type OtherEdit,
} from "@ui/merge-edit";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import {
  type DefaultValues,
  type FieldErrors,
  type FieldValues,
  type Path,
  type PathValue,
  type Resolver,
  useForm,
  useWatch,
} from "react-hook-form";
import type * as z from "zod/mini";

interface EditFormOptions<Values extends FieldValues, Saved extends object> {
  /** What is saved, as far as it is known. A newer state may come at any time. For something new, what the form begins with. */
  saved: Saved;
  /** What the fields show of it. */
  valuesOf: (saved: Saved) => Values;
  /** What the fields mean; called with valid values alone. */
  savedOf: (values: Values) => Saved;
  /** The rules of the fields, with the messages that are shown. */
  schema: z.ZodMiniType<unknown, Values>;
  /** Reads what is saved at the moment, before it is overwritten. Without it the newest known state counts. */
  read?: () => Promise<Saved>;
  /**
   * Saves over what is saved at the moment, and returns the state that is saved then; null where nothing is saved yet, because a
   * question stands over the form. Then the edit stays as it is.
   */
  write: (merged: MergedEdit<Saved>, theirs: Saved) => Promise<Saved | null>;
  /**
   * Whether something is made that was not there before, which is saved also as the form has begun with it. Nobody else can have
   * saved it, so what the form began with stays, whatever `saved` is later: the proposals of a form are no news for its fields.
   */
  isNew?: boolean;
  onSaved?: (saved: Saved) => void;
}

/** What both have changed, what the others have changed besides, and what is saved. */
interface Collision<Saved> {
  conflicts: EditConflict[];
  others: OtherEdit[];
  theirs: Saved;
}

function resolverOf<Values extends FieldValues>(
  schema: z.ZodMiniType<unknown, Values>,
): Resolver<Values> {
  return (values) => {
    const { error } = schema.safeParse(values);
    if (error === undefined) return { values, errors: {} };
    const faults = error.issues.map(({ path, message }) => [
      path.join("."),
      { type: "invalid", message },
    ]);
    // The first fault of a field is shown.
    const errors: FieldErrors<Values> = Object.fromEntries(faults.reverse());
    return { values: {}, errors };
  };
}

export function useEditForm<Values extends FieldValues, Saved extends object>({
  saved: given,
  valuesOf,
  savedOf,
  schema,
  read,
  write,
  isNew = false,
  onSaved,
}: EditFormOptions<Values, Saved>) {
  const [begun] = useState(given);
  const saved = isNew ? begun : given;
  const form = useForm<Values>({
    resolver: resolverOf(schema),
    mode: "onTouched",
    defaultValues: valuesOf(saved) as DefaultValues<Values>,
  });
  /** The state in which the edit of each field began. */
  const [base, setBase] = useState<Values>(() => valuesOf(saved));
  const newestBase = useRef(base);
  const [collision, setCollision] = useState<Collision<Saved> | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isSaving, setSaving] = useState(false);
  const values = useWatch({ control: form.control }) as Values;

  function keepBase(next: Values): void {
    newestBase.current = next;
    setBase(next);
  }
  function show(field: string, value: unknown): void {
    form.setValue(field as Path<Values>, value as PathValue<Values, Path<Values>>, {
      shouldValidate: form.formState.isSubmitted,
    });
  }
  /** Shows a newer saved state in the fields that are as they were; the others keep what is typed, and their base. */
  function follow(next: Values, untouched: Values, keepsBase: boolean): void {
    const shown: Record<string, unknown> = form.getValues();
    const followed: Record<string, unknown> = { ...next };
    for (const [field, value] of Object.entries(next)) {
      if (isSameValue(shown[field], untouched[field])) {
        if (!isSameValue(shown[field], value)) show(field, value);
      } else if (keepsBase) followed[field] = newestBase.current[field];
    }
    keepBase(followed as Values);
  }

  const savedText = JSON.stringify(saved);
  /** The saved states that are known and that the fields have followed. */
  const newestText = useRef(savedText);
  const followedText = useRef(savedText);
  const followSaved = useEffectEvent(() => {
    newestText.current = savedText;
    if (isSaving || followedText.current === savedText) return;
    followedText.current = savedText;
    const next = valuesOf(saved);
    if (!isSameValue(next, newestBase.current)) follow(next, newestBase.current, true);
  });
  // A refetch brings equal states as new objects. What comes during a save is followed when it ends without having saved.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says whether the state is another one.
  useEffect(() => followSaved(), [savedText, isSaving]);

  async function save(sent: Values, started: Values): Promise<void> {
    if (isSaving) return;
    setError(null);
    setCollision(null);
    setSaving(true);
    try {
      const theirs = read === undefined ? saved : await read();
      const merged = mergeEdit(savedOf(started), savedOf(sent), theirs);
      if (merged.conflicts.length > 0) {
        setCollision({ conflicts: merged.conflicts, others: merged.others, theirs });
        return;
      }
      const isSame = !isNew && Object.keys(merged.changes).length === 0;
      const written = isSame ? theirs : await write(merged, theirs);
      if (written === null) return;
      // What was typed while it was being saved differs from what was sent, and stays.
      follow(valuesOf(written), sent, false);
      // What was read meanwhile is older than what was written.
      followedText.current = newestText.current;
      onSaved?.(written);
    } catch (failure) {
      setError(failure);
    } finally {
      setSaving(false);
    }
  }

  /** Goes on from what the others have saved. Text that means nothing stays as it is, with its error and the question. */
  function joinWithTheirs(result: "values" | "yielded"): void {
    if (collision === null) return;
    const { theirs } = collision;
    void form.handleSubmit(async (shown) => {
      const merged = mergeEdit(savedOf(newestBase.current), savedOf(shown), theirs);
      const next = valuesOf(merged[result]);
      const started = valuesOf(theirs);
      if (result === "yielded") form.reset(next);
      else for (const [field, value] of Object.entries(next)) show(field, value);
      keepBase(started);
      setCollision(null);
      if (result === "values") await save(structuredClone(form.getValues()), started);
    })();
  }

  return {
    form,
    errors: form.formState.errors,
    isSaving,
    error,
    isDirty: !isSameValue(values, base),
    /** What the fields show. */
    values,
    /** What they showed when the edit of each began. */
    base,
    /** What is saved, as far as it is known; for something new, what the form began with. */
    saved,
    /** What others have changed as well since the edit began; null while there is no such thing. */
    collision,
    submit: form.handleSubmit((sent) => save(structuredClone(sent), newestBase.current)),
    discard(): void {
      setCollision(null);
      setError(null);
      const next = valuesOf(saved);
      form.reset(next);
      keepBase(next);
    },
    /** Saves the own changes over those of the others. Fields that only the others have changed keep the others' values. */
    keepMine: () => joinWithTheirs("values"),
    /** Takes the others' values where both have changed something, and keeps the rest of the edit. */
    takeTheirs: () => joinWithTheirs("yielded"),
  };
}

export type EditForm<Values extends FieldValues, Saved extends object> = ReturnType<
  typeof useEditForm<Values, Saved>
>;
