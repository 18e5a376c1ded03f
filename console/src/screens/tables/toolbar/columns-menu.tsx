import { Button } from "@ui/button";
import { Columns3 } from "lucide-react";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import { Checkbox, Input } from "@/components/input";
import { Popover } from "@/components/popover";
import { Text } from "@/components/text";
import { ToolLabel } from "@/components/tool-label";
import { plural } from "@/lib/format";

/** A table may have 1600 columns; more than these are found by the search. */
const listedColumns = 200;

interface ColumnsMenuProps {
  table: Table;
  hidden: readonly string[];
  onChange: (hidden: string[]) => void;
}

/** Which columns are shown. Hidden ones are not read from the database either. */
export function ColumnsMenu({ table, hidden, onChange }: ColumnsMenuProps) {
  const [text, setText] = useState("");
  const shown = table.columns.filter(({ name }) => name.toLowerCase().includes(text.toLowerCase()));
  return (
    <Popover
      label="Columns"
      align="end"
      trigger={
        <Button size="dense" variant="quiet" title="Columns">
          <Columns3 aria-hidden="true" className="size-3.5" />
          <ToolLabel>Columns</ToolLabel>
          {hidden.length > 0 && (
            <span className="text-accent">
              {table.columns.length - hidden.length}/{table.columns.length}
            </span>
          )}
        </Button>
      }
    >
      {table.columns.length > 12 && (
        <Input
          type="search"
          aria-label="Search columns"
          placeholder="Search columns"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <ul className="my-2 grid max-h-80 gap-0.5 overflow-y-auto">
        {shown.slice(0, listedColumns).map(({ name }) => {
          const isVisible = !hidden.includes(name);
          const isLast = isVisible && hidden.length === table.columns.length - 1;
          return (
            <li key={name}>
              <label className="flex h-7 items-center gap-2 pointer-coarse:h-11">
                <Checkbox
                  checked={isVisible}
                  disabled={isLast}
                  onChange={() =>
                    onChange(
                      isVisible ? [...hidden, name] : hidden.filter((other) => other !== name),
                    )
                  }
                />
                <span className="truncate">
                  <Text>{name}</Text>
                </span>
              </label>
            </li>
          );
        })}
        {shown.length > listedColumns && (
          <li className="text-caption text-ink-soft">
            {plural(shown.length - listedColumns, "more column")}. Search for one by its name.
          </li>
        )}
      </ul>
      <Button
        size="dense"
        variant="quiet"
        disabled={hidden.length === 0}
        onClick={() => onChange([])}
      >
        Show all
      </Button>
    </Popover>
  );
}
