import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { useEffect } from "react";
import { type UseFormReturn, useForm, useWatch } from "react-hook-form";
import { Input } from "@/components/ui/input";
import { Textarea } from "@/components/ui/textarea";
import { UsernameNote } from "@/components/username-note";
import { lazyResolver } from "@/lib/lazy-resolver";
import { hasCode, uniqueViolation } from "@/lib/service-error";
import type { Profile } from "@/lib/session";
import { toast } from "@/lib/toast";
import { usernameAvailableQuery, useUsernameAvailability } from "@/lib/username-availability";
import {
  findOvertaken,
  type Overtaken,
  readDraft,
  rememberBase,
  rememberSent,
  settleSent,
  writeDraft,
} from "../api/profile-draft";
import { toastProfileError } from "../api/profile-error";
import type { ProfileValues } from "../api/profile-schema";
import { changesOf, type ProfileField, profileFields, valuesOf } from "../api/profile-values";
import { readProfile, useUpdateProfile } from "../api/update-profile";
import { AvatarField } from "./avatar-field";

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

/** Edits the public profile. What is typed survives leaving the page, a reload and the end of the session. */
export function ProfileForm({ profile, email, form, onSaved, onCancel }: ProfileFormProps) {
  const { id: userId } = profile;
  const { fields, changes, submit, isSaving } = useProfileForm(profile, form, onSaved);
  const hasChanges = Object.keys(changes).length > 0;

  function discard() {
    writeDraft(userId, {}, formFields[form]);
    fields.reset(valuesOf(profile));
  }

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

function describeOvertaken(overtaken: readonly Overtaken[]): string {
  const now = overtaken.map(({ label, theirs }) =>
    theirs === "" ? `${label} is empty` : `${label} is “${theirs}”`,
  );
  return `${now.join(", ")} by now. Save again to replace ${now.length === 1 ? "it" : "them"}.`;
}

/** The form's state: it begins with the draft, keeps it up to date, and saves the fields that were changed. */
function useProfileForm(profile: Profile, form: "short" | "full", onSaved?: () => void) {
  const { id: userId } = profile;
  const queryClient = useQueryClient();
  const update = useUpdateProfile(userId);
  const shown = formFields[form];
  const stored = valuesOf(profile);
  const fields = useForm<ProfileValues>({
    resolver: lazyResolver(async () =>
      (await import("../api/profile-schema")).profileResolver(form, profile.username !== null),
    ),
    mode: "onTouched",
    defaultValues: { ...stored, ...readDraft(userId, shown) },
  });
  const { reset, setFocus, watch } = fields;
  const values = useWatch({ control: fields.control });
  const changes = changesOf(values, stored);

  useEffect(() => {
    // Another tab or device, or this form, has saved the profile: unsaved fields stay, the others are shown as saved.
    reset(
      { ...valuesOf(profile), ...readDraft(userId, shown) },
      { keepErrors: true, keepTouched: true },
    );
    const subscription = watch((edited, { name }) => {
      if (name === undefined) return;
      const now = valuesOf(profile);
      rememberBase(userId, changesOf(edited, now), now);
      writeDraft(userId, changesOf(edited, now), shown);
    });
    return () => subscription.unsubscribe();
  }, [profile, userId, shown, reset, watch]);

  function refuseUsername() {
    // The note under the field shows the error, too, with suggestions, after the name was checked again.
    void queryClient.invalidateQueries({ queryKey: ["profiles", "username-available"] });
    toast("Username not available", "Please choose a different username.", "danger");
    setFocus("username");
  }

  const submit = fields.handleSubmit(async (entered) => {
    const changed = changesOf(entered, stored);
    // Without an answer nothing is compared, and saving meets the same failure.
    const present = await readProfile(userId).catch(() => profile);
    const overtaken = findOvertaken(userId, changed, valuesOf(present));
    if (overtaken.length > 0) {
      toast("Your profile was changed elsewhere", describeOvertaken(overtaken), "danger");
      return;
    }
    const wanted = changed.username ?? "";
    if (wanted !== "" && wanted.toLowerCase() !== stored.username.toLowerCase()) {
      // The note under the field lags behind typing, so the name is checked again. A failed check counts as taken.
      const isFree = await queryClient
        .fetchQuery(usernameAvailableQuery(wanted))
        .catch(() => false);
      if (!isFree) return refuseUsername();
    }
    rememberSent(userId, changed);
    update.mutate(changed, {
      onSuccess: (saved) => {
        // What was typed while it was being saved stays, as a draft of the next change.
        settleSent(userId, changed, valuesOf(saved));
        const kept = changesOf(fields.getValues(), entered);
        writeDraft(userId, kept, shown);
        reset({ ...valuesOf(saved), ...kept }, { keepErrors: true, keepTouched: true });
        toast("Profile updated", "Your profile has been updated successfully.", "success");
        onSaved?.();
      },
      onError: (error) => {
        if (hasCode(error, uniqueViolation)) refuseUsername();
        else toastProfileError(error);
      },
    });
  });

  return {
    fields,
    changes,
    submit,
    isSaving: update.isPending || fields.formState.isSubmitting,
  };
}
