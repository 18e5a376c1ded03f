import { isComposing, isEnter, isEscape } from "@ui/keys";
import { type KeyboardEvent, useRef, useState } from "react";
import type { Column, EnumType } from "@/api/catalog-model";
import { Text } from "@/components/text";
import { type ColumnKind, plainType } from "@/lib/rows/column-kind";
import type { Cell } from "@/lib/rows/types";
import { findFault } from "@/lib/rows/validate";
import { ReferenceSearch, type ReferenceTarget } from "@/screens/tables/editors/reference-search";
import { ValueInput } from "@/screens/tables/editors/value-input";

interface CellEditorProps {
  column: Column;
  kind: ColumnKind;
  enumType: EnumType | undefined;
  target: ReferenceTarget | undefined;
  /** What is typed; it is kept outside, because the editor is removed when its row is not drawn. */
  cell: Cell;
  onChange: (cell: Cell) => void;
  /** `move` is where the active cell goes afterwards. */
  onCommit: (cell: Cell, move: { rows: number; columns: number }) => void;
  onCancel: () => void;
}

/** The editor over a cell of the grid: enter and tab keep the value, escape does not. */
export function CellEditor({
  column,
  kind,
  enumType,
  target,
  cell,
  onChange,
  onCommit,
  onCancel,
}: CellEditorProps) {
  const [fault, setFault] = useState<string | null>(null);
  const isClosed = useRef(false);
  const commit = (next: Cell, rows = 0, columns = 0) => {
    if (isClosed.current) return;
    const text = "value" in next ? next.value : null;
    const found = text === null ? null : findFault(kind, plainType(column.type), text);
    if (found !== null) {
      setFault(found);
      return;
    }
    isClosed.current = true;
    onCommit(next, { rows, columns });
  };
  const keys = (event: KeyboardEvent<HTMLElement>) => {
    if (isComposing(event)) return;
    if (isEscape(event)) {
      isClosed.current = true;
      event.preventDefault();
      event.stopPropagation();
      onCancel();
    } else if (isEnter(event) && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      commit(cell, 1);
    } else if (event.key === "Tab") {
      event.preventDefault();
      commit(cell, 0, event.shiftKey ? -1 : 1);
    }
  };
  const change = (next: Cell) => {
    onChange(next);
    setFault(null);
    // Choosing from the list completes the edit.
    if (kind === "boolean") commit(next);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that the focus leaves the editor.
    <div
      className="absolute top-[-1px] left-[-1px] z-30 w-[max(calc(100%+2px),14rem)] bg-raised font-sans shadow-raised"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) commit(cell);
      }}
    >
      <ValueInput
        aria-label={column.name}
        aria-invalid={fault === null ? undefined : true}
        column={column}
        kind={kind}
        enumType={enumType}
        cell={cell}
        onChange={change}
        onKeyDown={keys}
        autoFocus
        isTall
      />
      {fault !== null && (
        <p
          role="alert"
          className="border border-danger border-t-0 px-2 py-1 text-danger text-label"
        >
          <Text>{fault}</Text>
        </p>
      )}
      {target !== undefined && (
        <ReferenceSearch
          target={target}
          text={"value" in cell ? (cell.value ?? "") : ""}
          onChoose={(value) => commit({ value })}
        />
      )}
    </div>
  );
}
