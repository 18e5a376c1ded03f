/** A new table: its columns as lines, the rest of a column on demand. */
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Plus, Settings2, X } from "lucide-react";
import { useState } from "react";
import { CheckboxField } from "@/components/checkbox-field";
import { Input } from "@/components/input";
import { type ColumnDraft, emptyColumn } from "@/lib/sql/ddl/columns";
import { createTable, newTable, type TableDraft } from "@/lib/sql/ddl/tables";
import { SchemaSelect, TypeInput } from "./choices";
import { ColumnFields, findColumnProblem } from "./column-fields";
import { CommentField, NameField } from "./fields";
import { FormDialog, type SchemaChange } from "./form-dialog";
import { useSchemaForm } from "./use-schema-form";

interface TableFormProps {
  schema: string;
  onSubmit: (change: SchemaChange) => void;
  onClose: () => void;
}

function findProblem(table: TableDraft): string | null {
  if (table.name.trim() === "") return "Name the table.";
  const names = table.columns.map(({ name }) => name);
  const repeated = names.find((name, index) => name !== "" && names.indexOf(name) !== index);
  if (repeated !== undefined) return `Two columns are called ${repeated}.`;
  return table.columns.map(findColumnProblem).find((problem) => problem !== null) ?? null;
}

export function TableForm({ schema, onSubmit, onClose }: TableFormProps) {
  const form = useSchemaForm<TableDraft>({
    saved: { ...newTable, schema: schema || "public" },
    isNew: true,
    findProblem,
    describe: (draft) => ({ title: `Create table ${draft.name}`, sql: createTable(draft) }),
    onSubmit,
  });
  const { draft: table, change } = form;
  const [opened, setOpened] = useState<number | null>(null);
  const changeColumn = (index: number, column: ColumnDraft) =>
    change({ columns: table.columns.map((each, at) => (at === index ? column : each)) });
  return (
    <FormDialog title="New table" form={form} onClose={onClose}>
      <div className="grid gap-4 sm:grid-cols-[10rem_minmax(0,1fr)]">
        <SchemaSelect value={table.schema} onChange={(name) => change({ schema: name })} />
        <NameField autoFocus value={table.name} onChange={(name) => change({ name })} />
      </div>
      <CommentField value={table.comment} onChange={(comment) => change({ comment })} />
      <CheckboxField
        label="Row-level security: no row is reached unless a policy allows it"
        checked={table.enablesRls}
        onChange={(enablesRls) => change({ enablesRls })}
      />
      <fieldset>
        <legend className="mb-1.5 font-medium text-caption">Columns</legend>
        <ul className="space-y-2">
          {table.columns.map((column, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a column that is being named has no identity but its place.
            <li key={index} className="rounded-sm border border-line bg-surface p-2">
              <ColumnLine
                column={column}
                isOpen={opened === index}
                onChange={(next) => changeColumn(index, next)}
                onToggle={() => setOpened(opened === index ? null : index)}
                onRemove={() => change({ columns: table.columns.filter((_, at) => at !== index) })}
              />
              {opened === index && (
                <div className="mt-3 border-line border-t pt-3">
                  <ColumnFields
                    isNew
                    isBelowLine
                    draft={column}
                    onChange={(next) => changeColumn(index, next)}
                  />
                </div>
              )}
            </li>
          ))}
        </ul>
        <Button
          size="dense"
          className="mt-2"
          onClick={() => change({ columns: [...table.columns, emptyColumn] })}
        >
          <Plus aria-hidden="true" className="size-3.5" />
          Add a column
        </Button>
      </fieldset>
    </FormDialog>
  );
}

interface ColumnLineProps {
  column: ColumnDraft;
  isOpen: boolean;
  onChange: (column: ColumnDraft) => void;
  onToggle: () => void;
  onRemove: () => void;
}

function ColumnLine({ column, isOpen, onChange, onToggle, onRemove }: ColumnLineProps) {
  const name = column.name === "" ? "the new column" : column.name;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <div className="min-w-32 flex-1 max-md:basis-[45%]">
        <Input
          mono
          aria-label="Name of the column"
          placeholder="name"
          value={column.name}
          onChange={(event) => onChange({ ...column, name: event.target.value })}
        />
      </div>
      <div className="w-36 max-md:w-auto max-md:flex-1 max-md:basis-[45%]">
        <TypeInput
          label={`Type of ${name}`}
          value={column.type}
          onChange={(type) => onChange({ ...column, type })}
        />
      </div>
      <CheckboxField
        label="key"
        checked={column.isPrimary}
        onChange={(isPrimary) => onChange({ ...column, isPrimary })}
      />
      <CheckboxField
        label="not null"
        checked={!column.isNullable || column.isPrimary}
        disabled={column.isPrimary}
        onChange={(checked) => onChange({ ...column, isNullable: !checked })}
      />
      <IconButton
        size="dense"
        label={`More about ${name}`}
        aria-expanded={isOpen}
        onClick={onToggle}
      >
        <Settings2 aria-hidden="true" className="size-3.5" />
      </IconButton>
      <IconButton size="dense" label={`Remove ${name}`} onClick={onRemove}>
        <X aria-hidden="true" className="size-3.5" />
      </IconButton>
    </div>
  );
}
