/** The form for a new constraint. */
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
import {
  noPart,
  type PartFields,
  type TablePart,
  TablePartForm,
  usePartForm,
} from "./table-part-form";

const kinds = ["unique", "check", "foreign key", "primary key"] as const;

type Fields = PartFields & {
  kind: (typeof kinds)[number];
  expression: string;
  /** The oid of the table that is referenced; empty while none is chosen. */
  target: string;
  targetColumns: string[];
  onDelete: ReferenceAction;
};

const noConstraint: Fields = {
  ...noPart,
  kind: "unique",
  expression: "",
  target: "",
  targetColumns: [],
  onDelete: "no action",
};

interface ConstraintFormProps {
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

export function ConstraintForm({ onSubmit, onClose }: ConstraintFormProps) {
  const catalog = useCatalog();
  const draftOf = (fields: Fields, part: TablePart) =>
    toDraft(fields, part, catalog?.tablesByOid.get(fields.target));
  const form = usePartForm<Fields>({
    saved: noConstraint,
    kindOf: ({ kind }) => kind,
    findProblem,
    suggestName: (fields, part) => suggestConstraintName(draftOf(fields, part)),
    describe: (fields, part) => addConstraint(draftOf(fields, part)),
    onSubmit,
  });
  const { draft: fields, change } = form;
  return (
    <TablePartForm
      title="New constraint"
      form={form}
      onClose={onClose}
      hasColumns={fields.kind !== "check"}
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
  const { targetColumns, onDelete } = fields;
  const target = catalog?.tablesByOid.get(fields.target);
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <TableSelect
          label="References"
          value={fields.target}
          onChange={(oid) => {
            const chosen = catalog?.tablesByOid.get(oid);
            onChange({ target: oid, targetColumns: [...(chosen?.key ?? [])] });
          }}
        />
        <OptionField
          label="When it is deleted"
          options={referenceActions}
          value={onDelete}
          onChange={(action) => onChange({ onDelete: action })}
        />
      </div>
      {target !== undefined && (
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

function findProblem(fields: Fields): string | null {
  const { columns } = fields;
  if (fields.kind === "check") {
    if (fields.expression.trim() === "") return "Write the condition.";
    return findExpressionFault(fields.expression);
  }
  if (columns.length === 0) return "Choose at least one column.";
  if (fields.kind !== "foreign key") return null;
  if (fields.target === "") return "Choose the table that is referenced.";
  return fields.targetColumns.length === columns.length
    ? null
    : "Choose as many columns there as here.";
}

function toDraft(fields: Fields, part: TablePart, target: Table | undefined): ConstraintDraft {
  const { kind } = fields;
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
