/** A new column, or changes of one. */
import { useState } from "react";
import { useCatalog } from "@/api/catalog";
import type { Column, Table } from "@/api/catalog-model";
import { addColumn, alterColumn, type ColumnDraft, emptyColumn } from "@/lib/sql/ddl/columns";
import { nameOf, TableSelect } from "./choices";
import { ColumnFields, findColumnProblem } from "./column-fields";
import { FormDialog, type SchemaChange } from "./form-dialog";

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
  const [before] = useState(() =>
    column !== null && given !== null ? toColumnDraft(column, given) : null,
  );
  const [draft, setDraft] = useState<ColumnDraft>(() => before ?? emptyColumn);
  const problem = table === null ? "Choose a table." : findColumnProblem(draft);
  const sql =
    table === null || problem !== null
      ? ""
      : before === null
        ? addColumn(nameOf(table), draft)
        : alterColumn(nameOf(table), before, draft);
  const place = table === null ? "" : table.name;
  return (
    <FormDialog
      title={
        column === null
          ? `New column${place === "" ? "" : ` of ${place}`}`
          : `Column ${column.name} of ${place}`
      }
      sql={sql}
      problem={problem}
      onClose={onClose}
      onSubmit={() =>
        onSubmit({
          title: `${column === null ? "Add" : "Change"} column ${draft.name} of ${place}`,
          sql,
        })
      }
    >
      {given === null && <TableSelect label="Table" value={oid} onChange={setOid} />}
      <ColumnFields draft={draft} onChange={setDraft} isNew={column === null} />
    </FormDialog>
  );
}
