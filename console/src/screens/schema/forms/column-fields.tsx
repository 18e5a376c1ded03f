/** The fields of one column. */
import { useCatalog } from "@/api/catalog";
import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Select } from "@/components/input";
import type { ColumnDraft, ReferenceAction } from "@/lib/sql/ddl/columns";
import { findExpressionFault } from "@/lib/sql/ddl/expression";
import { TableSelect, TypeInput, useOwnTables } from "./choices";
import { CommentField, ExpressionField, NameField, OptionField } from "./fields";

export const referenceActions: readonly ReferenceAction[] = [
  "no action",
  "restrict",
  "cascade",
  "set null",
  "set default",
];

interface ColumnFieldsProps {
  draft: ColumnDraft;
  onChange: (draft: ColumnDraft) => void;
  /** Whether the column is new. The foreign key of an existing column is changed by the form for constraints. */
  isNew: boolean;
  /** Name, type and "not null" stand in a line above, so they are left out here. */
  isBelowLine?: boolean;
}

/** A sentence that says what is missing in the column; null when it is complete. */
export function findColumnProblem(draft: ColumnDraft): string | null {
  if (draft.name.trim() === "") return "Name the column.";
  if (draft.type.trim() === "") return `Choose a type for ${draft.name}.`;
  return findExpressionFault(draft.defaultValue) ?? findExpressionFault(draft.type);
}

export function ColumnFields({ draft, onChange, isNew, isBelowLine = false }: ColumnFieldsProps) {
  const change = (changes: Partial<ColumnDraft>) => onChange({ ...draft, ...changes });
  return (
    <div className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        {!isBelowLine && (
          <>
            <NameField autoFocus value={draft.name} onChange={(name) => change({ name })} />
            <Field label="Type">
              {() => <TypeInput value={draft.type} onChange={(type) => change({ type })} />}
            </Field>
          </>
        )}
        <ExpressionField
          label="Default"
          hint="An expression, such as now() or 'draft'."
          disabled={draft.identity !== ""}
          value={draft.defaultValue}
          onChange={(defaultValue) => change({ defaultValue })}
        />
        <Field label="Identity">
          {(attributes) => (
            <Select
              {...attributes}
              value={draft.identity}
              onChange={(event) => {
                const identity =
                  event.target.value === "always" || event.target.value === "by default"
                    ? event.target.value
                    : "";
                change(identity === "" ? { identity } : { identity, defaultValue: "" });
              }}
            >
              <option value="">none</option>
              <option value="always">always</option>
              <option value="by default">by default</option>
            </Select>
          )}
        </Field>
      </div>
      <div className="flex flex-wrap gap-x-5 gap-y-2">
        {!isBelowLine && (
          <CheckboxField
            label="Not null"
            checked={!draft.isNullable}
            onChange={(checked) => change({ isNullable: !checked })}
          />
        )}
        <CheckboxField
          label="Unique"
          checked={draft.isUnique}
          onChange={(isUnique) => change({ isUnique })}
        />
      </div>
      {isNew && <ReferenceFields draft={draft} onChange={onChange} />}
      <CommentField value={draft.comment} onChange={(comment) => change({ comment })} />
    </div>
  );
}

function ReferenceFields({ draft, onChange }: Omit<ColumnFieldsProps, "isNew">) {
  const tables = useOwnTables();
  const catalog = useCatalog();
  const { references } = draft;
  const target = tables.find((table) => {
    return table.schema === references?.schema && table.name === references.name;
  });
  function choose(oid: string) {
    const table = catalog?.tablesByOid.get(oid);
    const column = table?.key[0] ?? table?.columns[0]?.name;
    if (table === undefined || column === undefined) {
      onChange({ ...draft, references: null });
      return;
    }
    const type = table.columns.find(({ name }) => name === column)?.type ?? draft.type;
    const { schema, name } = table;
    onChange({ ...draft, type, references: { schema, name, column, onDelete: "no action" } });
  }
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      <TableSelect label="References" none="nothing" value={target?.oid ?? ""} onChange={choose} />
      {references !== null && target !== undefined && (
        <>
          <OptionField
            label="Its column"
            options={target.columns.map(({ name }) => name)}
            value={references.column}
            onChange={(column) => onChange({ ...draft, references: { ...references, column } })}
          />
          <OptionField
            label="When it is deleted"
            options={referenceActions}
            value={references.onDelete}
            onChange={(onDelete) => onChange({ ...draft, references: { ...references, onDelete } })}
          />
        </>
      )}
    </div>
  );
}
