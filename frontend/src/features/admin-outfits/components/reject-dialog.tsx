import { Button } from "@ui/button";
import { Field } from "@ui/field";
import { AlertDialog } from "radix-ui";
import { useState } from "react";
import { TextArea } from "@/components/admin/controls";
import { useReturnFocus } from "@/components/admin/use-return-focus";

interface RejectDialogProps {
  /** What is rejected, as in "Night Bus" or "3 outfits". */
  subject: string;
  pending: boolean;
  onReject: (reason: string) => void;
  onCancel: () => void;
}

/** Asks for the reason of a rejection. The creator reads it, so it is asked for but may be left out. */
export function RejectDialog({ subject, pending, onReject, onCancel }: RejectDialogProps) {
  const returnFocus = useReturnFocus();
  const [reason, setReason] = useState("");
  return (
    <AlertDialog.Root
      open
      onOpenChange={(open) => {
        if (!open) onCancel();
      }}
    >
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fade-in fixed inset-0 z-50 bg-scrim" />
        <AlertDialog.Content
          onCloseAutoFocus={returnFocus}
          className="panel-in fixed inset-x-4 top-1/4 z-50 mx-auto max-w-md rounded-lg border border-line bg-raised p-5 text-ink shadow-raised outline-none"
        >
          <AlertDialog.Title className="font-medium text-body">Reject {subject}?</AlertDialog.Title>
          <AlertDialog.Description className="mt-1.5 mb-4 text-ink-soft text-small">
            The creator is notified, and can change the outfit and submit it again.
          </AlertDialog.Description>
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
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button variant="primary" pending={pending} onClick={() => onReject(reason.trim())}>
              Reject
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
