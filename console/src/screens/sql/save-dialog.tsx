/** Asks for the name under which a query is saved. */
import { Button } from "@ui/button";
import { useState } from "react";
import { useSession } from "@/api/session";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { useSaveSnippet, useSnippets } from "./snippets";

interface SaveDialogProps {
  suggestion: string;
  text: string;
  onSaved: (name: string) => void;
  onClose: () => void;
}

export function SaveDialog({ suggestion, text, onSaved, onClose }: SaveDialogProps) {
  const [name, setName] = useState(suggestion);
  const save = useSaveSnippet();
  const { mode } = useSession();
  const isTaken = useSnippets().data?.some((snippet) => snippet.name === name.trim()) ?? false;
  const submit = () => {
    const trimmed = name.trim();
    if (trimmed === "") return;
    save.mutate({ name: trimmed, text }, { onSuccess: () => onSaved(trimmed) });
  };
  return (
    <Dialog
      title="Save this query"
      description={
        mode === "start"
          ? "It becomes a file of the project, in its folder snippets."
          : "It is kept for your account, and nobody else sees it."
      }
      // The text itself stays in its tab.
      isDirty={name.trim() !== suggestion}
      onClose={onClose}
      footer={
        <>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            pending={save.isPending}
            disabled={name.trim() === ""}
            onClick={submit}
          >
            {isTaken ? "Replace" : "Save"}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Field
          label="Name"
          hint={isTaken ? "A snippet of this name exists and is replaced." : null}
        >
          {(attributes) => (
            <Input
              {...attributes}
              autoFocus
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        {save.error !== null && (
          <div className="mt-3">
            <ErrorNotice title="It was not saved" error={save.error} />
          </div>
        )}
      </form>
    </Dialog>
  );
}
