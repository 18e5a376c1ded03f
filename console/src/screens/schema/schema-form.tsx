/** The schema form that is open. */
import type { Column, Table } from "@/api/catalog-model";
import type { SchemaObject } from "@/api/objects";
import { ColumnForm } from "./forms/column-form";
import { ConstraintForm } from "./forms/constraint-form";
import { EnumForm } from "./forms/enum-form";
import type { SchemaChange } from "./forms/form-dialog";
import { IndexForm } from "./forms/index-form";
import { TableForm } from "./forms/table-form";

export type OpenForm =
  | { form: "table" | "constraint" | "index" }
  | { form: "column"; table: Table | null; column: Column | null }
  | { form: "enum"; type: SchemaObject | null };

interface SchemaFormProps {
  open: OpenForm;
  schema: string;
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

export function SchemaForm({ open, schema, ...rest }: SchemaFormProps) {
  switch (open.form) {
    case "table":
      return <TableForm schema={schema} {...rest} />;
    case "constraint":
      return <ConstraintForm {...rest} />;
    case "index":
      return <IndexForm {...rest} />;
    case "column":
      return <ColumnForm table={open.table} column={open.column} {...rest} />;
    case "enum":
      return <EnumForm type={open.type} schema={schema} {...rest} />;
  }
}
