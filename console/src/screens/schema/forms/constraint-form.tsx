/** A new constraint. */
import { useState } from "react";
import { useCatalog } from "@/api/catalog";
import type { Table } from "@/api/catalog-model";
import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { SqlEditor } from "@/components/sql-editor/sql-editor";
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
import { FormDialog, type SchemaChange } from "./form-dialog";

const kinds = ["unique", "check", "foreign key", "primary key"] as const;
type Kind = (typeof kinds)[number];

interface Fields {
  kind: Kind;
  table: string;
  name: string;
  columns: string[];
  expression: string;
  target: string;
  targetColumns: string[];
  onDelete: ReferenceAction;
  validatesLater: boolean;
}

interface ConstraintFormProps {
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

function toDraft(fields: Fields, table: Table, target: Table | undefined): ConstraintDraft | null {
  const common = { table: nameOf(table), name: fields.name };
  switch (fields.kind) {
    case "check":
      return { ...common, kind: "check", expression: fields.expression };
    case "foreign key":
      if (target === undefined) return null;
      return {
        ...common,
        kind: "foreign key",
        columns: fields.columns,
        target: nameOf(target),
        targetColumns: fields.targetColumns,
        onDelete: fields.onDelete,
        onUpdate: "no action",
        validatesLater: fields.validatesLater,
      };
    default:
      return { ...common, kind: fields.kind, columns: fields.columns };
  }
}

function findProblem(fields: Fields): string | null {
  if (fields.table === "") return "Choose a table.";
  if (fields.kind === "check") {
    if (fields.expression.trim() === "") return "Write the condition.";
    return findExpressionFault(fields.expression);
  }
  if (fields.columns.length === 0) return "Choose at least one column.";
  if (fields.kind !== "foreign key") return null;
  if (fields.target === "") return "Choose the table that is referenced.";
  return fields.targetColumns.length === fields.columns.length
    ? null
    : "Choose as many columns there as here.";
}

export function ConstraintForm({ onSubmit, onClose }: ConstraintFormProps) {
  const catalog = useCatalog();
  const [fields, setFields] = useState<Fields>({
    kind: "unique",
    table: "",
    name: "",
    columns: [],
    expression: "",
    target: "",
    targetColumns: [],
    onDelete: "no action",
    validatesLater: true,
  });
  const change = (changes: Partial<Fields>) => setFields({ ...fields, ...changes });
  const table = catalog?.tablesByOid.get(fields.table);
  const target = catalog?.tablesByOid.get(fields.target);
  const problem = findProblem(fields);
  const draft = table === undefined || problem !== null ? null : toDraft(fields, table, target);
  const suggested = draft === null ? "" : suggestConstraintName(draft);
  const sql = draft === null ? "" : addConstraint({ ...draft, name: fields.name || suggested });
  return (
    <FormDialog
      title="New constraint"
      sql={sql}
      problem={problem}
      onClose={onClose}
      onSubmit={() => onSubmit({ title: `Add ${fields.kind} to ${table?.name ?? ""}`, sql })}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Kind">
          {(attributes) => (
            <Select
              {...attributes}
              value={fields.kind}
              onChange={(event) => {
                const kind = kinds.find((each) => each === event.target.value);
                if (kind !== undefined) change({ kind });
              }}
            >
              {kinds.map((kind) => (
                <option key={kind}>{kind}</option>
              ))}
            </Select>
          )}
        </Field>
        <TableSelect
          label="Table"
          value={fields.table}
          onChange={(oid) => change({ table: oid, columns: [] })}
        />
      </div>
      {fields.kind === "check" ? (
        <Field
          label="Condition"
          hint="Each row has to fulfil it; null counts as fulfilled."
          error={findExpressionFault(fields.expression) ?? undefined}
        >
          {() => (
            <SqlEditor
              field
              label="Condition"
              value={fields.expression}
              onChange={(expression) => change({ expression })}
              placeholder="price >= 0"
            />
          )}
        </Field>
      ) : (
        table !== undefined && (
          <ColumnChoice
            label="Columns"
            table={table}
            chosen={fields.columns}
            onChange={(columns) => change({ columns })}
          />
        )
      )}
      {fields.kind === "foreign key" && (
        <>
          <div className="grid gap-4 sm:grid-cols-2">
            <TableSelect
              label="References"
              value={fields.target}
              onChange={(oid) =>
                change({ target: oid, targetColumns: catalog?.tablesByOid.get(oid)?.key ?? [] })
              }
            />
            <Field label="When it is deleted">
              {(attributes) => (
                <Select
                  {...attributes}
                  value={fields.onDelete}
                  onChange={(event) => {
                    const onDelete = referenceActions.find((each) => each === event.target.value);
                    if (onDelete !== undefined) change({ onDelete });
                  }}
                >
                  {referenceActions.map((action) => (
                    <option key={action}>{action}</option>
                  ))}
                </Select>
              )}
            </Field>
          </div>
          {target !== undefined && (
            <ColumnChoice
              label="Columns there"
              table={target}
              chosen={fields.targetColumns}
              onChange={(targetColumns) => change({ targetColumns })}
            />
          )}
          <CheckboxField
            label="Check present rows in a second step, which lets others write meanwhile"
            checked={fields.validatesLater}
            onChange={(validatesLater) => change({ validatesLater })}
          />
        </>
      )}
      <Field label="Name">
        {(attributes) => (
          <Input
            {...attributes}
            mono
            placeholder={suggested}
            value={fields.name}
            onChange={(event) => change({ name: event.target.value })}
          />
        )}
      </Field>
    </FormDialog>
  );
}
