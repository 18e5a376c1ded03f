import { Button } from "@ui/button";
import type { Catalog, Table } from "@/api/catalog-model";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import { columnKind, enumOf, isValues, operatorsOf } from "@/lib/rows/column-kind";
import type { Filter } from "@/lib/rows/types";

interface FilterFormProps {
  table: Table;
  catalog: Catalog;
  initial: Filter;
  onApply: (filter: Filter) => void;
  /** Called with every change, so that closing the panel loses nothing. */
  onType: (filter: Filter) => void;
  /** Throws away what was typed before the panel was closed; absent where nothing was. */
  onDiscard?: (() => void) | undefined;
}

/** Column, operator and value of one filter; the operators are those of the column's type. */
export function FilterForm(props: FilterFormProps) {
  const { table, catalog, initial, onApply, onType, onDiscard } = props;
  const kindOf = ({ column: name, path = [] }: Filter) => {
    const column = table.columns.find((other) => other.name === name);
    // A JSON path yields text, so it is compared as text.
    return column === undefined || path.length > 0 ? "text" : columnKind(column, catalog);
  };
  /** The values among which one is chosen; undefined where a text is typed. */
  const choicesOf = (filter: Filter): readonly string[] | undefined => {
    if (filter.operator === "is") return isValues(kindOf(filter));
    if (filter.operator !== "eq" && filter.operator !== "neq") return undefined;
    const column = table.columns.find(({ name }) => name === filter.column);
    return enumOf(column?.type ?? "", catalog.enums)?.values;
  };
  const form = useDraftForm<Filter>({
    saved: initial,
    isNew: true,
    findProblem: () => null,
    onSubmit: (chosen) => {
      const values = choicesOf(chosen);
      const isOffered = values === undefined || values.includes(chosen.value);
      onApply(isOffered ? chosen : { ...chosen, value: values[0] ?? "" });
    },
  });
  const filter = form.draft;
  const hasPath = (filter.path?.length ?? 0) > 0;
  const kind = kindOf(filter);
  const ownKind = kindOf({ ...filter, path: [] });
  const operators = operatorsOf(kind);
  const change = (changes: Partial<Filter>) => {
    form.change(changes);
    onType({ ...filter, ...changes });
  };
  const changeColumn = (name: string) => {
    const next = table.columns.find((other) => other.name === name);
    const nextKind = next === undefined ? "text" : columnKind(next, catalog);
    const operator = operatorsOf(nextKind)[0]?.name ?? "eq";
    change({ column: name, operator, value: operator === "is" ? "true" : "", path: [] });
  };
  const values = choicesOf(filter);
  return (
    <form className="grid gap-3" onSubmit={(event) => void form.submit(event)}>
      <Field label="Column">
        {(attributes) => (
          <Select
            {...attributes}
            value={filter.column}
            onChange={(event) => changeColumn(event.target.value)}
          >
            {table.columns.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {ownKind === "json" && (
        <Field label="Path" hint="Keys separated by dots, or nothing for the whole value">
          {(attributes) => (
            <Input
              {...attributes}
              mono
              value={filter.path?.join(".") ?? ""}
              onChange={(event) =>
                change({
                  path: event.target.value === "" ? [] : event.target.value.split("."),
                  ...(!hasPath && { operator: "eq" }),
                })
              }
            />
          )}
        </Field>
      )}
      <Field label="Operator">
        {(attributes) => (
          <Select
            {...attributes}
            value={filter.operator}
            onChange={(event) => change({ operator: event.target.value })}
          >
            {operators.map(({ name, label, sign }) => (
              <option key={name} value={name}>
                {label} ({sign})
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field
        label="Value"
        hint={
          filter.operator === "in"
            ? "In parentheses, separated by commas: (a,b)"
            : filter.operator === "like" || filter.operator === "ilike"
              ? "% stands for any text, _ for one character"
              : undefined
        }
      >
        {(attributes) =>
          values === undefined ? (
            <Input
              {...attributes}
              mono
              value={filter.value}
              onChange={(event) => change({ value: event.target.value })}
            />
          ) : (
            <Select
              {...attributes}
              value={values.includes(filter.value) ? filter.value : values[0]}
              onChange={(event) => change({ value: event.target.value })}
            >
              {values.map((value) => (
                <option key={value} value={value}>
                  {value.replace("_", " ")}
                </option>
              ))}
            </Select>
          )
        }
      </Field>
      <div className="flex justify-end gap-2">
        {onDiscard !== undefined && (
          <Button size="dense" variant="quiet" onClick={onDiscard}>
            Discard
          </Button>
        )}
        <Button size="dense" variant="primary" type="submit">
          Apply
        </Button>
      </div>
    </form>
  );
}
