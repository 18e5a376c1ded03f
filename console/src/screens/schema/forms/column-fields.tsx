/** The fields of one column. */
import { useCatalog } from "@/api/catalog";
import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import type { ColumnDraft, ReferenceAction } from "@/lib/sql/ddl/columns";
import { findExpressionFault } from "@/lib/sql/ddl/expression";
import { TypeInput, useOwnTables } from "./choices";

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
  /** An existing column's foreign key is a constraint, which has a form of its own. */
  isNew: boolean;
}

/** What is missing in the column; null when it is complete. */
export function findColumnProblem(draft: ColumnDraft): string | null {
  if (draft.name.trim() === "") return "Name the column.";
  if (draft.type.trim() === "") return `Choose a type for ${draft.name}.`;
  return findExpressionFault(draft.defaultValue) ?? findExpressionFault(draft.type);
}

export function ColumnFields({ draft, onChange, isNew }: ColumnFieldsProps) {
  const change = (changes: Partial<ColumnDraft>) => onChange({ ...draft, ...changes });
  return (
    <div className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Name">
          {(attributes) => (
            <Input
              {...attributes}
              autoFocus
              mono
              value={draft.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label="Type">
          {() => <TypeInput value={draft.type} onChange={(type) => change({ type })} />}
        </Field>
        <Field
          label="Default"
          hint="An expression, such as now() or 'draft'."
          error={findExpressionFault(draft.defaultValue) ?? undefined}
        >
          {(attributes) => (
            <Input
              {...attributes}
              mono
              disabled={draft.identity !== ""}
              value={draft.defaultValue}
              onChange={(event) => change({ defaultValue: event.target.value })}
            />
          )}
        </Field>
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
        <CheckboxField
          label="Not null"
          checked={!draft.isNullable}
          onChange={(checked) => change({ isNullable: !checked })}
        />
        <CheckboxField
          label="Unique"
          checked={draft.isUnique}
          onChange={(isUnique) => change({ isUnique })}
        />
      </div>
      {isNew && <ReferenceFields draft={draft} onChange={onChange} />}
      <Field label="Comment">
        {(attributes) => (
          <Input
            {...attributes}
            value={draft.comment}
            onChange={(event) => change({ comment: event.target.value })}
          />
        )}
      </Field>
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
      <Field label="References">
        {(attributes) => (
          <Select
            {...attributes}
            value={target?.oid ?? ""}
            onChange={(event) => choose(event.target.value)}
          >
            <option value="">nothing</option>
            {tables.map(({ oid, schema, name }) => (
              <option key={oid} value={oid}>
                {schema === "public" ? name : `${schema}.${name}`}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {references !== null && target !== undefined && (
        <>
          <Field label="Its column">
            {(attributes) => (
              <Select
                {...attributes}
                value={references.column}
                onChange={(event) =>
                  onChange({ ...draft, references: { ...references, column: event.target.value } })
                }
              >
                {target.columns.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </Select>
            )}
          </Field>
          <Field label="When it is deleted">
            {(attributes) => (
              <Select
                {...attributes}
                value={references.onDelete}
                onChange={(event) => {
                  const onDelete = referenceActions.find((each) => each === event.target.value);
                  if (onDelete === undefined) return;
                  onChange({ ...draft, references: { ...references, onDelete } });
                }}
              >
                {referenceActions.map((action) => (
                  <option key={action}>{action}</option>
                ))}
              </Select>
            )}
          </Field>
        </>
      )}
    </div>
  );
}
