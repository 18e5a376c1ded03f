import { AlertCancel, AlertWindow } from "@ui/alert-window";
import { Button } from "@ui/button";
import { type ReactNode, useId, useState } from "react";
import { ErrorNotice } from "@/components/error-state";
import { Input } from "@/components/input";
import { Text } from "@/components/text";

interface ConfirmDialogProps {
  title: string;
  /** Says what will happen, and whether it can be undone. */
  text: ReactNode;
  confirmLabel: string;
  /** The name that has to be typed before the button works, for what cannot be undone. */
  typedName?: string | undefined;
  /** The confirmed action runs; the dialog stays open. */
  pending?: boolean;
  /** The error of a failed action; the dialog stays open and shows it. */
  error?: unknown;
  onConfirm: () => void;
  onClose: () => void;
  /** Further effects: deleted rows, cascades, dependent objects. */
  children?: ReactNode;
}

const classNames = {
  window:
    "panel-in fixed top-1/2 left-1/2 z-50 max-h-[96dvh] w-[min(28rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-md border border-line bg-raised p-5 shadow-raised outline-none",
  title: "font-medium text-small",
  text: "mt-1.5 text-caption text-ink-soft",
};

/** Asks before something is destroyed. It is open as long as it is rendered; the first focus is on Cancel, or on the name to type. */
export function ConfirmDialog({
  title,
  text,
  confirmLabel,
  typedName,
  pending = false,
  error,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  const [typed, setTyped] = useState("");
  const id = useId();
  const isRight = typedName === undefined || typed === typedName;
  return (
    <AlertWindow title={title} text={text} classNames={classNames} onClose={onClose}>
      {children !== undefined && <div className="mt-3">{children}</div>}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isRight && !pending) onConfirm();
        }}
      >
        {typedName !== undefined && (
          <div className="mt-4">
            <label htmlFor={id} className="text-caption">
              Type{" "}
              <code className="rounded-[4px] bg-hover px-1 font-mono">
                <Text>{typedName}</Text>
              </code>{" "}
              to confirm
            </label>
            <Input
              id={id}
              mono
              className="mt-1"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </div>
        )}
        {error !== undefined && error !== null && (
          <div className="mt-3">
            <ErrorNotice title="It was not done" error={error} />
          </div>
        )}
        <div className="mt-5 flex flex-wrap justify-end gap-2">
          <AlertCancel>
            <Button size="dense">Cancel</Button>
          </AlertCancel>
          <Button type="submit" size="dense" variant="danger" disabled={!isRight} pending={pending}>
            {confirmLabel}
          </Button>
        </div>
      </form>
    </AlertWindow>
  );
}
