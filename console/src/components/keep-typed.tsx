import { isOtherPage, type Step } from "@ui/typed-forms";
import { useKeepTyped } from "@ui/use-keep-typed";
import { useState } from "react";
import { ConfirmDialog } from "@/components/confirm-dialog";

interface KeepTypedProps {
  /** Whether something is typed that is not saved. */
  isDirty: boolean;
  /** Whether a step takes the form away; by default each one to another path. */
  isLost?: (step: Step) => boolean;
  /** What is asked, where it is not about text. */
  question?: { title: string; text: string; confirmLabel: string };
}

const aboutText = {
  title: "Discard what you typed?",
  text: "It is not saved, and gone when you leave.",
  confirmLabel: "Discard",
};

/** Asks before a form that is part of a page is left with what was typed. `Dialog` does so for the forms in it. */
export function KeepTyped({ isDirty, isLost = isOtherPage, question = aboutText }: KeepTypedProps) {
  const [leave, setLeave] = useState<(() => void) | null>(null);
  useKeepTyped({ isDirty, isLost, ask: (next) => setLeave(() => next) });
  if (leave === null) return null;
  return (
    <ConfirmDialog
      {...question}
      onConfirm={() => {
        setLeave(null);
        leave();
      }}
      onClose={() => setLeave(null)}
    />
  );
}
