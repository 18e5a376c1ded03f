/** The form for a new index. */
import { useState } from "react";
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
import { type TablePart, TablePartForm } from "./table-part-form";

interface IndexFormProps {
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

interface Fields {
  method: IndexDraft["method"];
  isUnique: boolean;
  expression: string;
  where: string;
}

export function IndexForm(props: IndexFormProps) {
  const [fields, setFields] = useState<Fields>({
    method: "btree",
    isUnique: false,
    expression: "",
    where: "",
  });
  const change = (changes: Partial<Fields>) => setFields({ ...fields, ...changes });
  return (
    <TablePartForm
      {...props}
      title="New index"
      kind="index"
      hasColumns
      findProblem={(columns) => findProblem(fields, columns)}
      suggestName={(part) => suggestIndexName(toDraft(fields, part))}
      describe={(part) => createIndex(toDraft(fields, part))}
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

function findProblem(fields: Fields, columns: readonly string[]): string | null {
  if (columns.length === 0 && fields.expression.trim() === "") {
    return "Choose at least one column, or write an expression.";
  }
  return findExpressionFault(fields.expression) ?? findExpressionFault(fields.where);
}

function toDraft(fields: Fields, part: TablePart): IndexDraft {
  const { expression, ...rest } = fields;
  const keys = part.columns.map((column) => ({ column, expression: "", isDescending: false }));
  if (expression.trim() !== "") keys.push({ column: "", expression, isDescending: false });
  return { ...rest, table: nameOf(part.table), name: part.name, keys, include: [] };
}
