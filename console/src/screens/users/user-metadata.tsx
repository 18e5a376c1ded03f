import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { keepLineEnds } from "@ui/line-ends";
import { isOtherPage, type Step } from "@ui/typed-forms";
import { useController } from "react-hook-form";
import * as z from "zod/mini";
import { CollisionNotice } from "@/components/collision-notice";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Textarea } from "@/components/input";
import { KeepTyped } from "@/components/keep-typed";
import { useEditForm } from "@/lib/forms/use-edit-form";
import { findExact, roundedFault, writeExact } from "@/lib/json-text";
import { toast } from "@/lib/toast";
import { readUser, type User, updateUser, usersKey } from "./api";
import { parseMetadata } from "./user-model";

interface UserMetadataProps {
  user: User;
  refusal: string | undefined;
}

/** Both metadata objects as JSON that can be edited. */
export function UserMetadata({ user, refusal }: UserMetadataProps) {
  return (
    <div className="grid gap-5">
      <MetadataForm
        user={user}
        part="user_metadata"
        label="User metadata"
        hint="The user can change it, so no policy may trust it."
        refusal={refusal}
      />
      <MetadataForm
        user={user}
        part="app_metadata"
        label="App metadata"
        hint="Only servers and this console change it. It is part of the user's tokens."
        refusal={refusal}
      />
    </div>
  );
}

interface MetadataFormProps extends UserMetadataProps {
  part: "user_metadata" | "app_metadata";
  label: string;
  hint: string;
}

/** The parameters of the address that say which user's which part is shown. */
const place = ["open", "part", "tab"];

/** Whether a step leads to another page, or to another part of this one. */
function isOtherPart(step: Step): boolean {
  const [from, to] = [step.from, step.to].map(({ search }) => new URLSearchParams(search));
  return isOtherPage(step) || place.some((name) => from?.get(name) !== to?.get(name));
}

type Metadata = Record<string, unknown>;

const schema = z.object({
  text: z.string().check((check) => {
    const parsed = parseMetadata(check.value);
    if ("fault" in parsed) {
      check.issues.push({ code: "custom", message: parsed.fault, input: check.value });
    }
  }),
});

const valuesOf = (metadata: Metadata) => ({ text: writeExact(metadata, 2) });

function savedOf({ text }: { text: string }): Metadata {
  const parsed = parseMetadata(text);
  return "value" in parsed ? parsed.value : {};
}

function MetadataForm({ user, part, label, hint, refusal }: MetadataFormProps) {
  const client = useQueryClient();
  const edit = useEditForm({
    saved: user[part] ?? {},
    valuesOf,
    savedOf,
    schema,
    read: async () => (await readUser(user.id))[part] ?? {},
    write: async ({ changes }) => {
      const exact = findExact(changes);
      if (exact !== null) throw new Error(roundedFault(exact));
      // The service merges objects, so a key that was taken out is sent as null.
      const sent = Object.entries(changes).map(([key, value]) => [key, value ?? null]);
      const changed = await updateUser(user.id, { [part]: Object.fromEntries(sent) });
      return changed[part] ?? {};
    },
    onSaved: () => {
      void client.invalidateQueries({ queryKey: usersKey });
      toast({ title: `${label} saved`, tone: "success" });
    },
  });
  const { field } = useController({ control: edit.form.control, name: "text" });
  const parsed = parseMetadata(field.value);
  const isRefused = "fault" in parsed;
  return (
    <form className="grid gap-2" onSubmit={(event) => void edit.submit(event)}>
      <KeepTyped isDirty={edit.isDirty} isLost={isOtherPart} />
      <Field label={label} hint={hint} error={isRefused ? parsed.fault : undefined}>
        {(attributes) => (
          <Textarea
            {...attributes}
            mono
            className="field-sizing-content max-h-96"
            rows={Math.min(16, Math.max(4, field.value.split("\n").length))}
            readOnly={refusal !== undefined}
            title={refusal}
            value={field.value}
            onBlur={field.onBlur}
            onChange={(event) => field.onChange(keepLineEnds(field.value, event.target.value))}
          />
        )}
      </Field>
      {edit.isDirty && (
        <div className="flex gap-2">
          <Button
            size="dense"
            variant="primary"
            type="submit"
            disabled={isRefused}
            pending={edit.isSaving}
          >
            Save
          </Button>
          <Button size="dense" variant="quiet" onClick={edit.discard}>
            Discard
          </Button>
        </div>
      )}
      {edit.collision !== null && (
        <CollisionNotice
          conflicts={edit.collision.conflicts}
          others={edit.collision.others}
          onKeepMine={edit.keepMine}
          onTakeTheirs={edit.takeTheirs}
        />
      )}
      {edit.error !== null && <ErrorNotice title={`${label} was not saved`} error={edit.error} />}
    </form>
  );
}
