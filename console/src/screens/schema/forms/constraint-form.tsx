/** The form for a new constraint. */
import { useState } from "react";
import { useCatalog } from "@/api/catalog";
import type { Table } from "@/api/catalog-model";
import { Field } from "@/components/field";
import { LazySqlEditor } from "@/components/sql-editor/lazy-sql-editor";
import type { ReferenceAction } from "@/lib/sql/ddl/columns";
import {
  addConstraint,
  type ConstraintDraft,
  suggestConstraintName,
} from "@/lib/sql/ddl/constraints";
import { findExpressionFault } from "@/lib/sql/ddl/expression";
import { nameOf, TableSelect } from "./choices";
import { ColumnChoice } from "./column-choice";
import { referenceActions } from "./column-fields";
import { OptionField } from "./fields";
import type { SchemaChange } from "./form-dialog";
import { type TablePart, TablePartForm } from "./table-part-form";

const kinds = ["unique", "check", "foreign key", "primary key"] as const;

interface Fields {
  kind: (typeof kinds)[number];
  expression: string;
  target: Table | null;
  targetColumns: string[];
  onDelete: ReferenceAction;
}

interface ConstraintFormProps {
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

export function ConstraintForm(props: ConstraintFormProps) {
  const [fields, setFields] = useState<Fields>({
    kind: "unique",
    expression: "",
    target: null,
    targetColumns: [],
    onDelete: "no action",
  });
  const change = (changes: Partial<Fields>) => setFields({ ...fields, ...changes });
  return (
    <TablePartForm
      {...props}
      title="New constraint"
      kind={fields.kind}
      hasColumns={fields.kind !== "check"}
      findProblem={(columns) => findProblem(fields, columns)}
      suggestName={(part) => suggestConstraintName(toDraft(fields, part))}
      describe={(part) => addConstraint(toDraft(fields, part))}
      choice={
        <OptionField
          label="Kind"
          options={kinds}
          value={fields.kind}
          onChange={(kind) => change({ kind })}
        />
      }
    >
      {fields.kind === "check" && (
        <Field
          label="Condition"
          hint="Each row has to fulfil it; null counts as fulfilled."
          error={findExpressionFault(fields.expression) ?? undefined}
        >
          {() => (
            <LazySqlEditor
              field
              label="Condition"
              value={fields.expression}
              onChange={(expression) => change({ expression })}
              placeholder="price >= 0"
            />
          )}
        </Field>
      )}
      {fields.kind === "foreign key" && <ReferenceFields fields={fields} onChange={change} />}
    </TablePartForm>
  );
}

interface ReferenceFieldsProps {
  fields: Fields;
  onChange: (changes: Partial<Fields>) => void;
}

/** The table that a foreign key points at. */
function ReferenceFields({ fields, onChange }: ReferenceFieldsProps) {
  const catalog = useCatalog();
  const { target, targetColumns, onDelete } = fields;
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TableSelect
          label="References"
          value={target?.oid ?? ""}
          onChange={(oid) => {
            const chosen = catalog?.tablesByOid.get(oid) ?? null;
            onChange({ target: chosen, targetColumns: chosen === null ? [] : [...chosen.key] });
          }}
        />
        <OptionField
          label="When it is deleted"
          options={referenceActions}
          value={onDelete}
          onChange={(action) => onChange({ onDelete: action })}
        />
      </div>
      {target !== null && (
        <ColumnChoice
          label="Columns there"
          table={target}
          chosen={targetColumns}
          onChange={(columns) => onChange({ targetColumns: columns })}
        />
      )}
    </>
  );
}

function findProblem(fields: Fields, columns: readonly string[]): string | null {
  if (fields.kind === "check") {
    if (fields.expression.trim() === "") return "Write the condition.";
    return findExpressionFault(fields.expression);
  }
  if (columns.length === 0) return "Choose at least one column.";
  if (fields.kind !== "foreign key") return null;
  if (fields.target === null) return "Choose the table that is referenced.";
  return fields.targetColumns.length === columns.length
    ? null
    : "Choose as many columns there as here.";
}

function toDraft(fields: Fields, part: TablePart): ConstraintDraft {
  const { kind, target } = fields;
  const common = { table: nameOf(part.table), name: part.name };
  if (kind === "check") return { ...common, kind, expression: fields.expression };
  if (kind !== "foreign key") return { ...common, kind, columns: part.columns };
  return {
    ...common,
    kind,
    columns: part.columns,
    target: nameOf(target ?? part.table),
    targetColumns: fields.targetColumns,
    onDelete: fields.onDelete,
    onUpdate: "no action",
  };
}
