import { AlertCancel, AlertWindow } from "@ui/alert-window";
import { Button } from "@ui/button";
import type { ReactNode } from "react";

interface ConfirmDialogProps {
  title: string;
  /** Says what will happen, and whether it can be undone. */
  text: string;
  confirmLabel: string;
  /** The confirming button stays disabled, for example until a word is typed. */
  disabled?: boolean;
  /** The confirmed action runs; the dialog stays open. */
  pending?: boolean;
  /** Without it there is nothing to confirm: the fields have buttons of their own. */
  onConfirm: (() => void) | undefined;
  onClose: () => void;
  /** Fields between the text and the buttons. */
  children?: ReactNode;
}

const classNames = {
  window:
    "panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-raised p-6 text-ink shadow-raised outline-none",
  title: "font-serif text-heading",
  text: "mt-3 text-ink-soft text-small",
};

/** Asks before something that cannot be undone. It is open as long as it is rendered; the first focus is on its text field, or else on Cancel. */
export function ConfirmDialog({
  title,
  text,
  confirmLabel,
  disabled = false,
  pending = false,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  return (
    <AlertWindow title={title} text={text} classNames={classNames} onClose={onClose}>
      {children}
      <div className="mt-6 flex flex-wrap justify-end gap-3">
        <AlertCancel>
          <Button>Cancel</Button>
        </AlertCancel>
        {onConfirm !== undefined && (
          <Button variant="primary" disabled={disabled} pending={pending} onClick={onConfirm}>
            {confirmLabel}
          </Button>
        )}
      </div>
    </AlertWindow>
  );
}
