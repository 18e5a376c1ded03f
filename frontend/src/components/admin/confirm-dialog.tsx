import { Button } from "@ui/button";
import { AlertDialog } from "radix-ui";
import type { ReactNode } from "react";
import { useReturnFocus } from "./use-return-focus";

interface ConfirmDialogProps {
  title: string;
  text: ReactNode;
  /** Label of the button that goes on. */
  action: string;
  pending?: boolean;
  onConfirm: () => void;
  onCancel: () => void;
}

/** Asks before something that cannot be undone. It is open as long as it is rendered; Cancel has the focus. */
export function ConfirmDialog({
  title,
  text,
  action,
  pending = false,
  onConfirm,
  onCancel,
}: ConfirmDialogProps) {
  const returnFocus = useReturnFocus();
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
          className="panel-in fixed inset-x-4 top-1/3 z-50 mx-auto max-w-md rounded-lg border border-line bg-raised p-5 text-ink shadow-raised outline-none"
        >
          <AlertDialog.Title className="font-medium text-body">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-1.5 text-ink-soft text-small">
            {text}
          </AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <Button variant="primary" pending={pending} onClick={onConfirm}>
              {action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
