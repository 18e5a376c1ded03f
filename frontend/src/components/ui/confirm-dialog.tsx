import { Button } from "@ui/button";
import { AlertDialog } from "radix-ui";
import type { ReactNode } from "react";

interface ConfirmDialogProps {
  title: string;
  /** What will happen, and whether it can be undone. */
  text: string;
  confirmLabel: string;
  /** The confirming button stays disabled, for example until a word is typed. */
  disabled?: boolean;
  /** The confirmed action runs; the dialog stays open. */
  pending?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  /** Fields between the text and the buttons. */
  children?: ReactNode;
}

/** Asks before something that cannot be undone. It is open as long as it is rendered; the first focus is on Cancel. */
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
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fade-in fixed inset-0 z-50 bg-scrim" />
        <AlertDialog.Content className="panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-lg border border-line bg-raised p-6 text-ink shadow-raised outline-none">
          <AlertDialog.Title className="font-serif text-heading">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-3 text-ink-soft text-small">
            {text}
          </AlertDialog.Description>
          {children}
          <div className="mt-6 flex flex-wrap justify-end gap-3">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button variant="primary" disabled={disabled} pending={pending} onClick={onConfirm}>
              {confirmLabel}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
