import { Button } from "@ui/button";
import type { ReactNode } from "react";
import { Dialog } from "@/components/dialog";

interface ImportFrameProps {
  title: ReactNode;
  isRunning: boolean;
  isDone: boolean;
  /** What is missing before the import can begin. */
  note: string | undefined;
  /** The button that begins; absent before a file is chosen. */
  action: ReactNode;
  onCancel: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** The window of an import. While a file is sent it stays open, and Cancel ends the upload. */
export function ImportFrame(props: ImportFrameProps) {
  const { isRunning, isDone, note, action, onCancel, onClose } = props;
  return (
    <Dialog
      title={props.title}
      width="wide"
      onClose={() => (isRunning ? onCancel() : onClose())}
      footer={
        <>
          {note !== undefined && (
            <p role="status" className="mr-auto self-center text-caption text-ink-soft">
              {note}
            </p>
          )}
          <Button
            size="dense"
            variant={isDone ? "primary" : "secondary"}
            onClick={isRunning ? onCancel : onClose}
          >
            {isDone ? "Close" : isRunning ? "Cancel the import" : "Cancel"}
          </Button>
          {!isDone && action}
        </>
      }
    >
      {props.children}
    </Dialog>
  );
}
