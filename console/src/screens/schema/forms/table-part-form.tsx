/** The frame of forms for constraints and indexes, which belong to a table and have a name. */
import { type ReactNode, useState } from "react";
import { useCatalog } from "@/api/catalog";
import type { Table } from "@/api/catalog-model";
import { TableSelect } from "./choices";
import { ColumnChoice } from "./column-choice";
import { NameField } from "./fields";
import { FormDialog, type SchemaChange } from "./form-dialog";

/** The members that constraints and indexes have in common. */
export interface TablePart {
  table: Table;
  /** Empty while the suggested name is taken. */
  name: string;
  columns: string[];
}

interface TablePartFormProps {
  title: string;
  /** The kind of object as the title of the change names it, such as "index". */
  kind: string;
  /** The fields above the columns, beside that of the table. */
  choice: ReactNode;
  hasColumns: boolean;
  findProblem: (columns: string[]) => string | null;
  suggestName: (part: TablePart) => string;
  describe: (part: TablePart) => string;
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
  /** The fields below the columns. */
  children: ReactNode;
}

export function TablePartForm({ title, kind, choice, hasColumns, ...props }: TablePartFormProps) {
  const catalog = useCatalog();
  const [oid, setOid] = useState("");
  const [name, setName] = useState("");
  const [columns, setColumns] = useState<string[]>([]);
  const table = catalog?.tablesByOid.get(oid);
  const problem = table === undefined ? "Choose a table." : props.findProblem(columns);
  const part = table === undefined || problem !== null ? null : { table, name, columns };
  const suggested = part === null ? "" : props.suggestName(part);
  const sql = part === null ? "" : props.describe({ ...part, name: name || suggested });
  return (
    <FormDialog
      title={title}
      sql={sql}
      problem={problem}
      onClose={props.onClose}
      onSubmit={() => props.onSubmit({ title: `Add ${kind} to ${table?.name ?? ""}`, sql })}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TableSelect
          label="Table"
          value={oid}
          onChange={(chosen) => {
            setOid(chosen);
            setColumns([]);
          }}
        />
        {choice}
      </div>
      {hasColumns && table !== undefined && (
        <ColumnChoice label="Columns" table={table} chosen={columns} onChange={setColumns} />
      )}
      {props.children}
      <NameField suggested={suggested} value={name} onChange={setName} />
    </FormDialog>
  );
}
