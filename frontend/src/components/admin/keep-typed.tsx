import { isOtherPage } from "@ui/typed-forms";
import { useKeepTyped } from "@ui/use-keep-typed";
import { useState } from "react";
import { ConfirmDialog } from "./confirm-dialog";

/** Asks before a form that is part of a page is left with what was typed. `EditDialog` does so for the forms in it. */
export function KeepTyped({ isDirty }: { isDirty: boolean }) {
  const [leave, setLeave] = useState<(() => void) | null>(null);
  useKeepTyped({ isDirty, isLost: isOtherPage, ask: (next) => setLeave(() => next) });
  if (leave === null) return null;
  return (
    <ConfirmDialog
      title="Discard changes?"
      text="What you entered has not been saved."
      action="Discard"
      onConfirm={() => {
        setLeave(null);
        leave();
      }}
      onCancel={() => setLeave(null)}
    />
  );
}
