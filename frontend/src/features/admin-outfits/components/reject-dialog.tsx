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

/** Asks for the reason of a rejection. The creator reads it, so it is asked for but may be left out. */
export function RejectDialog({ subject, pending, onReject, onCancel }: RejectDialogProps) {
  const [reason, setReason] = useState("");
  return (
    <ConfirmDialog
      title={`Reject ${subject}?`}
      text="The creator is notified, and can change the outfit and submit it again."
      action="Reject"
      pending={pending}
      onConfirm={() => onReject(reason.trim())}
      onCancel={onCancel}
    >
      <Field label="Reason (optional)" hint="The creator reads this text.">
        {(attributes) => (
          <TextArea
            maxLength={1000}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            {...attributes}
          />
        )}
      </Field>
    </ConfirmDialog>
  );
}
