/** Changes a cell of a result: the new value is staged, and applied in the table editor with all others. */
import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { keepLineEnds } from "@ui/line-ends";
import { SavingFields } from "@ui/saving-fields";
import { useState } from "react";
import { Link } from "react-router";
import { useCatalog } from "@/api/catalog";
import { whyNoRight } from "@/api/catalog-model";
import { storeOf, useSession, whyReadOnly } from "@/api/session";
import { CheckboxField } from "@/components/checkbox-field";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Textarea } from "@/components/input";
import { Text } from "@/components/text";
import { useCellDraft } from "@/lib/rows/cell-draft";
import { columnKind } from "@/lib/rows/column-kind";
import { stagedStoreOf } from "@/lib/rows/left-overs";
import type { Value } from "@/lib/rows/types";
import { findFault } from "@/lib/rows/validate";
import { type EditableCell, identifyCell, stageCell } from "./edit-result";

interface CellEditorProps {
  cell: EditableCell;
  value: Value;
}

export function CellEditor({ cell, value }: CellEditorProps) {
  const session = useSession();
  const catalog = useCatalog();
  const draft = useCellDraft(`${storeOf(session)} ${identifyCell(cell)}`, value);
  /** The text before NULL was chosen, which comes back when NULL is taken back. */
  const [lastText, setLastText] = useState(draft.value ?? "");
  const isNull = draft.value === null;
  const text = draft.value ?? "";
  const reason = whyReadOnly(session) ?? whyNoRight(cell.table, "u");
  const column = cell.table.columns.find(({ name }) => name === cell.column);
  const fault =
    isNull || catalog === undefined || column === undefined
      ? null
      : findFault(columnKind(column, catalog), column.type, text);
  const stage = useMutation({
    mutationFn: () => stageCell(stagedStoreOf(session), cell, draft.base, draft.value),
    onSuccess: draft.forget,
  });
  const { schema, name } = cell.table;
  return (
    <form
      className="shrink-0 space-y-3 border-line border-t p-4"
      onSubmit={(event) => {
        event.preventDefault();
        stage.mutate();
      }}
    >
      <SavingFields isSaving={stage.isPending} className="space-y-3">
        <Field label={`New value in ${name}.${cell.column}`} error={fault ?? undefined}>
          {(attributes) => (
            <Textarea
              {...attributes}
              mono
              rows={4}
              disabled={isNull || reason !== undefined}
              value={text}
              onChange={(event) => draft.change(keepLineEnds(text, event.target.value))}
            />
          )}
        </Field>
        <CheckboxField
          label="null"
          checked={isNull}
          disabled={reason !== undefined || column?.nullable === false}
          onChange={(checked) => {
            if (checked) setLastText(text);
            draft.change(checked ? null : lastText);
          }}
        />
      </SavingFields>
      {draft.isOvertaken && draft.isChanged && (
        <div role="alert" className="rounded-sm border border-warning/40 p-2.5 text-caption">
          <p>
            The value has changed since you began. It was <Text>{draft.base ?? "NULL"}</Text>.
          </p>
          <div className="mt-2 flex flex-wrap gap-2">
            <Button size="dense" onClick={draft.rebase}>
              Keep my text
            </Button>
            <Button size="dense" variant="quiet" onClick={draft.discard}>
              Discard it
            </Button>
          </div>
        </div>
      )}
      <div className="flex flex-wrap items-center gap-3">
        <Button
          type="submit"
          size="dense"
          variant="primary"
          pending={stage.isPending}
          disabled={fault !== null || !draft.isChanged || draft.isOvertaken || reason !== undefined}
          title={reason}
        >
          Stage the change
        </Button>
        {stage.isSuccess && (
          <p role="status" className="text-caption text-ink-soft">
            Staged.{" "}
            <Link
              to={`/tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}`}
              className="underline underline-offset-2"
            >
              Review and apply
            </Link>
          </p>
        )}
      </div>
      {stage.error !== null && <ErrorNotice title="It was not staged" error={stage.error} />}
    </form>
  );
}
