/** The frame of forms for constraints and indexes, which belong to a table and have a name. */
import type { ReactNode } from "react";
import type { FieldValues } from "react-hook-form";
import { useCatalog } from "@/api/catalog";
import type { Table } from "@/api/catalog-model";
import { TableSelect } from "./choices";
import { ColumnChoice } from "./column-choice";
import { NameField } from "./fields";
import { FormDialog, type FormState, type SchemaChange } from "./form-dialog";
import { useSchemaForm } from "./use-schema-form";

/** The fields that constraints and indexes have in common. */
export interface PartFields {
  /** The table's oid; empty while none is chosen. */
  table: string;
  /** Empty while the suggested name is taken. */
  name: string;
  columns: string[];
}

export const noPart: PartFields = { table: "", name: "", columns: [] };

/** The members that constraints and indexes have in common. */
export interface TablePart {
  table: Table;
  name: string;
  columns: string[];
}

interface PartFormOptions<Draft> {
  saved: Draft;
  /** The kind of object as the title of the change names it, such as "index". */
  kindOf: (draft: Draft) => string;
  findProblem: (draft: Draft) => string | null;
  suggestName: (draft: Draft, part: TablePart) => string;
  describe: (draft: Draft, part: TablePart) => string;
  onSubmit: (change: SchemaChange) => void;
}

/** The state of such a form, with the name that is taken when none is written. */
export function usePartForm<Draft extends PartFields & FieldValues>({
  saved,
  kindOf,
  findProblem,
  suggestName,
  describe,
  onSubmit,
}: PartFormOptions<Draft>) {
  const catalog = useCatalog();
  const tableOf = (draft: Draft) => catalog?.tablesByOid.get(draft.table);
  function partOf(draft: Draft): TablePart | null {
    const table = tableOf(draft);
    if (table === undefined || findProblem(draft) !== null) return null;
    const part = { table, name: draft.name, columns: draft.columns };
    return { ...part, name: draft.name || suggestName(draft, part) };
  }
  const form = useSchemaForm<Draft>({
    saved,
    isNew: true,
    findProblem: (draft) => (tableOf(draft) === undefined ? "Choose a table." : findProblem(draft)),
    describe: (draft) => {
      const part = partOf(draft);
      return {
        title: `Add ${kindOf(draft)} to ${part?.table.name ?? ""}`,
        sql: part === null ? "" : describe(draft, part),
      };
    },
    onSubmit,
  });
  const part = partOf({ ...form.draft, name: "" });
  return { ...form, table: tableOf(form.draft), suggested: part?.name ?? "" };
}

interface TablePartFormProps {
  title: string;
  form: FormState & {
    draft: PartFields;
    table: Table | undefined;
    suggested: string;
    change: (changes: Partial<PartFields>) => void;
  };
  /** The fields above the columns, beside that of the table. */
  choice: ReactNode;
  hasColumns: boolean;
  onClose: () => void;
  /** The fields below the columns. */
  children: ReactNode;
}

export function TablePartForm(props: TablePartFormProps) {
  const { title, form, choice, hasColumns, onClose, children } = props;
  const { draft, table, change } = form;
  return (
    <FormDialog title={title} form={form} onClose={onClose}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TableSelect
          label="Table"
          value={draft.table}
          onChange={(chosen) => change({ table: chosen, columns: [] })}
        />
        {choice}
      </div>
      {hasColumns && table !== undefined && (
        <ColumnChoice
          label="Columns"
          table={table}
          chosen={draft.columns}
          onChange={(columns) => change({ columns })}
        />
      )}
      {children}
      <NameField
        suggested={form.suggested}
        value={draft.name}
        onChange={(name) => change({ name })}
      />
    </FormDialog>
  );
}
