import { Field } from "@ui/field";
import { useKeepTyped } from "@ui/use-keep-typed";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { TextArea } from "@/components/admin/controls";
import { useSession } from "@/lib/session";

/** Characters that a reason may have. The database refuses longer ones. */
const longest = 1000;

interface RejectDialogProps {
  /** What is rejected, such as "Night Bus" or "3 outfits". */
  subject: string;
  /** Ids of the outfits. */
  ids: readonly string[];
  pending: boolean;
  /** `settle` is to be called when the reason is saved, with the outfits for which it is not. Until then it is kept. */
  onReject: (reason: string, settle: (refused?: readonly string[]) => void) => void;
  onCancel: () => void;
}

/** Reasons that were typed and not saved, by their author and the outfits that they are about: Escape, Cancel or a failure loses nothing. */
const unsavedReasons = new Map<string, string>();

window.addEventListener("beforeunload", (event) => {
  if (unsavedReasons.size > 0) event.preventDefault();
});

function keepReason(key: string, text: string): void {
  if (text.trim() === "") unsavedReasons.delete(key);
  else unsavedReasons.set(key, text);
}

/** Asks for the reason of a rejection. The creator reads it, so it is asked for but may be left out. */
export function RejectDialog({ subject, ids, pending, onReject, onCancel }: RejectDialogProps) {
  const { user } = useSession();
  const keyOf = (outfits: readonly string[]) => [user?.id, ...outfits.toSorted()].join();
  const key = keyOf(ids);
  const [reason, setReason] = useState(unsavedReasons.get(key) ?? "");
  // It is kept while this page is open, whatever else is looked at.
  useKeepTyped({ isDirty: reason.trim() !== "", isLost: () => false, ask: (leave) => leave() });
  const surplus = [...reason.trim()].length - longest;

  function change(text: string) {
    keepReason(key, text);
    setReason(text);
  }

  function settle(refused: readonly string[] = []) {
    unsavedReasons.delete(key);
    if (refused.length > 0) keepReason(keyOf(refused), reason);
  }

  return (
    <ConfirmDialog
      title={`Reject ${subject}?`}
      text="The creator is notified, and can change the outfit and submit it again."
      action="Reject"
      pending={pending}
      disabled={surplus > 0}
      onConfirm={() => onReject(reason.trim(), settle)}
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
            onChange={(event) => change(event.target.value)}
            {...attributes}
          />
        )}
      </Field>
    </ConfirmDialog>
  );
}
