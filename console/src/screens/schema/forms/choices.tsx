/** Choices that several forms about the schema offer. */
import { useCatalog } from "@/api/catalog";
import { platformSchemas, type Table } from "@/api/catalog-model";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { quoteName } from "@/lib/sql/quote";

const usualTypes = [
  "text",
  "bigint",
  "integer",
  "boolean",
  "uuid",
  "timestamptz",
  "date",
  "numeric",
  "double precision",
  "jsonb",
  "text[]",
  "bytea",
  "interval",
  "time",
  "inet",
  "tstzrange",
];

/** A type, free to write, with the usual ones and the project's enums to choose from. */
export function TypeInput({
  value,
  onChange,
  label = "Type",
  disabled = false,
}: {
  value: string;
  onChange: (type: string) => void;
  label?: string;
  disabled?: boolean;
}) {
  const enums = useCatalog()?.enums ?? [];
  const own = enums
    .filter(({ schema }) => !platformSchemas.has(schema))
    .map(({ schema, name }) => quoteName(schema, name));
  return (
    <>
      <Input
        mono
        aria-label={label}
        list="column-types"
        disabled={disabled}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id="column-types">
        {[...usualTypes, ...own].map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
    </>
  );
}

export function SchemaSelect({
  value,
  onChange,
}: {
  value: string;
  onChange: (schema: string) => void;
}) {
  const schemas = useCatalog()?.schemas ?? [];
  return (
    <Field label="Schema">
      {(attributes) => (
        <Select {...attributes} value={value} onChange={(event) => onChange(event.target.value)}>
          {schemas
            .filter(({ name }) => name === value || !platformSchemas.has(name))
            .map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
        </Select>
      )}
    </Field>
  );
}

/** Tables that can be changed: no views, own schemas first. */
export function useOwnTables(): Table[] {
  const tables = useCatalog()?.tables ?? [];
  return tables
    .filter(({ kind }) => kind === "r" || kind === "p")
    .sort((a, b) => {
      const foreign = Number(platformSchemas.has(a.schema)) - Number(platformSchemas.has(b.schema));
      return foreign || a.schema.localeCompare(b.schema) || a.name.localeCompare(b.name);
    });
}

export function TableSelect({
  label,
  value,
  none = "Choose…",
  onChange,
}: {
  label: string;
  /** The table's oid. */
  value: string;
  /** The placeholder while no table is chosen. */
  none?: string;
  onChange: (oid: string) => void;
}) {
  const tables = useOwnTables();
  return (
    <Field label={label}>
      {(attributes) => (
        <Select {...attributes} value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{none}</option>
          {tables.map(({ oid, schema, name }) => (
            <option key={oid} value={oid}>
              {schema === "public" ? name : `${schema}.${name}`}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

export const nameOf = ({ schema, name }: Table) => ({ schema, name });
