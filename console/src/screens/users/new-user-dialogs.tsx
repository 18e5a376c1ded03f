import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { type FormEvent, type ReactNode, useState } from "react";
import { useSession } from "@/api/session";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Checkbox, Input, Textarea } from "@/components/input";
import { toast } from "@/lib/toast";
import { createUser, inviteUser, usersKey } from "./api";
import { parseMetadata } from "./user-model";

interface FormDialogProps {
  title: string;
  description: string;
  confirmLabel: string;
  pending: boolean;
  error: unknown;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

function FormDialog(props: FormDialogProps) {
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (!props.pending) props.onSubmit();
  }
  return (
    <Dialog
      title={props.title}
      description={props.description}
      onClose={props.onClose}
      footer={
        <>
          <Button size="dense" onClick={props.onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            type="submit"
            form="user-form"
            pending={props.pending}
          >
            {props.confirmLabel}
          </Button>
        </>
      }
    >
      <form id="user-form" onSubmit={submit} noValidate className="grid gap-4">
        {props.children}
        {props.error !== null && <ErrorNotice title="It was not done" error={props.error} />}
      </form>
    </Dialog>
  );
}

interface CreateUserDialogProps {
  onClose: () => void;
  onCreated: (id: string) => void;
}

/** Makes a user without a mail. */
export function CreateUserDialog({ onClose, onCreated }: CreateUserDialogProps) {
  const client = useQueryClient();
  const [address, setAddress] = useState("");
  const [password, setPassword] = useState("");
  const [isConfirmed, setConfirmed] = useState(true);
  const [metadata, setMetadata] = useState("");
  const [isChecked, setChecked] = useState(false);
  const parsed = parseMetadata(metadata);
  const isPhone = !address.includes("@") && /\d{3}/.test(address);
  const addressFault =
    address.trim() === "" ? "Enter a mail address or a phone number." : undefined;
  const create = useMutation({
    mutationFn: () =>
      createUser({
        ...(isPhone
          ? { phone: address.trim(), phone_confirm: isConfirmed }
          : { email: address.trim(), email_confirm: isConfirmed }),
        ...(password !== "" && { password }),
        ...("value" in parsed && { user_metadata: parsed.value }),
      }),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: usersKey });
      toast({ title: "User created", tone: "success" });
      onCreated(id);
    },
  });
  return (
    <FormDialog
      title="New user"
      description="No mail is sent."
      confirmLabel="Create user"
      pending={create.isPending}
      error={create.error}
      onClose={onClose}
      onSubmit={() => {
        setChecked(true);
        if (addressFault === undefined && "value" in parsed) create.mutate();
      }}
    >
      <Field label="Mail address or phone number" error={isChecked ? addressFault : undefined}>
        {(attributes) => (
          <Input
            {...attributes}
            autoFocus
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
        )}
      </Field>
      <Field label="Password" hint="Empty: the user signs in by a link or a code.">
        {(attributes) => (
          <Input
            {...attributes}
            type="password"
            autoComplete="new-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
      <label htmlFor="user-confirmed" className="flex items-center gap-2.5 text-caption">
        <Checkbox
          id="user-confirmed"
          checked={isConfirmed}
          onChange={(event) => setConfirmed(event.target.checked)}
        />
        The address is confirmed
      </label>
      <Field
        label="User metadata"
        error={"fault" in parsed ? parsed.fault : undefined}
        hint="A JSON object, or empty. Users can change theirs."
      >
        {(attributes) => (
          <Textarea
            {...attributes}
            mono
            placeholder={'{ "name": "Ana" }'}
            value={metadata}
            onChange={(event) => setMetadata(event.target.value)}
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

/** Makes a user and sends the mail of an invitation. */
export function InviteUserDialog({ onClose, onInvited }: InviteUserDialogProps) {
  const client = useQueryClient();
  const { mode } = useSession();
  const [email, setEmail] = useState("");
  const [isChecked, setChecked] = useState(false);
  const fault = /^[^\s@]+@[^\s@]+$/.test(email.trim()) ? undefined : "Enter a mail address.";
  const invite = useMutation({
    mutationFn: () => inviteUser(email.trim(), {}),
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: usersKey });
      toast({ title: "Invitation sent", tone: "success" });
      onInvited(id);
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
      pending={invite.isPending}
      error={invite.error}
      onClose={onClose}
      onSubmit={() => {
        setChecked(true);
        if (fault === undefined) invite.mutate();
      }}
    >
      <Field label="Mail address" error={isChecked ? fault : undefined}>
        {(attributes) => (
          <Input
            {...attributes}
            type="email"
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
