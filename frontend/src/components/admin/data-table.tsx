import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { isEnter, keyName } from "@ui/keys";
import { ArrowDown, ArrowUp } from "lucide-react";
import { type KeyboardEvent, type ReactNode, useRef } from "react";
import { Link } from "react-router";
import { ErrorNotice } from "@/components/ui/error-notice";
import { Skeleton } from "@/components/ui/skeleton";
import { paths } from "@/lib/paths";
import { hasCode, insufficientPrivilege, messageOf } from "@/lib/service-error";
import type { AdminTable } from "@/lib/use-admin-table";
import { useRowKeys } from "./use-row-keys";

export interface Column<Row> {
  header: string;
  /** The header is read by screen readers only. */
  hidesHeader?: boolean;
  /** In place of the header's text, such as a checkbox for all rows. */
  headerCell?: ReactNode;
  /** Column of the database that a click on the header sorts by. */
  sort?: string;
  cell: (row: Row) => ReactNode;
  /** Of header and cells: widths, alignment, `max-md:hidden`. */
  className?: string;
}

interface DataTableProps<Row> {
  /** Name of the table for screen readers. */
  label: string;
  table: AdminTable<Row>;
  columns: readonly Column<Row>[];
  /** Shown in place of an empty table: a sentence or an element. */
  empty: ReactNode;
  /** Enter on a row, or a double click. */
  onOpen?: (row: Row) => void;
  /** Called when the key `x` is pressed on a row. */
  onSelect?: (row: Row) => void;
  /** Heading when the rows could not be loaded; the server's message is shown below. */
  errorTitle?: (message: string) => string;
}

/** Rows shown while the first page loads. */
const skeletonRows = 5;

/** A table of the admin area. Arrow keys move between rows, Enter opens one, `x` ticks it. */
export function DataTable<Row extends { id: string }>({
  label,
  table,
  columns,
  empty,
  onOpen,
  onSelect,
  errorTitle = () => `Error loading ${label.toLowerCase()}`,
}: DataTableProps<Row>) {
  const body = useRef<HTMLTableSectionElement>(null);
  useRowKeys(body);
  if (hasCode(table.error, insufficientPrivilege)) return <SectionDenied />;
  if (table.error !== null) {
    return (
      <ErrorNotice
        title={errorTitle(messageOf(table.error, "please try again"))}
        error={table.error}
        onRetry={table.refetch}
      />
    );
  }
  const { rows } = table;
  if (rows?.length === 0) {
    if (typeof empty !== "string") return empty;
    return (
      <p className="rounded-md border border-line border-dashed px-4 py-12 text-center text-ink-soft text-small">
        {empty}
      </p>
    );
  }

  return (
    <div className="overflow-x-auto rounded-md border border-line bg-surface">
      <table
        aria-label={label}
        aria-busy={rows === undefined}
        className="w-full text-left text-small"
      >
        <thead>
          <tr className="border-line border-b text-caption text-ink-soft">
            {columns.map((column) => (
              <HeaderCell key={column.header} column={column} table={table} />
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows === undefined ? (
            <SkeletonRows columns={columns} />
          ) : (
            rows.map((row) => (
              <TableRow
                key={row.id}
                row={row}
                columns={columns}
                onOpen={onOpen}
                onSelect={onSelect}
              />
            ))
          )}
        </tbody>
      </table>
    </div>
  );
}

function SkeletonRows<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return Array.from({ length: skeletonRows }, (_, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the placeholders are all alike and never move.
    <tr key={index} className="border-line not-last:border-b">
      {columns.map(({ header, className }) => (
        <td key={header} className={cn("px-3 py-2 max-sm:px-2", className)}>
          <Skeleton className="h-5 w-full max-w-40" />
        </td>
      ))}
    </tr>
  ));
}

interface TableRowProps<Row> {
  row: Row;
  columns: readonly Column<Row>[];
  onOpen: ((row: Row) => void) | undefined;
  onSelect: ((row: Row) => void) | undefined;
}

function TableRow<Row>({ row, columns, onOpen, onSelect }: TableRowProps<Row>) {
  function handleKey(event: KeyboardEvent<HTMLTableRowElement>) {
    // Keys pressed in a cell's button or link are meant for it.
    if (event.target !== event.currentTarget) return;
    if (isEnter(event)) onOpen?.(row);
    else if (keyName(event) === "x") onSelect?.(row);
    else return;
    event.preventDefault();
  }
  return (
    <tr
      tabIndex={0}
      onKeyDown={handleKey}
      onDoubleClick={(event) => {
        // Two clicks on a button are meant for it. After the first one another row may be under the pointer.
        if (!(event.target instanceof Element && event.target.closest("button, a, input"))) {
          onOpen?.(row);
        }
      }}
      className="border-line not-last:border-b transition-colors hover:bg-sheen focus-visible:-outline-offset-2"
    >
      {columns.map(({ header, cell, className }) => (
        <td key={header} className={cn("px-3 py-1.5 max-sm:px-2", className)}>
          {cell(row)}
        </td>
      ))}
    </tr>
  );
}

interface HeaderCellProps<Row> {
  column: Column<Row>;
  table: AdminTable<Row>;
}

function HeaderCell<Row>({
  column: { header, hidesHeader = false, headerCell, sort, className },
  table,
}: HeaderCellProps<Row>) {
  const { request, sortBy } = table;
  if (sort === undefined) {
    return (
      <th scope="col" className={cn("px-3 py-1.5 font-medium max-sm:px-2", className)}>
        {headerCell ?? (hidesHeader ? <span className="sr-only">{header}</span> : header)}
      </th>
    );
  }
  const isSorted = request.sort === sort;
  const Arrow = request.ascending ? ArrowUp : ArrowDown;
  const direction = request.ascending ? "ascending" : "descending";
  return (
    <th
      scope="col"
      aria-sort={isSorted ? direction : "none"}
      className={cn("px-3 py-0.5 font-medium max-sm:px-2", className)}
    >
      <button
        type="button"
        onClick={() => sortBy(sort)}
        className="-mx-1.5 inline-flex h-8 items-center gap-1 rounded-sm px-1.5 hover:text-ink pointer-coarse:h-11"
      >
        {header}
        {isSorted && <Arrow aria-hidden="true" className="size-3.5" />}
      </button>
    </th>
  );
}

/** In place of a table that the server does not let this user read. */
function SectionDenied() {
  return (
    <div role="alert" className="px-6 py-16 text-center">
      <p className="font-serif text-heading">Access Denied</p>
      <p className="mt-2 text-ink-soft text-small">
        You don't have permission to view this section.
      </p>
      <Button asChild className="mt-4">
        <Link to={paths.explore}>Go Home</Link>
      </Button>
    </div>
  );
}
