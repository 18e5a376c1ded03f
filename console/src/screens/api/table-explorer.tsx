/** A table or view of the API: verb, columns, filters, body. */
import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { Plus, X } from "lucide-react";
import { isView, type Table } from "@/api/catalog-model";
import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Input, Select, Textarea } from "@/components/input";
import { useKeptState } from "@/lib/forms/kept-state";
import { useSearchParams } from "@/lib/use-search-params";
import {
  findJsonProblem,
  hasFilters,
  type RestVerb,
  suggestRow,
  type TableRequest,
} from "./api-request";
import { LiveRequest } from "./live-request";

const verbs: readonly RestVerb[] = ["select", "insert", "upsert", "update", "delete"];
const operators = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "like",
  "ilike",
  "in",
  "is",
  "cs",
  "cd",
  "ov",
  "fts",
];

/** Without a filter PostgREST would change every row. */
function findProblem(request: TableRequest): string | null {
  const writesRows = request.verb === "update" || request.verb === "delete";
  if (writesRows && !request.filters.some(({ column }) => column !== "")) {
    return "Add a filter: without one the request would be about every row.";
  }
  if (request.verb === "select" || request.verb === "delete") return null;
  return findJsonProblem(request.body);
}

export function TableExplorer({ table }: { table: Table }) {
  const [params, setParams] = useSearchParams();
  const verb = verbs.find((each) => each === params.get("verb")) ?? "select";
  const [fields, setFields] = useKeptState<Omit<TableRequest, "verb">>(`api ${table.oid}`, () => ({
    kind: "table",
    schema: table.schema,
    table: table.name,
    select: "",
    filters: [],
    order: null,
    limit: 20,
    body: suggestRow(table.columns),
    rollsBack: true,
  }));
  const request: TableRequest = { ...fields, verb };
  const change = (changes: Partial<TableRequest>) => setFields({ ...fields, ...changes });
  const problem = findProblem(request);
  const setVerb = (next: RestVerb) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        after.set("verb", next);
        return after;
      },
      { replace: true },
    );
  return (
    <div className="mx-auto w-full max-w-4xl space-y-4 p-4">
      <fieldset className="flex flex-wrap gap-1">
        <legend className="sr-only">What the request does</legend>
        {verbs
          .filter((each) => each === "select" || !isView(table))
          .map((each) => (
            <Button
              key={each}
              size="dense"
              variant="quiet"
              aria-pressed={verb === each}
              className={cn(verb === each && "bg-selected text-ink")}
              onClick={() => setVerb(each)}
            >
              {each}
            </Button>
          ))}
      </fieldset>
      <Field
        label="Columns"
        hint="Empty for all; brand(name) embeds a table that a foreign key leads to."
      >
        {(attributes) => (
          <Input
            {...attributes}
            mono
            placeholder="*"
            value={fields.select}
            onChange={(event) => change({ select: event.target.value })}
          />
        )}
      </Field>
      {hasFilters(verb) && <Filters table={table} request={request} onChange={change} />}
      {verb === "select" && <OrderAndLimit table={table} request={request} onChange={change} />}
      {!["select", "delete"].includes(verb) && (
        <Field label="Body, JSON" error={findJsonProblem(fields.body) ?? undefined}>
          {(attributes) => (
            <Textarea
              {...attributes}
              mono
              rows={7}
              value={fields.body}
              onChange={(event) => change({ body: event.target.value })}
            />
          )}
        </Field>
      )}
      {verb !== "select" && (
        <CheckboxField
          label="Undo the write after the answer (tx=rollback)"
          checked={fields.rollsBack}
          onChange={(rollsBack) => change({ rollsBack })}
        />
      )}
      <LiveRequest request={request} problem={problem} />
    </div>
  );
}

interface PartProps {
  table: Table;
  request: TableRequest;
  onChange: (changes: Partial<TableRequest>) => void;
}

function Filters({ table, request, onChange }: PartProps) {
  const { filters } = request;
  const replace = (index: number, changes: Partial<(typeof filters)[number]>) =>
    onChange({
      filters: filters.map((each, at) => (at === index ? { ...each, ...changes } : each)),
    });
  return (
    <fieldset className="space-y-1.5">
      <legend className="mb-1 font-medium text-caption">Filters</legend>
      {filters.map((filter, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a line has no identity beside its place.
          key={index}
          className="grid grid-cols-[minmax(6rem,12rem)_5.5rem_minmax(0,1fr)_auto] items-center gap-2"
        >
          <Select
            aria-label="Column"
            value={filter.column}
            onChange={(event) => replace(index, { column: event.target.value })}
          >
            <option value="">Column…</option>
            {table.columns.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Select
            aria-label="Operator"
            value={filter.operator}
            onChange={(event) => replace(index, { operator: event.target.value })}
          >
            {operators.map((operator) => (
              <option key={operator}>{operator}</option>
            ))}
          </Select>
          <Input
            mono
            aria-label="Value"
            value={filter.value}
            onChange={(event) => replace(index, { value: event.target.value })}
          />
          <IconButton
            size="dense"
            label="Remove this filter"
            onClick={() => onChange({ filters: filters.filter((_, at) => at !== index) })}
          >
            <X aria-hidden="true" className="size-3.5" />
          </IconButton>
        </div>
      ))}
      <Button
        size="dense"
        variant="quiet"
        onClick={() =>
          onChange({ filters: [...filters, { column: "", operator: "eq", value: "" }] })
        }
      >
        <Plus aria-hidden="true" className="size-3.5" />
        Add a filter
      </Button>
    </fieldset>
  );
}

function OrderAndLimit({ table, request, onChange }: PartProps) {
  const { order, limit } = request;
  return (
    <div className="grid grid-cols-2 items-end gap-3 max-sm:*:first:col-span-2 sm:grid-cols-[minmax(0,1fr)_9rem_6rem]">
      <Field label="Order by">
        {(attributes) => (
          <Select
            {...attributes}
            value={order?.column ?? ""}
            onChange={(event) => {
              const column = event.target.value;
              const descending = order?.descending ?? false;
              onChange({ order: column === "" ? null : { column, descending } });
            }}
          >
            <option value="">no order</option>
            {table.columns.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
      </Field>
      <Field label="Direction">
        {(attributes) => (
          <Select
            {...attributes}
            disabled={order === null}
            value={order?.descending ? "desc" : "asc"}
            onChange={(event) => {
              if (order === null) return;
              onChange({ order: { ...order, descending: event.target.value === "desc" } });
            }}
          >
            <option value="asc">ascending</option>
            <option value="desc">descending</option>
          </Select>
        )}
      </Field>
      <Field label="Limit">
        {(attributes) => (
          <Input
            {...attributes}
            type="number"
            min={1}
            value={limit ?? ""}
            onChange={(event) => onChange({ limit: event.target.valueAsNumber || null })}
          />
        )}
      </Field>
    </div>
  );
}
