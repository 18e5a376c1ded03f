import { Field } from "@ui/field";
import { useKeepTyped } from "@ui/use-keep-typed";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { TextArea } from "@/components/admin/controls";
import { keepReason, readReason } from "../api/unsaved-reasons";

/** Characters that a reason may have. The database refuses longer ones. */
const longest = 1000;

interface RejectDialogProps {
  /** What is rejected, such as "Night Bus" or "3 outfits". */
  subject: string;
  /** Ids of the outfits. */
  ids: readonly string[];
  /** It is published, and is taken offline. */
  isPublished?: boolean;
  pending: boolean;
  /** Until a reason is saved it is kept. */
  onReject: (reason: string) => void;
  onCancel: () => void;
}

/** Asks for the reason of a rejection. The creator reads it, so it is asked for but may be left out. */
export function RejectDialog(props: RejectDialogProps) {
  const { subject, ids, isPublished = false, pending, onReject, onCancel } = props;
  const [reason, setReason] = useState(() => readReason(ids, isPublished));
  // It is kept while this page is open, whatever else is looked at.
  useKeepTyped({ isDirty: reason.trim() !== "", isLost: () => false, ask: (leave) => leave() });
  const surplus = [...reason.trim()].length - longest;

  function change(text: string) {
    keepReason(ids, text, isPublished);
    setReason(text);
  }

  return (
    <ConfirmDialog
      title={isPublished ? `Take ${subject} offline?` : `Reject ${subject}?`}
      text={`${isPublished ? "It leaves the site at once. " : ""}The creator is notified, and can change the outfit and submit it again.`}
      action={isPublished ? "Take offline" : "Reject"}
      pending={pending}
      disabled={surplus > 0}
      onConfirm={() => onReject(reason.trim())}
      onCancel={onCancel}
    >
      <Field
        label="Reason (optional)"
        hint="The creator reads this text."
        error={
          surplus > 0 ? `Up to ${longest} characters: these are ${surplus} too many.` : undefined
        }
      >
        {(attributes) => (
          <TextArea
            value={reason}
            // The window closes when the reason is saved, and what was typed meanwhile would go with it.
            readOnly={pending}
            onChange={(event) => change(event.target.value)}
            {...attributes}
          />
        )}
      </Field>
    </ConfirmDialog>
  );
}
