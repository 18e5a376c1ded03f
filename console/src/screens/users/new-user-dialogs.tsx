import { useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { SavingFields } from "@ui/saving-fields";
import { useIsShown } from "@ui/use-is-shown";
import type { FormEventHandler, ReactNode } from "react";
import * as z from "zod/mini";
import { useSession } from "@/api/session";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Checkbox, Input, Textarea } from "@/components/input";
import { useEditForm } from "@/lib/forms/use-edit-form";
import { findRounded, roundedFault } from "@/lib/json-text";
import { toast } from "@/lib/toast";
import { createUser, inviteUser, type NewUser, usersKey } from "./api";
import { parseMetadata } from "./user-model";

interface FormDialogProps {
  title: string;
  description: string;
  confirmLabel: string;
  edit: { submit: FormEventHandler; isSaving: boolean; isDirty: boolean; error: unknown };
  onClose: () => void;
  children: ReactNode;
}

function FormDialog(props: FormDialogProps) {
  const { submit, isSaving, isDirty, error } = props.edit;
  return (
    <Dialog
      title={props.title}
      description={props.description}
      isDirty={isDirty}
      onClose={props.onClose}
      footer={
        <>
          <Button size="dense" onClick={props.onClose}>
            Cancel
          </Button>
          <Button size="dense" variant="primary" type="submit" form="user-form" pending={isSaving}>
            {props.confirmLabel}
          </Button>
        </>
      }
    >
      <form id="user-form" onSubmit={submit} noValidate>
        <SavingFields isSaving={isSaving} className="grid gap-4">
          {props.children}
          {error !== null && <ErrorNotice title="It was not done" error={error} />}
        </SavingFields>
      </form>
    </Dialog>
  );
}

interface CreateUserDialogProps {
  onClose: () => void;
  onCreated: (id: string) => void;
}

const newUserSchema = z.object({
  address: z.string().check(z.trim(), z.minLength(1, "Enter a mail address or a phone number.")),
  password: z.string(),
  isConfirmed: z.boolean(),
  metadata: z.string().check((check) => {
    const parsed = parseMetadata(check.value);
    const rounded = "fault" in parsed ? null : findRounded(check.value);
    const message =
      "fault" in parsed ? parsed.fault : rounded === null ? null : roundedFault(rounded);
    if (message !== null) check.issues.push({ code: "custom", message, input: check.value });
  }),
});

const noUser = { address: "", password: "", isConfirmed: true, metadata: "" };

const same = <T,>(values: T): T => values;

function userOf({ address, password, isConfirmed, metadata }: typeof noUser): NewUser {
  const isPhone = !address.includes("@") && /\d{3}/.test(address);
  const parsed = parseMetadata(metadata);
  return {
    ...(isPhone
      ? { phone: address.trim(), phone_confirm: isConfirmed }
      : { email: address.trim(), email_confirm: isConfirmed }),
    ...(password !== "" && { password }),
    ...("value" in parsed && { user_metadata: parsed.value }),
  };
}

/** Makes a user without a mail. */
export function CreateUserDialog({ onClose, onCreated }: CreateUserDialogProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const edit = useEditForm({
    saved: noUser,
    valuesOf: same,
    savedOf: same,
    schema: newUserSchema,
    write: async ({ values }) => {
      const { id } = await createUser(userOf(values));
      void client.invalidateQueries({ queryKey: usersKey });
      toast({ title: "User created", tone: "success" });
      if (isShown()) onCreated(id);
      return values;
    },
  });
  const { register } = edit.form;
  return (
    <FormDialog
      title="New user"
      description="No mail is sent."
      confirmLabel="Create user"
      edit={edit}
      onClose={onClose}
    >
      <Field label="Mail address or phone number" error={edit.errors.address?.message}>
        {(attributes) => <Input {...attributes} autoFocus {...register("address")} />}
      </Field>
      <Field label="Password" hint="Empty: the user signs in by a link or a code.">
        {(attributes) => (
          <Input
            {...attributes}
            type="password"
            autoComplete="new-password"
            {...register("password")}
          />
        )}
      </Field>
      <label htmlFor="user-confirmed" className="flex items-center gap-2.5 text-caption">
        <Checkbox id="user-confirmed" {...register("isConfirmed")} />
        The address is confirmed
      </label>
      <Field
        label="User metadata"
        error={edit.errors.metadata?.message}
        hint="A JSON object, or empty. Users can change theirs."
      >
        {(attributes) => (
          <Textarea
            {...attributes}
            mono
            placeholder={'{ "name": "Ana" }'}
            {...register("metadata")}
          />
        )}
      </Field>
    </FormDialog>
  );
}

interface InviteUserDialogProps {
  onClose: () => void;
  onInvited: (id: string) => void;
}

const inviteSchema = z.object({
  email: z.string().check(z.trim(), z.regex(/^[^\s@]+@[^\s@]+$/, "Enter a mail address.")),
});

const noInvitation = { email: "" };

/** Makes a user and sends the mail of an invitation. */
export function InviteUserDialog({ onClose, onInvited }: InviteUserDialogProps) {
  const client = useQueryClient();
  const isShown = useIsShown();
  const { mode } = useSession();
  const edit = useEditForm({
    saved: noInvitation,
    valuesOf: same,
    savedOf: same,
    schema: inviteSchema,
    write: async ({ values }) => {
      const { id } = await inviteUser(values.email.trim(), {});
      void client.invalidateQueries({ queryKey: usersKey });
      toast({ title: "Invitation sent", tone: "success" });
      if (isShown()) onInvited(id);
      return values;
    },
  });
  return (
    <FormDialog
      title="Invite a user"
      description={
        mode === "start"
          ? "The mail stays on this machine, in the screen Mail."
          : "The mail has a link with which the user chooses a password."
      }
      confirmLabel="Send invitation"
      edit={edit}
      onClose={onClose}
    >
      <Field label="Mail address" error={edit.errors.email?.message}>
        {(attributes) => (
          <Input {...attributes} type="email" autoFocus {...edit.form.register("email")} />
        )}
      </Field>
    </FormDialog>
  );
}
