import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { isOtherPage } from "@ui/typed-forms";
import { useKeepTyped } from "@ui/use-keep-typed";
import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { type ReactNode, useCallback, useState } from "react";
import { ConfirmDialog } from "./confirm-dialog";
import { FormWorkProvider } from "./form-work";
import { useReturnFocus } from "./use-return-focus";

/** With a keyboard, the first field has the focus. On touch screens the on-screen keyboard would cover half of the form. */
function focusFirstField(event: Event): void {
  const panel = event.currentTarget;
  if (!(panel instanceof HTMLElement) || !window.matchMedia("(pointer: fine)").matches) return;
  const field = panel.querySelector<HTMLElement>("form input, form select, form textarea");
  if (field === null) return;
  event.preventDefault();
  field.focus();
}

interface EditDialogProps {
  title: string;
  /** Whether something was typed that closing would lose. */
  isDirty: boolean;
  wide?: boolean;
  /** What is asked before closing; by default whether to discard what was typed. */
  question?: { title: string; text: string; action: string } | undefined;
  onClose: () => void;
  children: ReactNode;
}

const discardQuestion = {
  title: "Discard changes?",
  text: "What you entered has not been saved.",
  action: "Discard",
};

/** A panel with a form at the right edge, on phones the whole screen. Closing it with unsaved changes must be confirmed, and so must Back. */
export function EditDialog({
  title,
  isDirty: isFormDirty,
  wide = false,
  question = discardQuestion,
  onClose,
  children,
}: EditDialogProps) {
  const returnFocus = useReturnFocus();
  const [typedBeside, setTypedBeside] = useState(0);
  const countTyped = useCallback((change: number) => setTypedBeside((count) => count + change), []);
  const isDirty = isFormDirty || typedBeside > 0;
  /** What follows when the text may go, while that is asked. */
  const [asked, setAsked] = useState<{ about: string; leave?: () => void } | null>(null);
  const about = question.title;
  // What was asked about is gone, or has changed. An answer to the old question would be taken for one about the new thing.
  if (asked !== null && (!isDirty || asked.about !== about)) setAsked(null);
  useKeepTyped({
    isDirty,
    isLost: (step) => step.isHistory || isOtherPage(step),
    // Back, of which phones have a gesture, is meant for the panel.
    ask: (leave, { isHistory }) => setAsked(isHistory ? { about } : { about, leave }),
  });
  return (
    <Dialog.Root
      open
      onOpenChange={(open) => {
        if (open) return;
        if (isDirty) setAsked({ about });
        else onClose();
      }}
    >
      <Dialog.Portal>
        <Dialog.Overlay className="fade-in fixed inset-0 z-50 bg-scrim" />
        <Dialog.Content
          onOpenAutoFocus={focusFirstField}
          onEscapeKeyDown={(event) => {
            // A line within the form has an Escape of its own.
            if (document.activeElement?.closest("[data-own-escape]")) event.preventDefault();
          }}
          onCloseAutoFocus={returnFocus}
          aria-describedby={undefined}
          className={cn(
            "edit-panel panel-in fixed inset-y-0 right-0 z-50 flex w-full flex-col overflow-y-auto overscroll-contain border-line border-l bg-canvas px-5 pt-3 text-ink outline-none sm:px-6",
            wide ? "max-w-2xl" : "max-w-lg",
          )}
        >
          <div className="mb-4 flex items-center justify-between">
            <Dialog.Title className="font-serif text-heading">{title}</Dialog.Title>
            <Dialog.Close asChild>
              <IconButton label="Close" className="-mr-2.5">
                <X className="size-5" strokeWidth={1.6} />
              </IconButton>
            </Dialog.Close>
          </div>
          <FormWorkProvider countTyped={countTyped}>{children}</FormWorkProvider>
        </Dialog.Content>
        {asked !== null && (
          <ConfirmDialog
            {...question}
            onConfirm={() => {
              setAsked(null);
              onClose();
              asked.leave?.();
            }}
            onCancel={() => setAsked(null)}
          />
        )}
      </Dialog.Portal>
    </Dialog.Root>
  );
}
