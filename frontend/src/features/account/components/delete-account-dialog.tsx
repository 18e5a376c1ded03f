import { Field } from "@ui/field";
import { useState } from "react";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { Input } from "@/components/ui/input";

interface DeleteAccountDialogProps {
  /** The text that must be typed: the username, or the e-mail address of an account without one. */
  expected: string;
  pending: boolean;
  onConfirm: (confirmation: string) => void;
  onClose: () => void;
}

/** Asks to type the username before the account is deleted. */
export function DeleteAccountDialog({
  expected,
  pending,
  onConfirm,
  onClose,
}: DeleteAccountDialogProps) {
  const [typed, setTyped] = useState("");
  const matches = typed.trim().toLowerCase() === expected.toLowerCase();
  return (
    <ConfirmDialog
      title="Delete your account?"
      text="Your profile, photos, likes, bookmarks and unpublished outfits are deleted for good, and you are signed out everywhere. Published outfits stay without your name."
      confirmLabel="Delete account"
      disabled={!matches}
      pending={pending}
      onConfirm={() => onConfirm(typed)}
      onClose={onClose}
    >
      <form
        className="mt-5"
        onSubmit={(event) => {
          event.preventDefault();
          if (matches && !pending) onConfirm(typed);
        }}
      >
        <Field label={`Type ${expected} to confirm`}>
          {(attributes) => (
            <Input
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              {...attributes}
            />
          )}
        </Field>
      </form>
    </ConfirmDialog>
  );
}
