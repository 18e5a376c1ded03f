/** The frame of all schema forms: fields, the SQL so far, and the button that opens the confirmation. */
import { Button } from "@ui/button";
import type { ReactNode } from "react";
import { CodeBlock } from "@/components/code-block";
import { Dialog } from "@/components/dialog";

export interface SchemaChange {
  title: string;
  sql: string;
}

interface FormDialogProps {
  title: string;
  /** The SQL of what is filled in; empty while nothing changes. */
  sql: string;
  /** A sentence that says what is missing; null when the form is complete. */
  problem: string | null;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

export function FormDialog({ title, sql, problem, onSubmit, onClose, children }: FormDialogProps) {
  const isReady = problem === null && sql !== "";
  return (
    <Dialog
      title={title}
      width="wide"
      onClose={onClose}
      footer={
        <>
          <p role="status" className="mr-auto self-center text-caption text-ink-soft">
            {problem ?? (sql === "" ? "Nothing has been changed." : "")}
          </p>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button size="dense" variant="primary" disabled={!isReady} onClick={onSubmit}>
            Show the change
          </Button>
        </>
      }
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) onSubmit();
        }}
      >
        {children}
        {isReady && <CodeBlock code={sql} label="SQL of the form" />}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
