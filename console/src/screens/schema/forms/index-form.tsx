/** A new index. */
import { useState } from "react";
import { useCatalog } from "@/api/catalog";
import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import {
  createIndex,
  type IndexDraft,
  indexMethods,
  suggestIndexName,
} from "@/lib/sql/ddl/constraints";
import { findExpressionFault } from "@/lib/sql/ddl/expression";
import { nameOf, TableSelect } from "./choices";
import { ColumnChoice } from "./column-choice";
import { FormDialog, type SchemaChange } from "./form-dialog";

interface IndexFormProps {
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

interface Fields {
  table: string;
  name: string;
  method: IndexDraft["method"];
  isUnique: boolean;
  columns: string[];
  expression: string;
  where: string;
}

function findProblem(fields: Fields): string | null {
  if (fields.table === "") return "Choose a table.";
  if (fields.columns.length === 0 && fields.expression.trim() === "") {
    return "Choose at least one column, or write an expression.";
  }
  return findExpressionFault(fields.expression) ?? findExpressionFault(fields.where);
}

export function IndexForm({ onSubmit, onClose }: IndexFormProps) {
  const catalog = useCatalog();
  const [fields, setFields] = useState<Fields>({
    table: "",
    name: "",
    method: "btree",
    isUnique: false,
    columns: [],
    expression: "",
    where: "",
  });
  const change = (changes: Partial<Fields>) => setFields({ ...fields, ...changes });
  const table = catalog?.tablesByOid.get(fields.table);
  const problem = findProblem(fields);
  const draft = table === undefined || problem !== null ? null : toDraft(fields, nameOf(table));
  const suggested = draft === null ? "" : suggestIndexName(draft);
  const sql = draft === null ? "" : createIndex({ ...draft, name: fields.name || suggested });
  return (
    <FormDialog
      title="New index"
      sql={sql}
      problem={problem}
      onClose={onClose}
      onSubmit={() => onSubmit({ title: `Add index to ${table?.name ?? ""}`, sql })}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TableSelect
          label="Table"
          value={fields.table}
          onChange={(oid) => change({ table: oid, columns: [] })}
        />
        <Field label="Method">
          {(attributes) => (
            <Select
              {...attributes}
              value={fields.method}
              onChange={(event) => {
                const method = indexMethods.find((each) => each === event.target.value);
                if (method !== undefined) change({ method });
              }}
            >
              {indexMethods.map((method) => (
                <option key={method}>{method}</option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      {table !== undefined && (
        <ColumnChoice
          label="Columns"
          table={table}
          chosen={fields.columns}
          onChange={(columns) => change({ columns })}
        />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Expression"
          hint="Such as lower(email); it comes behind the columns."
          error={findExpressionFault(fields.expression) ?? undefined}
        >
          {(attributes) => (
            <Input
              {...attributes}
              mono
              value={fields.expression}
              onChange={(event) => change({ expression: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Only rows where"
          hint="Makes a partial index."
          error={findExpressionFault(fields.where) ?? undefined}
        >
          {(attributes) => (
            <Input
              {...attributes}
              mono
              value={fields.where}
              onChange={(event) => change({ where: event.target.value })}
            />
          )}
        </Field>
      </div>
      <CheckboxField
        label="Unique"
        checked={fields.isUnique}
        onChange={(isUnique) => change({ isUnique })}
      />
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

function toDraft(fields: Fields, table: IndexDraft["table"]): IndexDraft {
  const columns = fields.columns.map((column) => ({
    column,
    expression: "",
    isDescending: false,
  }));
  const expression = fields.expression.trim();
  return {
    table,
    name: fields.name,
    method: fields.method,
    isUnique: fields.isUnique,
    keys:
      expression === "" ? columns : [...columns, { column: "", expression, isDescending: false }],
    include: [],
    where: fields.where,
  };
}
