/** The frame of all schema forms: fields, the SQL so far, and the button that opens the confirmation. */
import { Button } from "@ui/button";
import type { EditConflict, OtherEdit } from "@ui/merge-edit";
import type { FormEventHandler, ReactNode } from "react";
import { CodeBlock } from "@/components/code-block";
import { CollisionNotice } from "@/components/collision-notice";
import { Dialog } from "@/components/dialog";

export interface SchemaChange {
  title: string;
  sql: string;
}

/** What the frame shows of a form's state. */
export interface FormState {
  /** The SQL of what is filled in; empty while nothing changes. */
  sql: string;
  /** A sentence that says what is missing; null when the form is complete. */
  problem: string | null;
  isDirty: boolean;
  collision: { conflicts: EditConflict[]; others: OtherEdit[] } | null;
  submit: FormEventHandler;
  keepMine: () => void;
  takeTheirs: () => void;
}

interface FormDialogProps {
  title: string;
  form: FormState;
  onClose: () => void;
  children: ReactNode;
}

export function FormDialog({ title, form, onClose, children }: FormDialogProps) {
  const { sql, problem, collision } = form;
  const isReady = problem === null && sql !== "";
  return (
    <Dialog
      title={title}
      width="wide"
      isDirty={form.isDirty}
      onClose={onClose}
      footer={
        <>
          <p role="status" className="mr-auto self-center text-caption text-ink-soft">
            {problem ?? (sql === "" ? "Nothing has been changed." : "")}
          </p>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            type="submit"
            form="schema-form"
            disabled={!isReady}
          >
            Show the change
          </Button>
        </>
      }
    >
      <form
        id="schema-form"
        noValidate
        className="space-y-4"
        onSubmit={(event) => {
          if (isReady) form.submit(event);
          else event.preventDefault();
        }}
      >
        {children}
        {collision !== null && (
          <CollisionNotice
            conflicts={collision.conflicts}
            others={collision.others}
            keepLabel="Keep mine"
            onKeepMine={form.keepMine}
            onTakeTheirs={form.takeTheirs}
          />
        )}
        {isReady && <CodeBlock code={sql} label="SQL of the form" />}
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}
