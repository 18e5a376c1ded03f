/** Changes a cell of a result: the new value is staged, and applied in the table editor with all others. */
import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { Link } from "react-router";
import { useCatalog } from "@/api/catalog";
import { whyNoRight } from "@/api/catalog-model";
import { useSession, whyReadOnly } from "@/api/session";
import { CheckboxField } from "@/components/checkbox-field";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Textarea } from "@/components/input";
import { columnKind } from "@/lib/rows/column-kind";
import { stagedStore } from "@/lib/rows/staged-store";
import { findFault } from "@/lib/rows/validate";
import { type EditableCell, stageCell } from "./edit-result";

interface CellEditorProps {
  cell: EditableCell;
  value: string | null;
}

export function CellEditor({ cell, value }: CellEditorProps) {
  const session = useSession();
  const catalog = useCatalog();
  const [text, setText] = useState(value ?? "");
  const [isNull, setNull] = useState(value === null);
  const reason = whyReadOnly(session) ?? whyNoRight(cell.table, "u");
  const column = cell.table.columns.find(({ name }) => name === cell.column);
  const fault =
    isNull || catalog === undefined || column === undefined
      ? null
      : findFault(columnKind(column, catalog), column.type, text);
  const next = isNull ? null : text;
  const stage = useMutation({
    mutationFn: () => stageCell(stagedStore(session.project.name), cell, value, next),
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
      <Field label={`New value in ${name}.${cell.column}`} error={fault ?? undefined}>
        {(attributes) => (
          <Textarea
            {...attributes}
            mono
            rows={4}
            disabled={isNull || reason !== undefined}
            value={isNull ? "" : text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <CheckboxField
        label="null"
        checked={isNull}
        disabled={reason !== undefined || column?.nullable === false}
        onChange={setNull}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button
          type="submit"
          size="dense"
          variant="primary"
          pending={stage.isPending}
          disabled={fault !== null || next === value || reason !== undefined}
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
