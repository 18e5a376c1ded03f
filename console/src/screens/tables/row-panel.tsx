import { Button } from "@ui/button";
import { nameLineEnds } from "@ui/line-ends";
import { ArrowRight, Copy, Trash2 } from "lucide-react";
import { Link } from "react-router";
import type { Catalog, Column, Table } from "@/api/catalog-model";
import type { Subject } from "@/api/subject";
import { Badge } from "@/components/badge";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice } from "@/components/error-state";
import { Field } from "@/components/field";
import { SkeletonRows } from "@/components/skeleton";
import { Text } from "@/components/text";
import { formatBytes, formatNumber } from "@/lib/format";
import { columnKind, enumOf, plainType, shortType } from "@/lib/rows/column-kind";
import { readValue } from "@/lib/rows/read-page";
import { writeView } from "@/lib/rows/table-view";
import type { Cell, Filter, Values } from "@/lib/rows/types";
import { findFault } from "@/lib/rows/validate";
import { targetOf } from "@/screens/tables/editors/reference-search";
import { ValueInput } from "@/screens/tables/editors/value-input";
import { tablePath } from "@/screens/tables/table-list";
import { cellOf, type GridRow, whyFixed } from "@/screens/tables/table-rows";
import { useRowCount } from "@/screens/tables/toolbar/row-count";

interface RowPanelProps {
  table: Table;
  catalog: Catalog;
  row: GridRow | undefined;
  isPending: boolean;
  error: unknown;
  /** As whom the rows are viewed. */
  subject: Subject;
  /** The reason why the row cannot be changed, duplicated or deleted; undefined when it can. */
  disabledReason: string | undefined;
  noInsert: string | undefined;
  noDelete: string | undefined;
  /** Column at fault in the last attempt to apply, with its text. */
  fault: { column: string | undefined; message: string } | undefined;
  onChange: (row: GridRow, values: Values) => void;
  onDuplicate: (row: GridRow) => void;
  onDelete: (row: GridRow) => void;
  onLoadWhole: (row: GridRow, column: Column) => void;
}

/** A row as a form, with the rows it refers to and those that refer to it. */
export function RowPanel(props: RowPanelProps) {
  const { table, catalog, row, noInsert } = props;
  if (row === undefined) {
    if (props.isPending) return <SkeletonRows label="Loading the row" />;
    if (props.error !== null) {
      return (
        <div className="p-3">
          <ErrorNotice title="The row could not be read" error={props.error} />
        </div>
      );
    }
    return <EmptyState icon={Trash2} title="This row is no longer there" />;
  }
  const isRemoved = row.mark === "removed";
  // A row that is not saved yet can always be removed.
  const noDelete = row.mark === "added" ? undefined : props.noDelete;
  return (
    <div className="grid gap-4 p-4">
      <div className="flex items-center gap-2">
        {row.mark !== undefined && (
          <Badge tone={isRemoved ? "danger" : row.mark === "added" ? "success" : "warning"}>
            {isRemoved ? "to be deleted" : row.mark === "added" ? "new" : "changed"}
          </Badge>
        )}
        <span className="ml-auto" />
        <Button
          size="dense"
          variant="quiet"
          disabled={noInsert !== undefined}
          title={noInsert}
          onClick={() => props.onDuplicate(row)}
        >
          <Copy aria-hidden="true" className="size-3.5" />
          Duplicate
        </Button>
        <Button
          size="dense"
          variant="quiet"
          disabled={noDelete !== undefined || isRemoved}
          title={noDelete}
          onClick={() => props.onDelete(row)}
        >
          <Trash2 aria-hidden="true" className="size-3.5" />
          {row.mark === "added" ? "Discard" : "Delete"}
        </Button>
      </div>
      {table.columns.map((column) => (
        <RowField key={column.name} {...props} row={row} column={column} isRemoved={isRemoved} />
      ))}
      {row.read !== null && (
        <References table={table} catalog={catalog} row={row} subject={props.subject} />
      )}
    </div>
  );
}

interface RowFieldProps extends RowPanelProps {
  row: GridRow;
  column: Column;
  isRemoved: boolean;
}

function RowField({
  table,
  catalog,
  row,
  column,
  subject,
  disabledReason,
  fault,
  isRemoved,
  onChange,
  onLoadWhole,
}: RowFieldProps) {
  const kind = columnKind(column, catalog);
  const shown = cellOf(row, column);
  const cell: Cell = shown.isDefault ? { default: true } : { value: shown.value };
  const reason = disabledReason ?? whyFixed(column);
  const isCut = shown.bytes !== undefined && !shown.isChanged;
  const isPartial = isCut || shown.isMissing === true;
  const change = (next: Cell) => onChange(row, { [column.name]: next });
  const typed = "value" in cell && cell.value !== null && shown.isChanged ? cell.value : null;
  const target = targetOf(catalog.foreignKeys, table, column.name, catalog);
  const error =
    fault?.column === column.name
      ? fault.message
      : typed === null
        ? undefined
        : (findFault(kind, plainType(column.type), typed) ?? undefined);
  return (
    <Field
      label={<Text>{column.name}</Text>}
      error={error}
      hint={reason ?? column.comment ?? undefined}
      aside={
        <span className="flex shrink-0 items-center gap-2 text-ink-soft text-micro">
          {shown.value !== null && nameLineEnds(shown.value) !== undefined && (
            <span title="The lines end so, and still do after an edit">
              {nameLineEnds(shown.value)}
            </span>
          )}
          {shown.isChanged && <span className="size-1.5 rounded-full bg-warning" title="changed" />}
          <span className="max-w-32 truncate font-mono">
            <Text>{shortType(column.type)}</Text>
          </span>
          {column.nullable && shown.value !== null && reason === undefined && (
            <button
              type="button"
              className="hover:text-ink"
              onClick={() => change({ value: null })}
            >
              NULL
            </button>
          )}
          {column.default !== null && !shown.isDefault && reason === undefined && (
            <button
              type="button"
              className="hover:text-ink"
              title={column.default}
              onClick={() => change({ default: true })}
            >
              default
            </button>
          )}
        </span>
      }
    >
      {(attributes) => (
        <div className="relative">
          <ValueInput
            {...attributes}
            column={column}
            kind={kind}
            enumType={enumOf(column.type, catalog.enums)}
            cell={cell}
            onChange={change}
            disabled={reason !== undefined || isRemoved || isPartial}
            isTall
          />
          {isCut && (
            <Button size="dense" variant="quiet" onClick={() => onLoadWhole(row, column)}>
              Load all {formatBytes(shown.bytes ?? 0)}
            </Button>
          )}
          {target !== undefined && shown.value !== null && (
            <Link
              to={linkTo(
                target.table,
                [{ column: target.column, operator: "eq", value: shown.value }],
                subject,
              )}
              className="mt-1 inline-flex items-center gap-1 text-ink-soft text-label hover:text-ink"
            >
              <ArrowRight aria-hidden="true" className="size-3" />
              <Text>{`${target.table.schema}.${target.table.name}`}</Text>
            </Link>
          )}
        </div>
      )}
    </Field>
  );
}

/** The address of rows of another table, viewed as the same person. */
function linkTo(table: Table, filters: Filter[], subject: Subject): string {
  const view = writeView({
    filters,
    sort: [],
    hidden: [],
    fromEnd: false,
    subject,
    row: null,
  });
  return `${tablePath(table)}?${view}`;
}

interface ReferencesProps extends Pick<RowPanelProps, "table" | "catalog" | "subject"> {
  row: GridRow;
}

/** Tables whose rows refer to this one, each with the number of such rows and a link to them. */
function References({ table, catalog, row, subject }: ReferencesProps) {
  const incoming = catalog.foreignKeys.flatMap((key) => {
    const source = catalog.tablesByOid.get(key.table);
    if (key.target !== table.oid || source === undefined) return [];
    const filters = key.columns.map((column, index): Filter => {
      const target = key.target_columns[index] ?? "";
      const value = readValue(row.read, target) ?? "";
      return { column, operator: "eq", value };
    });
    return [{ key, source, filters }];
  });
  if (incoming.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1.5 font-medium">Referenced by</h3>
      <ul className="grid gap-1">
        {incoming.map(({ key, source, filters }) => (
          <li key={`${source.oid} ${key.name}`}>
            <Link
              to={linkTo(source, filters, subject)}
              className="flex items-center gap-2 rounded-sm border border-line px-2.5 py-1.5 hover:bg-hover"
            >
              <span className="min-w-0 flex-1 truncate">
                <Text>{`${source.schema}.${source.name}`}</Text>
                <span className="text-ink-soft">
                  {" by "}
                  <Text>{key.columns.join(", ")}</Text>
                </span>
              </span>
              <ReferenceCount table={source} filters={filters} subject={subject} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ReferenceCountProps {
  table: Table;
  filters: Filter[];
  subject: Subject;
}

function ReferenceCount({ table, filters, subject }: ReferenceCountProps) {
  const { data } = useRowCount({ table, filters, subject }, false);
  return (
    <span className="shrink-0 text-ink-soft text-label tabular-nums">
      {data === undefined ? "" : `${data.exact ? "" : "≈ "}${formatNumber(data.count)}`}
    </span>
  );
}
