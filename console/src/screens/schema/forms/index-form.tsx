/** The form for a new index. */
import { CheckboxField } from "@/components/checkbox-field";
import {
  createIndex,
  type IndexDraft,
  indexMethods,
  suggestIndexName,
} from "@/lib/sql/ddl/constraints";
import { findExpressionFault } from "@/lib/sql/ddl/expression";
import { nameOf } from "./choices";
import { ExpressionField, OptionField } from "./fields";
import type { SchemaChange } from "./form-dialog";
import {
  noPart,
  type PartFields,
  type TablePart,
  TablePartForm,
  usePartForm,
} from "./table-part-form";

interface IndexFormProps {
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

type Fields = PartFields & {
  method: IndexDraft["method"];
  isUnique: boolean;
  expression: string;
  where: string;
};

const noIndex: Fields = { ...noPart, method: "btree", isUnique: false, expression: "", where: "" };

export function IndexForm({ onSubmit, onClose }: IndexFormProps) {
  const form = usePartForm<Fields>({
    saved: noIndex,
    kindOf: () => "index",
    findProblem,
    suggestName: (draft, part) => suggestIndexName(toDraft(draft, part)),
    describe: (draft, part) => createIndex(toDraft(draft, part)),
    onSubmit,
  });
  const { draft: fields, change } = form;
  return (
    <TablePartForm
      title="New index"
      form={form}
      onClose={onClose}
      hasColumns
      choice={
        <OptionField
          label="Method"
          options={indexMethods}
          value={fields.method}
          onChange={(method) => change({ method })}
        />
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <ExpressionField
          label="Expression"
          hint="Such as lower(email); it comes behind the columns."
          value={fields.expression}
          onChange={(expression) => change({ expression })}
        />
        <ExpressionField
          label="Only rows where"
          hint="Makes a partial index."
          value={fields.where}
          onChange={(where) => change({ where })}
        />
      </div>
      <CheckboxField
        label="Unique"
        checked={fields.isUnique}
        onChange={(isUnique) => change({ isUnique })}
      />
    </TablePartForm>
  );
}

function findProblem(fields: Fields): string | null {
  if (fields.columns.length === 0 && fields.expression.trim() === "") {
    return "Choose at least one column, or write an expression.";
  }
  return findExpressionFault(fields.expression) ?? findExpressionFault(fields.where);
}

function toDraft(fields: Fields, part: TablePart): IndexDraft {
  const { expression, method, isUnique, where } = fields;
  const keys = part.columns.map((column) => ({ column, expression: "", isDescending: false }));
  if (expression.trim() !== "") keys.push({ column: "", expression, isDescending: false });
  return { method, isUnique, where, table: nameOf(part.table), name: part.name, keys, include: [] };
}
