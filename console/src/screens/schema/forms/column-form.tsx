/** A new column, or changes of one. */
import { useState } from "react";
import { useCatalog } from "@/api/catalog";
import type { Column, Table } from "@/api/catalog-model";
import { addColumn, alterColumn, type ColumnDraft, emptyColumn } from "@/lib/sql/ddl/columns";
import { nameOf, TableSelect } from "./choices";
import { ColumnFields, findColumnProblem } from "./column-fields";
import { FormDialog, type SchemaChange } from "./form-dialog";
import { useSchemaForm } from "./use-schema-form";

interface ColumnFormProps {
  /** Null lets the user choose one. */
  table: Table | null;
  /** The column to change; null for a new one. */
  column: Column | null;
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

/** The catalog's column as the form's draft. */
export function toColumnDraft(column: Column, table: Table): ColumnDraft {
  return {
    ...emptyColumn,
    name: column.name,
    type: column.type,
    isNullable: column.nullable,
    defaultValue: column.identity === null ? (column.default ?? "") : "",
    identity: column.identity === "a" ? "always" : column.identity === "d" ? "by default" : "",
    isPrimary: table.key.includes(column.name),
    comment: column.comment ?? "",
  };
}

export function ColumnForm({ table: given, column, onSubmit, onClose }: ColumnFormProps) {
  const catalog = useCatalog();
  const [oid, setOid] = useState(given?.oid ?? "");
  const table = catalog?.tablesByOid.get(oid) ?? given;
  const place = table === null ? "" : table.name;
  // The column as it is now: somebody else may have changed it since the form was opened.
  const present = table?.columns.find(({ name }) => name === column?.name);
  const [opened] = useState(() =>
    column !== null && given !== null ? toColumnDraft(column, given) : emptyColumn,
  );
  const form = useSchemaForm<ColumnDraft>({
    saved: present === undefined || table === null ? opened : toColumnDraft(present, table),
    isNew: column === null,
    findProblem: (draft) => {
      if (table === null) return "Choose a table.";
      if (column !== null && present === undefined) {
        return `The column ${column.name} does not exist any more.`;
      }
      return findColumnProblem(draft);
    },
    describe: (draft, saved) => ({
      title: `${column === null ? "Add" : "Change"} column ${draft.name} of ${place}`,
      sql:
        table === null
          ? ""
          : column === null
            ? addColumn(nameOf(table), draft)
            : alterColumn(nameOf(table), saved, draft),
    }),
    onSubmit,
  });
  return (
    <FormDialog
      title={
        column === null
          ? `New column${place === "" ? "" : ` of ${place}`}`
          : `Column ${column.name} of ${place}`
      }
      form={form}
      onClose={onClose}
    >
      {given === null && <TableSelect label="Table" value={oid} onChange={setOid} />}
      <ColumnFields draft={form.draft} onChange={form.change} isNew={column === null} />
    </FormDialog>
  );
}
