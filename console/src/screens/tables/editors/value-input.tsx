import { isComposing } from "@ui/keys";
import { keepLineEnds } from "@ui/line-ends";
import type { FocusEvent, KeyboardEvent } from "react";
import type { Column, EnumType } from "@/api/catalog-model";
import { Input, Select, Textarea } from "@/components/input";
import type { ColumnKind } from "@/lib/rows/column-kind";
import type { Cell } from "@/lib/rows/types";
import { isMac } from "@/lib/shortcuts";

interface ValueInputProps {
  id?: string | undefined;
  "aria-label"?: string | undefined;
  "aria-invalid"?: true | undefined;
  "aria-describedby"?: string | undefined;
  column: Column;
  kind: ColumnKind;
  enumType: EnumType | undefined;
  /** Null while nothing has been chosen or typed. */
  cell: Cell | null;
  onChange: (cell: Cell) => void;
  onKeyDown?: (event: KeyboardEvent<HTMLElement>) => void;
  autoFocus?: boolean;
  disabled?: boolean;
  /** Several lines for texts, as in the row's form. */
  isTall?: boolean;
}

const nullChoice = "\u0000null";
const defaultChoice = "\u0000default";
const noChoice = "\u0000none";

const placeholders: Partial<Record<ColumnKind, string>> = {
  timestamp: "2026-01-31 09:30:00+00",
  date: "2026-01-31",
  time: "09:30:00",
  uuid: "00000000-0000-0000-0000-000000000000",
  array: "{a,b}",
  range: "[1,10)",
  bytea: "\\x00ff",
};

const pattern: Partial<Record<ColumnKind, "decimal">> = { number: "decimal" };

export function signOfCell(cell: Cell | null, kind: ColumnKind): string {
  if (cell === null) return placeholders[kind] ?? "";
  if ("default" in cell) return "default";
  if (cell.value === null) return "NULL";
  return cell.value === "" ? "empty" : (placeholders[kind] ?? "");
}

/** Types whose values are chosen or typed in one line; the others get a field of several lines. */
const oneLine: ReadonlySet<ColumnKind> = new Set([
  "number",
  "timestamp",
  "date",
  "time",
  "uuid",
  "range",
]);

/**
 * The field for a value of this type. Typing makes a text, clearing makes the empty text; null and default are chosen by key or
 * menu, and shown as signs in the empty field.
 */
export function ValueInput({
  column,
  kind,
  enumType,
  cell,
  onChange,
  onKeyDown,
  isTall = false,
  autoFocus = false,
  ...rest
}: ValueInputProps) {
  const value = cell !== null && "value" in cell ? cell.value : null;
  const text = value ?? "";
  const keys = (event: KeyboardEvent<HTMLElement>) => {
    if (meansNull(event, text) && column.nullable) {
      event.preventDefault();
      onChange({ value: null });
      return;
    }
    onKeyDown?.(event);
  };
  const shared = {
    ...rest,
    onKeyDown: keys,
    autoFocus,
    ...(autoFocus && {
      onFocus: (event: FocusEvent<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>) => {
        if (!(event.target instanceof HTMLSelectElement)) event.target.select();
      },
    }),
  };
  if (kind === "boolean" || kind === "enum") {
    const choice = choiceOfCell(cell);
    const values = kind === "boolean" ? ["t", "f"] : (enumType?.values ?? []);
    return (
      <Select
        {...shared}
        value={choice}
        onChange={(event) => onChange(cellOfChoice(event.target.value))}
      >
        {choice === noChoice && (
          <option value={noChoice} disabled>
            Choose a value
          </option>
        )}
        {kind === "boolean" ? (
          <>
            <option value="t">true</option>
            <option value="f">false</option>
          </>
        ) : (
          values.map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))
        )}
        {/* A value that the enum has lost since the row was written is still shown. */}
        {value !== null && !values.includes(value) && <option value={value}>{value}</option>}
        {(column.nullable || choice === nullChoice) && <option value={nullChoice}>NULL</option>}
        {(column.default !== null || choice === defaultChoice) && (
          <option value={defaultChoice}>default</option>
        )}
      </Select>
    );
  }
  if (oneLine.has(kind)) {
    return (
      <Input
        {...shared}
        mono
        inputMode={pattern[kind]}
        placeholder={signOfCell(cell, kind)}
        value={text}
        onChange={(event) => onChange({ value: event.target.value })}
      />
    );
  }
  return (
    <Textarea
      {...shared}
      mono={kind !== "text"}
      rows={isTall ? rowsOf(text, kind) : 1}
      placeholder={signOfCell(cell, kind)}
      value={text}
      onChange={(event) => onChange({ value: keepLineEnds(text, event.target.value) })}
    />
  );
}

/**
 * Whether the press sets the field to NULL. On a Mac Option and Backspace delete a word in every field, so that they mean NULL in
 * an empty one alone.
 */
function meansNull(event: KeyboardEvent<HTMLElement>, text: string): boolean {
  if (!event.altKey || event.key !== "Backspace" || isComposing(event)) return false;
  return !isMac || text === "" || event.target instanceof HTMLSelectElement;
}

function choiceOfCell(cell: Cell | null): string {
  if (cell === null) return noChoice;
  if ("default" in cell) return defaultChoice;
  return cell.value ?? nullChoice;
}

function cellOfChoice(choice: string): Cell {
  if (choice === defaultChoice) return { default: true };
  return { value: choice === nullChoice ? null : choice };
}

function rowsOf(text: string, kind: ColumnKind): number {
  const lines = text.split("\n").length + Math.floor(text.length / 60);
  return Math.min(12, Math.max(kind === "json" ? 3 : 1, lines));
}
