/** Asks for the name under which a query is saved. */
import { Button } from "@ui/button";
import { SavingFields } from "@ui/saving-fields";
import { useSession } from "@/api/session";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input } from "@/components/input";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import { useSaveSnippet, useSnippets, useSnippetToReplace } from "./snippets";

interface SaveDialogProps {
  suggestion: string;
  text: string;
  onSaved: (name: string) => void;
  onClose: () => void;
}

export function SaveDialog({ suggestion, text, onSaved, onClose }: SaveDialogProps) {
  const save = useSaveSnippet();
  const { mode } = useSession();
  const snippets = useSnippets();
  const isNameTaken = (name: string) => snippets.data?.some((one) => one.name === name) ?? false;
  const form = useDraftForm({
    saved: { name: suggestion },
    isNew: true,
    findProblem: ({ name }) => (name.trim() === "" ? "A name is missing." : null),
    onSubmit: async (draft) => {
      const name = draft.name.trim();
      // A snippet that came since the list was read, or a text that was saved since, was not asked about, and is not replaced.
      const base = isNameTaken(name) ? ((await readReplaced())?.digest ?? null) : null;
      await save.mutateAsync({ name, text, base });
      onSaved(name);
    },
  });
  const isTaken = isNameTaken(form.draft.name.trim());
  const replaced = useSnippetToReplace(form.draft.name.trim(), isTaken);
  async function readReplaced() {
    if (replaced.data !== undefined) return replaced.data;
    return (await replaced.refetch({ throwOnError: true })).data;
  }
  return (
    <Dialog
      title="Save this query"
      description={
        mode === "start"
          ? "It becomes a file of the project, in its folder snippets."
          : "It is kept for your account, and nobody else sees it."
      }
      // The text itself stays in its tab.
      isDirty={form.isDirty}
      onClose={onClose}
      footer={
        <>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            pending={form.isSaving}
            disabled={form.problem !== null || replaced.isFetching}
            type="submit"
            form="snippet-form"
          >
            {isTaken ? "Replace" : "Save"}
          </Button>
        </>
      }
    >
      <form id="snippet-form" noValidate onSubmit={(event) => void form.submit(event)}>
        <SavingFields isSaving={form.isSaving}>
          <Field
            label="Name"
            hint={isTaken ? "A snippet of this name exists and is replaced." : null}
          >
            {(attributes) => (
              <Input
                {...attributes}
                autoFocus
                value={form.draft.name}
                onChange={(event) => form.change({ name: event.target.value })}
              />
            )}
          </Field>
          {form.error !== null && (
            <div className="mt-3">
              <ErrorNotice title="It was not saved" error={form.error} />
            </div>
          )}
        </SavingFields>
      </form>
    </Dialog>
  );
}
