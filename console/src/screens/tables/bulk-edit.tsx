import { useQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import type { Catalog, Table } from "@/api/catalog-model";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { Text } from "@/components/text";
import { formatNumber, plural } from "@/lib/format";
import { useDraftForm } from "@/lib/forms/use-draft-form";
import { columnKind, enumOf, plainType } from "@/lib/rows/column-kind";
import { type Cell, countRows, type Filter, type Values } from "@/lib/rows/types";
import { findFault } from "@/lib/rows/validate";
import { ValueInput } from "@/screens/tables/editors/value-input";
import { type GridRow, whyFixed } from "@/screens/tables/table-rows";

/** More rows than this need their number typed. */
const typedAbove = 1000;

interface BulkDraft {
  column: string;
  /** Null before it was chosen or typed: an empty text or the first value of a list is a value like any other. */
  cell: Cell | null;
  isAll: boolean;
  /** The number of rows as it was typed. */
  typed: string;
}

interface BulkEditProps {
  table: Table;
  catalog: Catalog;
  filters: Filter[];
  /** The selected rows. Those that the dialog opens with are changed, also when they have left the page meanwhile. */
  selected: readonly GridRow[];
  onStageSelected: (rows: readonly GridRow[], values: Values) => void;
  onStageMatching: (values: Values, expected: number) => void;
  onClose: () => void;
}

/** Sets one column of the selected rows, or of all that match the filters, to one value: one statement. */
export function BulkEdit({
  table,
  catalog,
  filters,
  selected,
  onStageSelected,
  onStageMatching,
  onClose,
}: BulkEditProps) {
  // The page is read anew under the dialog. Rows that others have deleted or changed are asked about when the change is applied.
  const [chosen] = useState(selected);
  const selectedCount = chosen.length;
  const writable = table.columns.filter((column) => whyFixed(column) === undefined);
  const form = useDraftForm<BulkDraft>({
    saved: {
      column: writable.find(({ name }) => !table.key.includes(name))?.name ?? "",
      cell: null,
      isAll: selectedCount === 0,
      typed: "",
    },
    isNew: true,
    findProblem: ({ cell }) => (cell === null ? "A value is missing." : null),
    // The rows are compared with those that were read, or counted here, when the change is applied.
    onSubmit: ({ column, cell, isAll }) => {
      if (cell === null) return;
      const values = { [column]: cell };
      if (isAll) onStageMatching(values, matching);
      else onStageSelected(chosen, values);
      onClose();
    },
  });
  const { cell, isAll, typed } = form.draft;
  // The number is asked anew, because it decides how much is changed.
  const count = useQuery({
    queryKey: ["rows", table.oid, "bulk-count", filters],
    queryFn: ({ signal }) => countRows({ table: table.oid, filters, exact: true }, signal),
    enabled: isAll,
    gcTime: 0,
    staleTime: 0,
  });
  const column = writable.find(({ name }) => name === form.draft.column);
  const matching = count.data?.count ?? 0;
  if (column === undefined) return null;
  const kind = columnKind(column, catalog);
  const needsTyping = isAll && matching > typedAbove;
  const fault =
    cell !== null && "value" in cell && cell.value !== null
      ? findFault(kind, plainType(column.type), cell.value)
      : null;
  const isReady =
    cell !== null &&
    fault === null &&
    (!isAll || (count.isSuccess && matching > 0)) &&
    (!needsTyping || typed.replace(/\D/g, "") === String(matching));
  return (
    <Dialog
      title="Set a column of many rows"
      description="It is staged and applied with your other changes."
      isDirty={form.isDirty}
      onClose={onClose}
      footer={
        <>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            disabled={!isReady}
            onClick={() => void form.submit()}
          >
            Stage
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <fieldset className="grid gap-1">
          <legend className="mb-1 font-medium">Rows</legend>
          <label className="flex items-center gap-2">
            <input
              type="radio"
              name="rows"
              disabled={selectedCount === 0}
              checked={!isAll}
              onChange={() => form.change({ isAll: false })}
            />
            {selectedCount === 0
              ? "The selected rows: none"
              : `The selected ${plural(selectedCount, "row")}`}
          </label>
          <label className="flex items-center gap-2">
            <input
              type="radio"
              name="rows"
              checked={isAll}
              onChange={() => form.change({ isAll: true })}
            />
            {filters.length === 0 ? "All rows of the table" : "All that match the filters"}
            {isAll && count.isSuccess && `: ${formatNumber(matching)}`}
            {isAll && count.isPending && " …"}
          </label>
        </fieldset>
        {isAll && count.isError && (
          <ErrorNotice
            title="The rows could not be counted"
            error={count.error}
            onRetry={() => void count.refetch()}
          />
        )}
        <Field label="Column">
          {(attributes) => (
            <Select
              {...attributes}
              value={column.name}
              onChange={(event) => form.change({ column: event.target.value, cell: null })}
            >
              {writable.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field
          label="New value"
          error={fault ?? undefined}
          hint={
            cell !== null && "value" in cell && cell.value === ""
              ? "The column is set to the empty text."
              : undefined
          }
          aside={
            <span className="flex gap-2 text-ink-soft text-micro">
              {kind === "text" && (
                <button
                  type="button"
                  className="hover:text-ink"
                  onClick={() => form.change({ cell: { value: "" } })}
                >
                  empty
                </button>
              )}
              {column.nullable && (
                <button
                  type="button"
                  className="hover:text-ink"
                  onClick={() => form.change({ cell: { value: null } })}
                >
                  NULL
                </button>
              )}
            </span>
          }
        >
          {(attributes) => (
            <ValueInput
              {...attributes}
              column={column}
              kind={kind}
              enumType={enumOf(column.type, catalog.enums)}
              cell={cell}
              onChange={(next) => form.change({ cell: next })}
              isTall
            />
          )}
        </Field>
        {needsTyping && (
          <Field label={<Text>{`Type ${matching} to confirm that so many rows change`}</Text>}>
            {(attributes) => (
              <Input
                {...attributes}
                inputMode="numeric"
                value={typed}
                onChange={(event) => form.change({ typed: event.target.value })}
              />
            )}
          </Field>
        )}
      </div>
    </Dialog>
  );
}
