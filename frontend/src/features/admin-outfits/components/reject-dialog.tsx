import { Field } from "@ui/field";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { TextArea } from "@/components/admin/controls";

interface RejectDialogProps {
  /** The name of what is rejected, such as "Night Bus" or "3 outfits". */
  subject: string;
  pending: boolean;
  onReject: (reason: string) => void;
  onCancel: () => void;
}

/** Reasons that were typed and not sent, by what they are about: Escape or a click on Cancel loses nothing. */
const unsentReasons = new Map<string, string>();

/** Asks for the reason of a rejection. The creator reads it, so it is asked for but may be left out. */
export function RejectDialog({ subject, pending, onReject, onCancel }: RejectDialogProps) {
  const [reason, setReason] = useState(unsentReasons.get(subject) ?? "");

  function change(text: string) {
    unsentReasons.set(subject, text);
    setReason(text);
  }

  function reject() {
    unsentReasons.delete(subject);
    onReject(reason.trim());
  }

  return (
    <ConfirmDialog
      title={`Reject ${subject}?`}
      text="The creator is notified, and can change the outfit and submit it again."
      action="Reject"
      pending={pending}
      onConfirm={reject}
      onCancel={onCancel}
    >
      <Field label="Reason (optional)" hint="The creator reads this text.">
        {(attributes) => (
          <TextArea
            maxLength={1000}
            value={reason}
            onChange={(event) => change(event.target.value)}
            {...attributes}
          />
        )}
      </Field>
    </ConfirmDialog>
  );
}
