import { zodResolver } from "@hookform/resolvers/zod";
import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { useEffect, useId, useRef, useState } from "react";
import { useForm, useWatch } from "react-hook-form";
import { KeepTyped } from "@/components/admin/keep-typed";
import { Switch } from "@/components/admin/switch";
import { OvertakenDialog } from "@/components/overtaken-dialog";
import { Input } from "@/components/ui/input";
import type { EditBase } from "@/lib/admin-rows";
import { calmResolver } from "@/lib/calm-resolver";
import { isOvertaken, type OvertakenError } from "@/lib/save-changes";
import { type SiteSettings, siteNameSchema, useSaveSettings } from "../api/site-settings";

type SiteName = Pick<SiteSettings, "site_name">;

/** The settings of the site. The name is saved by a button, the switches immediately. */
export function SiteForm({ settings }: { settings: SiteSettings }) {
  const save = useSaveSettings();
  const { site_name } = settings;
  const { register, handleSubmit, formState, reset, getValues, control } = useForm({
    resolver: calmResolver(zodResolver(siteNameSchema)),
    mode: "onTouched",
    defaultValues: { site_name },
  });
  const typed = useWatch({ control, name: "site_name" });
  const base = useRef<EditBase<SiteName>>({ values: { site_name }, version: settings.version });
  const [failure, setFailure] = useState<OvertakenError | null>(null);
  const { version } = settings;
  useEffect(() => {
    // Follows a change by Undo or by another administrator, except where something was typed.
    if (getValues("site_name") !== base.current.values.site_name) return;
    base.current = { values: { site_name }, version };
    reset({ site_name });
  }, [getValues, reset, site_name, version]);

  const submitName = handleSubmit(async (values) => {
    try {
      const { values: before, version } = base.current;
      const saved = await save.mutateAsync({ values, before, version });
      base.current = { values, version: saved ?? version };
      // What was typed while it was being saved stays.
      if (getValues("site_name").trim() === values.site_name) reset(values);
    } catch (error) {
      // A toast tells about all other failures.
      if (isOvertaken(error)) setFailure(error);
    }
  });

  function resolve(theirs: OvertakenError, taken: readonly string[]) {
    const now = `${theirs.present.site_name}`;
    base.current = { values: { site_name: now }, version: Number(theirs.present.version) };
    setFailure(null);
    if (taken.length > 0) reset({ site_name: now });
    else void submitName();
  }

  function toggle(name: "registration_open" | "review_required", value: boolean) {
    save.mutate({ values: { [name]: value }, before: { [name]: settings[name] }, version });
  }

  return (
    <div className="flex flex-col gap-5">
      <form noValidate onSubmit={submitName} className="flex max-w-lg items-start gap-3">
        <KeepTyped isDirty={formState.isDirty} />
        <div className="flex-1">
          <Field
            label="Site name"
            hint="The wordmark and the titles of pages. Pages that are already open keep the old name."
            error={formState.errors.site_name?.message}
          >
            {(attributes) => (
              <Input autoComplete="off" {...attributes} {...register("site_name")} />
            )}
          </Field>
        </div>
        <Button
          type="submit"
          size="lg"
          pending={formState.isSubmitting}
          disabled={typed === site_name}
          className="mt-[1.9rem]"
        >
          Save
        </Button>
      </form>
      <SwitchRow
        title="Registration"
        text={
          settings.registration_open
            ? "Everybody may create an account."
            : "Nobody can create an account. People who have one can still sign in."
        }
        checked={settings.registration_open}
        disabled={save.isPending}
        onChange={(value) => toggle("registration_open", value)}
      />
      <SwitchRow
        title="Review of submissions"
        text={
          settings.review_required
            ? "New outfits of users wait until an administrator approves them."
            : "New outfits of users are published at once. Those that already wait still need a decision."
        }
        checked={settings.review_required}
        disabled={save.isPending}
        onChange={(value) => toggle("review_required", value)}
      />
      {failure !== null && (
        <OvertakenDialog
          noun="setting"
          overtaken={{
            fields: ["site_name"],
            others: failure.others,
            mine: getValues(),
            theirs: failure.present,
            resolve: (taken) => resolve(failure, taken),
            dismiss: () => setFailure(null),
          }}
          fields={{ site_name: { label: "Site name" } }}
        />
      )}
    </div>
  );
}

interface SwitchRowProps {
  title: string;
  text: string;
  checked: boolean;
  disabled: boolean;
  onChange: (checked: boolean) => void;
}

function SwitchRow({ title, text, checked, disabled, onChange }: SwitchRowProps) {
  const id = useId();
  return (
    <div className="flex items-center justify-between gap-6 border-line border-t pt-4">
      <div>
        <p className="font-medium text-small">{title}</p>
        <p id={id} className="text-caption text-ink-soft">
          {text}
        </p>
      </div>
      <Switch
        label={title}
        describedBy={id}
        checked={checked}
        disabled={disabled}
        onChange={onChange}
      />
    </div>
  );
}
