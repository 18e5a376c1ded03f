import { AlertCancel, AlertWindow } from "@ui/alert-window";
import { Button } from "@ui/button";
import type { ReactNode } from "react";

interface ConfirmDialogProps {
  title: string;
  text: ReactNode;
  /** Label of the confirming button. */
  action: string;
  pending?: boolean;
  disabled?: boolean;
  onConfirm: () => void;
  onCancel: () => void;
  /** Fields between the text and the buttons. */
  children?: ReactNode;
}

const classNames = {
  window:
    "panel-in fixed inset-x-4 top-1/4 z-50 mx-auto max-w-md rounded-lg border border-line bg-raised p-5 text-ink shadow-raised outline-none",
  title: "font-medium text-body",
  text: "mt-1.5 text-ink-soft text-small",
};

/** Asks before something that cannot be undone, or that needs a reason. It is open as long as it is rendered; its text field has the focus, or else Cancel. */
export function ConfirmDialog({
  title,
  text,
  action,
  pending = false,
  disabled = false,
  onConfirm,
  onCancel,
  children,
}: ConfirmDialogProps) {
  return (
    <AlertWindow title={title} text={text} classNames={classNames} onClose={onCancel}>
      {children !== undefined && <div className="mt-4">{children}</div>}
      <div className="mt-5 flex justify-end gap-2">
        <AlertCancel>
          <Button>Cancel</Button>
        </AlertCancel>
        <Button variant="primary" pending={pending} disabled={disabled} onClick={onConfirm}>
          {action}
        </Button>
      </div>
    </AlertWindow>
  );
}
