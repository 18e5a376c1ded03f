import { Button } from "@ui/button";
import type { ReactNode } from "react";
import { Dialog } from "@/components/dialog";

interface ImportFrameProps {
  title: ReactNode;
  isRunning: boolean;
  isDone: boolean;
  /** The reason why the import cannot start yet; undefined when it can. */
  note: string | undefined;
  /** The button that starts the import; absent until a file is chosen. */
  action: ReactNode;
  onCancel: () => void;
  onClose: () => void;
  children: ReactNode;
}

const aboutUpload = {
  title: "Cancel the import?",
  text: "The file is still being sent.",
  confirmLabel: "Cancel the import",
};

/** The dialog of an import. During the upload it stays open, its button aborts the upload, and whatever else would asks first. */
export function ImportFrame(props: ImportFrameProps) {
  const { isRunning, isDone, note, action, onCancel, onClose } = props;
  return (
    <Dialog
      title={props.title}
      width="wide"
      {...(isRunning && { isDirty: true, question: aboutUpload })}
      {...(isDone && { isDirty: false })}
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
