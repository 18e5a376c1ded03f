/** The whole value of a cell that was opened; JSON is laid out. */
import { CopyButton } from "@/components/copy-button";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import { isJson, layOutJson } from "@/lib/json-text";
import { CellEditor } from "./cell-editor";
import { type EditableCell, identifyCell } from "./edit-result";
import type { ResultColumn } from "./runs/run-model";

export interface OpenCell {
  column: ResultColumn;
  /** As numbered in the grid, from 1. */
  row: number;
  value: string | null;
  /** Bytes of the whole value, when only its beginning was sent. */
  cutBytes: number | null;
  /** Table, row and column of the value; null when it cannot be edited. */
  editable: EditableCell | null;
}

export function CellPanel({ cell }: { cell: OpenCell }) {
  const { column, row, value, cutBytes, editable } = cell;
  return (
    <>
      <CellText column={column} row={row} value={value} />
      {cutBytes !== null && (
        <p className="shrink-0 border-line border-t bg-changed px-4 py-2 text-caption">
          Only the beginning of {formatBytes(cutBytes)} is shown.
        </p>
      )}
      {editable !== null && (
        <CellEditor
          // Another table's cell may have the same column and key, and the same cell another value after the next run.
          key={JSON.stringify([identifyCell(editable), value])}
          cell={editable}
          value={value}
        />
      )}
    </>
  );
}

function CellText({ column, row, value }: Omit<OpenCell, "editable" | "cutBytes">) {
  const shown = layOut(column.type, value);
  return (
    <div className="flex min-h-32 flex-1 flex-col p-4">
      <p className="mb-2 flex items-center gap-2 text-caption text-ink-soft">
        <span>
          row {row} · {column.type}
          {value === null ? "" : ` · ${formatBytes(new Blob([value]).size)}`}
        </span>
        {value !== null && (
          <span className="ml-auto">
            <CopyButton text={value} label="Copy the value" />
          </span>
        )}
      </p>
      {shown === null ? (
        <p className="text-ink-soft italic">null</p>
      ) : shown === "" ? (
        <p className="text-ink-soft italic">empty</p>
      ) : (
        <pre
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
          tabIndex={0}
          className="min-h-0 flex-1 overflow-auto whitespace-pre-wrap break-words rounded-sm border border-line bg-canvas p-3 font-mono text-caption"
        >
          <Text multiline>{shown}</Text>
        </pre>
      )}
    </div>
  );
}

function layOut(type: string, value: string | null): string | null {
  if (value === null || !type.startsWith("json") || !isJson(value)) return value;
  return layOutJson(value);
}
