import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { type FormEvent, Suspense, useEffect, useRef, useState } from "react";
import { type UseFormReturn, useForm, useWatch } from "react-hook-form";
import { Input } from "@/components/ui/input";
import { Textarea } from "@/components/ui/textarea";
import { UsernameNote } from "@/components/username-note";
import { lazyPart } from "@/lib/lazy-part";
import { lazyResolver } from "@/lib/lazy-resolver";
import { hasCode, uniqueViolation } from "@/lib/service-error";
import { myProfileKey, type Profile } from "@/lib/session";
import { toast } from "@/lib/toast";
import { usernameAvailableQuery, useUsernameAvailability } from "@/lib/username-availability";
import {
  acknowledge,
  findOvertaken,
  forgetDraft,
  forgetTexts,
  keepDraft,
  onDraftStored,
  readBase,
  readDraft,
  readSent,
  rememberBase,
  rememberSent,
  settleSent,
} from "../api/profile-draft";
import { toastProfileError } from "../api/profile-error";
import type { ProfileValues } from "../api/profile-schema";
import { changesOf, type ProfileField, profileFields, valuesOf } from "../api/profile-values";
import { useUpdateProfile } from "../api/update-profile";
import { AvatarField } from "./avatar-field";

const OvertakenDialog = lazyPart(
  async () => ({ default: (await import("@/components/overtaken-dialog")).OvertakenDialog }),
  "overlay",
);

interface ProfileFormProps {
  profile: Profile;
  email: string | undefined;
  /** The short form has only username and avatar. */
  form: "short" | "full";
  /** Called after the profile is saved. */
  onSaved?: () => void;
  /** The short form can be closed without saving. */
  onCancel?: () => void;
}

/** The fields that each form shows, checks, saves and stores as draft. */
const formFields: Record<ProfileFormProps["form"], readonly ProfileField[]> = {
  short: ["username"],
  full: profileFields,
};

const linkFields = [
  { field: "instagramUrl", label: "Instagram", example: "https://instagram.com/you" },
  { field: "twitterUrl", label: "Twitter", example: "https://twitter.com/you" },
  { field: "websiteUrl", label: "Website", example: "https://example.com" },
] as const satisfies { field: ProfileField; label: string; example: string }[];

const fieldViews: Record<ProfileField, { label: string }> = {
  username: { label: "Username" },
  fullName: { label: "Display Name" },
  bio: { label: "Bio" },
  instagramUrl: { label: "Instagram" },
  twitterUrl: { label: "Twitter" },
  websiteUrl: { label: "Website" },
};

/** Edits the public profile. What is typed survives leaving the page, a reload and the end of the session. */
export function ProfileForm({ profile, email, form, onSaved, onCancel }: ProfileFormProps) {
  const { fields, changes, submit, discard, isSaving, overtaken } = useProfileForm(
    profile,
    form,
    onSaved,
  );
  const hasChanges = Object.keys(changes).length > 0;

  return (
    <form
      noValidate
      onSubmit={submit}
      aria-label="Edit profile"
      className="flex max-w-2xl flex-col gap-6"
    >
      {/* Always rendered, because screen readers announce changes only of what was there before. */}
      <div role="status" className="empty:-mb-6">
        {hasChanges && (
          <p className="rounded-md border border-line bg-surface px-4 py-3 text-small">
            You have unsaved changes. They are kept in this browser until you save or reset them.
          </p>
        )}
      </div>
      <AvatarField profile={profile} email={email} />
      <UsernameField fields={fields} current={profile.username ?? ""} />
      {form === "full" && <TextFields fields={fields} />}
      <div className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" size="lg" pending={isSaving}>
          {form === "short" ? "Save Changes" : "Update Profile"}
        </Button>
        <Button
          size="lg"
          onClick={() => {
            discard();
            onCancel?.();
          }}
        >
          {form === "short" ? "Cancel" : "Reset"}
        </Button>
      </div>
      {overtaken !== null && (
        <Suspense>
          <OvertakenDialog noun="profile" overtaken={overtaken} fields={fieldViews} />
        </Suspense>
      )}
    </form>
  );
}

type Fields = UseFormReturn<ProfileValues>;

/** The username with its availability, checked while it is typed. */
function UsernameField({ fields, current }: { fields: Fields; current: string }) {
  const username = useWatch({ control: fields.control, name: "username" });
  const availability = useUsernameAvailability(username, current);
  return (
    <Field
      label="Username"
      error={fields.formState.errors.username?.message}
      hint={
        <UsernameNote
          {...availability}
          username={username.trim()}
          onChoose={(suggestion) =>
            fields.setValue("username", suggestion, { shouldValidate: true, shouldTouch: true })
          }
        />
      }
    >
      {(attributes) => (
        <Input
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          {...attributes}
          {...fields.register("username")}
        />
      )}
    </Field>
  );
}

/** The fields that the short form leaves out. */
function TextFields({ fields }: { fields: Fields }) {
  const { register } = fields;
  const { errors } = fields.formState;
  return (
    <>
      <Field label="Display Name" error={errors.fullName?.message}>
        {(attributes) => <Input autoComplete="name" {...attributes} {...register("fullName")} />}
      </Field>
      <Field label="Bio" error={errors.bio?.message} hint="Up to 1000 characters.">
        {(attributes) => <Textarea {...attributes} {...register("bio")} />}
      </Field>
      <fieldset className="flex flex-col gap-6">
        <legend className="mb-4 font-serif text-name">Social Links</legend>
        {linkFields.map(({ field, label, example }) => (
          <Field key={field} label={label} error={errors[field]?.message}>
            {(attributes) => (
              <Input
                type="url"
                inputMode="url"
                placeholder={example}
                {...attributes}
                {...register(field)}
              />
            )}
          </Field>
        ))}
      </fieldset>
    </>
  );
}

/** Fields of the profile that another tab or device has saved since their edit began here. */
class ChangedElsewhereError extends Error {
  readonly overtaken: readonly ProfileField[];
  /** Fields that were changed elsewhere alone. */
  readonly others: readonly ProfileField[];
  readonly changed: Partial<ProfileValues>;
  readonly present: Profile;

  constructor(
    overtaken: readonly ProfileField[],
    others: readonly ProfileField[],
    changed: Partial<ProfileValues>,
    present: Profile,
  ) {
    super("The profile was changed elsewhere.");
    this.overtaken = overtaken;
    this.others = others;
    this.changed = changed;
    this.present = present;
  }
}

/** The fields that were saved elsewhere while others were edited here. */
function changedBeside(
  before: ProfileValues,
  changed: Partial<ProfileValues>,
  present: ProfileValues,
): ProfileField[] {
  return profileFields.filter(
    (field) => changed[field] === undefined && present[field] !== before[field],
  );
}

/** What is said after a save. */
function savedText(others: readonly ProfileField[]): string {
  if (others.length === 0) return "Your profile has been updated successfully.";
  const names = others.map((field) => fieldViews[field].label).join(", ");
  return `Changed elsewhere, and kept: ${names}.`;
}

/** The form's state: it begins with the draft, keeps it up to date, and saves the fields that were changed. */
function useProfileForm(profile: Profile, form: "short" | "full", onSaved?: () => void) {
  const { id: userId } = profile;
  const queryClient = useQueryClient();
  const update = useUpdateProfile();
  const [conflict, setConflict] = useState<ChangedElsewhereError | null>(null);
  // What this form has saved is rendered a moment later.
  const newest = useRef(profile);
  /** What was saved when the form was filled last: what differs from it was typed here. */
  const filled = useRef(profile);
  const shown = formFields[form];
  /** What was saved when the edit of each field began. It belongs to what this form shows: other tabs forget theirs when they save. */
  const begun = useRef<Partial<ProfileValues>>({});
  const stored = valuesOf(profile);
  const fields = useForm<ProfileValues>({
    resolver: lazyResolver(async () =>
      (await import("../api/profile-schema")).profileResolver(form, profile.username !== null),
    ),
    mode: "onTouched",
    defaultValues: { ...stored, ...readDraft(userId, shown) },
  });
  useEffect(() => {
    begun.current = { ...readBase(userId), ...begun.current };
  }, [userId]);
  const { getValues, reset, setFocus, watch } = fields;
  const values = useWatch({ control: fields.control });
  const changes = changesOf(values, stored);

  useEffect(() => {
    // Another tab or device, or this form, has saved the profile: what was typed stays, the rest is shown as saved.
    const typed = changesOf(getValues(), valuesOf(filled.current));
    reset({ ...valuesOf(profile), ...typed }, { keepErrors: true, keepTouched: true });
    filled.current = profile;
    const open = changesOf(typed, valuesOf(profile));
    for (const field of profileFields) if (!(field in open)) delete begun.current[field];
    const subscription = watch((edited, { name }) => {
      if (name === undefined) return;
      const now = valuesOf(profile);
      const text = edited[name];
      if (text === undefined || text === now[name]) {
        forgetDraft(userId, [name]);
        delete begun.current[name];
      } else {
        rememberBase(userId, { [name]: text }, now);
        begun.current[name] ??= now[name];
        keepDraft(userId, { [name]: text });
      }
    });
    return () => subscription.unsubscribe();
  }, [profile, userId, getValues, reset, watch]);

  // Tabs that are open beside each other show the same texts, which are those that a reload would show: else the next letter in one
  // of them would replace what another has typed into the same field.
  useEffect(
    () =>
      onDraftStored(userId, () => {
        const now = valuesOf(profile);
        const texts = readDraft(userId, shown);
        const before = getValues();
        const followed = { ...before };
        for (const field of shown) followed[field] = texts[field] ?? now[field];
        const changed = changesOf(followed, before);
        if (Object.keys(changed).length === 0) return;
        reset(followed, { keepErrors: true, keepTouched: true });
        for (const field of shown) if (!(field in texts)) delete begun.current[field];
        begun.current = { ...readBase(userId), ...begun.current };
        // A text that is gone was saved there, or given up.
        const isGone = shown.some((field) => field in changed && !(field in texts));
        if (isGone) void queryClient.invalidateQueries({ queryKey: myProfileKey(userId) });
      }),
    [profile, userId, shown, getValues, reset, queryClient],
  );

  function refuseUsername() {
    // The note under the field shows the error, too, with suggestions, after the name was checked again.
    void queryClient.invalidateQueries({ queryKey: ["profiles", "username-available"] });
    toast("Username not available", "Please choose a different username.", "danger");
    setFocus("username");
  }

  /** Saves what differs from the profile as it is known. `typed` is the text of the fields, which has blanks at its ends as well. */
  async function save(entered: ProfileValues, known: Profile, typed: ProfileValues) {
    const before = valuesOf(known);
    const changed = changesOf(entered, before);
    // Read before this attempt is noted: it is compared with what earlier ones may have saved.
    const sent = readSent(userId);
    function check(present: Profile) {
      const overtaken = findOvertaken(begun.current, changed, valuesOf(present), sent);
      if (overtaken.length === 0) return;
      const others = changedBeside(before, changed, valuesOf(present));
      throw new ChangedElsewhereError(overtaken, others, changed, present);
    }
    const wanted = changed.username ?? "";
    if (wanted !== "" && wanted.toLowerCase() !== before.username.toLowerCase()) {
      // The note under the field lags behind typing, so the name is checked again. A failed check counts as taken.
      const isFree = await queryClient
        .fetchQuery(usernameAvailableQuery(wanted))
        .catch(() => false);
      if (!isFree) return refuseUsername();
    }
    try {
      // The draft may have begun with an older profile than this one.
      check(known);
      rememberSent(userId, changed);
      const saved = await update.mutateAsync({ known, changes: changed, check });
      newest.current = saved;
      // What was typed while it was being saved stays, as a draft of the next change.
      settleSent(userId, changed, valuesOf(saved));
      const kept = changesOf(getValues(), typed);
      forgetTexts(userId, typed);
      begun.current = Object.fromEntries(
        profileFields.filter((one) => one in kept).map((one) => [one, valuesOf(saved)[one]]),
      );
      filled.current = saved;
      reset({ ...valuesOf(saved), ...kept }, { keepErrors: true, keepTouched: true });
      const others = changedBeside(before, changed, valuesOf(saved));
      toast("Profile updated", savedText(others), "success");
      // It closes the short form, which stays while something in it is not saved.
      if (Object.keys(kept).length === 0) onSaved?.();
    } catch (error) {
      if (error instanceof ChangedElsewhereError) setConflict(error);
      else if (hasCode(error, uniqueViolation)) refuseUsername();
      else toastProfileError(error);
    }
  }
  function submit(event?: FormEvent): Promise<void> {
    const typed = { ...getValues() };
    return fields.handleSubmit((entered) => {
      const { current } = newest;
      return save(entered, current.version > profile.version ? current : profile, typed);
    })(event);
  }

  function discard() {
    forgetTexts(userId, changes);
    begun.current = {};
    reset(valuesOf(profile));
  }

  /** Goes on with the profile as it is saved by now, without the own edits of the taken fields. */
  function resolve(
    { overtaken, changed, present }: ChangedElsewhereError,
    taken: readonly string[],
  ) {
    const theirs = valuesOf(present);
    // With what was typed since that save was sent; the fields are not locked meanwhile.
    const typed = Object.entries({
      ...changed,
      ...changesOf(getValues(), valuesOf(filled.current)),
    });
    const mine = typed.filter(([field]) => !taken.includes(field));
    const entered = { ...theirs, ...Object.fromEntries(mine) };
    acknowledge(userId, overtaken, theirs);
    for (const field of overtaken) begun.current[field] = theirs[field];
    forgetTexts(userId, Object.fromEntries(typed.filter(([field]) => taken.includes(field))));
    keepDraft(userId, changesOf(entered, theirs));
    filled.current = present;
    reset(entered, { keepErrors: true, keepTouched: true });
    queryClient.setQueryData(myProfileKey(userId), present);
    setConflict(null);
    newest.current = present;
    if (mine.length > 0) void submit();
  }

  return {
    fields,
    changes,
    submit,
    discard,
    overtaken: conflict && {
      fields: conflict.overtaken,
      others: conflict.others,
      mine: conflict.changed,
      theirs: valuesOf(conflict.present),
      resolve: (taken: readonly string[]) => resolve(conflict, taken),
      dismiss: () => setConflict(null),
    },
    isSaving: update.isPending || fields.formState.isSubmitting,
  };
}
