/** The fields of the simulator's request, by its kind. */
import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Plus, X } from "lucide-react";
import type { Table } from "@/api/catalog-model";
import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Input, Select, Textarea } from "@/components/input";
import { LazySqlEditor } from "@/components/sql-editor/lazy-sql-editor";
import { type RequestDraft, simulatedVerbs, takesFilters, takesValues } from "./request-draft";

interface RequestFieldsProps {
  table: Table | null;
  draft: RequestDraft;
  onChange: (draft: RequestDraft) => void;
  onRun: () => void;
}

export function RequestFields({ table, draft, onChange, onRun }: RequestFieldsProps) {
  const change = (changes: Partial<RequestDraft>) => onChange({ ...draft, ...changes });
  switch (draft.kind) {
    case "verb":
      return table === null ? null : <VerbFields table={table} draft={draft} onChange={onChange} />;
    case "sql":
      return (
        <div className="mt-3">
          <LazySqlEditor
            field
            label="SQL to simulate"
            value={draft.sql}
            onChange={(sql) => change({ sql })}
            onRun={onRun}
            placeholder="select …"
            className="[&_.cm-scroller]:min-h-20"
          />
        </div>
      );
    case "rest":
      return <RestFields draft={draft} onChange={onChange} />;
    case "log":
      return (
        <div className="mt-3">
          <Field
            label="A line of a log, or a curl command"
            hint="Method and path are read from it; the subject is chosen above."
          >
            {(attributes) => (
              <Textarea
                {...attributes}
                mono
                rows={3}
                value={draft.line}
                onChange={(event) => change({ line: event.target.value })}
              />
            )}
          </Field>
        </div>
      );
  }
}

interface FieldsProps {
  draft: RequestDraft;
  onChange: (draft: RequestDraft) => void;
}

function RestFields({ draft, onChange }: FieldsProps) {
  const change = (changes: Partial<RequestDraft>) => onChange({ ...draft, ...changes });
  return (
    <div className="mt-3 space-y-2">
      <div className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-2">
        <Select
          aria-label="Method"
          value={draft.method}
          onChange={(event) => change({ method: event.target.value })}
        >
          {["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE"].map((method) => (
            <option key={method}>{method}</option>
          ))}
        </Select>
        <Input
          mono
          aria-label="Path and query"
          value={draft.path}
          onChange={(event) => change({ path: event.target.value })}
        />
      </div>
      {!["GET", "HEAD", "DELETE"].includes(draft.method) && (
        <Field label="Body, JSON">
          {(attributes) => (
            <Textarea
              {...attributes}
              mono
              rows={4}
              value={draft.body}
              onChange={(event) => change({ body: event.target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}

const operators = ["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is"];

function VerbFields({ table, draft, onChange }: FieldsProps & { table: Table }) {
  const change = (changes: Partial<RequestDraft>) => onChange({ ...draft, ...changes });
  return (
    <div className="mt-3 space-y-3">
      <div className="flex flex-wrap items-center gap-3">
        <Select
          aria-label="Verb"
          className="w-28"
          value={draft.verb}
          onChange={(event) => {
            const verb = simulatedVerbs.find((each) => each === event.target.value);
            if (verb !== undefined) change({ verb });
          }}
        >
          {simulatedVerbs.map((verb) => (
            <option key={verb}>{verb}</option>
          ))}
        </Select>
        {draft.verb !== "select" && (
          <CheckboxField
            label="return=representation"
            checked={draft.returning}
            onChange={(returning) => change({ returning })}
          />
        )}
      </div>
      {takesValues(draft.verb) && <Values table={table} draft={draft} onChange={onChange} />}
      {takesFilters(draft.verb) && <Filters table={table} draft={draft} onChange={onChange} />}
    </div>
  );
}

function ColumnSelect({
  table,
  value,
  onChange,
}: {
  table: Table;
  value: string;
  onChange: (column: string) => void;
}) {
  return (
    <Select aria-label="Column" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">Column…</option>
      {table.columns.map(({ name }) => (
        <option key={name}>{name}</option>
      ))}
    </Select>
  );
}

function Values({ table, draft, onChange }: FieldsProps & { table: Table }) {
  const set = (values: RequestDraft["values"]) => onChange({ ...draft, values });
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1 text-caption text-ink-soft">
        Values; columns without one take their default
      </legend>
      {draft.values.map((entry, index) => {
        const replace = (changes: Partial<typeof entry>) =>
          set(draft.values.map((each, at) => (at === index ? { ...each, ...changes } : each)));
        return (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity beside its place.
            key={index}
            className="grid grid-cols-[minmax(6rem,11rem)_minmax(0,1fr)_auto_auto] items-center gap-2"
          >
            <ColumnSelect
              table={table}
              value={entry.column}
              onChange={(column) => replace({ column })}
            />
            <Input
              mono
              aria-label="Value"
              disabled={entry.value === null}
              placeholder={entry.value === null ? "null" : "empty"}
              value={entry.value ?? ""}
              onChange={(event) => replace({ value: event.target.value })}
            />
            <CheckboxField
              label="null"
              checked={entry.value === null}
              onChange={(checked) => replace({ value: checked ? null : "" })}
            />
            <RemoveLine onRemove={() => set(draft.values.filter((_, at) => at !== index))} />
          </div>
        );
      })}
      <AddLine
        label="Add a value"
        onAdd={() => set([...draft.values, { column: "", value: "" }])}
      />
    </fieldset>
  );
}

function Filters({ table, draft, onChange }: FieldsProps & { table: Table }) {
  const set = (filters: RequestDraft["filters"]) => onChange({ ...draft, filters });
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1 text-caption text-ink-soft">
        {draft.filters.length === 0 ? "All rows" : "Rows where"}
      </legend>
      {draft.filters.map((filter, index) => {
        const replace = (changes: Partial<typeof filter>) =>
          set(draft.filters.map((each, at) => (at === index ? { ...each, ...changes } : each)));
        return (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity beside its place.
            key={index}
            className="grid grid-cols-[minmax(6rem,11rem)_5.5rem_minmax(0,1fr)_auto] items-center gap-2"
          >
            <ColumnSelect
              table={table}
              value={filter.column}
              onChange={(column) => replace({ column })}
            />
            <Select
              aria-label="Operator"
              value={filter.operator}
              onChange={(event) => replace({ operator: event.target.value })}
            >
              {operators.map((operator) => (
                <option key={operator}>{operator}</option>
              ))}
            </Select>
            <Input
              mono
              aria-label="Value"
              value={filter.value}
              onChange={(event) => replace({ value: event.target.value })}
            />
            <RemoveLine onRemove={() => set(draft.filters.filter((_, at) => at !== index))} />
          </div>
        );
      })}
      <AddLine
        label="Add a condition"
        onAdd={() => set([...draft.filters, { column: "", operator: "eq", value: "" }])}
      />
    </fieldset>
  );
}

function AddLine({ label, onAdd }: { label: string; onAdd: () => void }) {
  return (
    <Button size="dense" variant="quiet" onClick={onAdd}>
      <Plus aria-hidden="true" className="size-3.5" />
      {label}
    </Button>
  );
}

function RemoveLine({ onRemove }: { onRemove: () => void }) {
  return (
    <IconButton size="dense" label="Remove this line" onClick={onRemove}>
      <X aria-hidden="true" className="size-3.5" />
    </IconButton>
  );
}
