/** Columns of a table, chosen in the order in which they are to stand. */
import type { Table } from "@/api/catalog-model";
import { CheckboxField } from "@/components/checkbox-field";
import { Text } from "@/components/text";

interface ColumnChoiceProps {
  label: string;
  table: Table;
  chosen: readonly string[];
  onChange: (columns: string[]) => void;
}

export function ColumnChoice({ label, table, chosen, onChange }: ColumnChoiceProps) {
  return (
    <fieldset>
      <legend className="mb-1 font-medium text-caption">{label}</legend>
      <div className="flex max-h-36 flex-wrap gap-x-4 gap-y-1.5 overflow-y-auto rounded-sm border border-line p-2">
        {table.columns.map(({ name }) => {
          const place = chosen.indexOf(name);
          return (
            <CheckboxField
              key={name}
              checked={place >= 0}
              onChange={(checked) =>
                onChange(checked ? [...chosen, name] : chosen.filter((each) => each !== name))
              }
              label={
                <>
                  <Text>{name}</Text>
                  {chosen.length > 1 && place >= 0 && (
                    <span className="ml-1 text-ink-soft text-micro">{place + 1}</span>
                  )}
                </>
              }
            />
          );
        })}
      </div>
    </fieldset>
  );
}
