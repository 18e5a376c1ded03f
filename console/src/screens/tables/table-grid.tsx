import { Button } from "@ui/button";
import { Rows3 } from "lucide-react";
import { type KeyboardEvent, useCallback, useEffect } from "react";
import type { Catalog, Table } from "@/api/catalog-model";
import { EmptyState } from "@/components/empty-state";
import { ErrorNotice, ErrorState } from "@/components/error-state";
import { SkeletonRows } from "@/components/skeleton";
import { enumOf } from "@/lib/rows/column-kind";
import { isTyping, keyOf, useShortcut } from "@/lib/shortcuts";
import { readCells } from "@/screens/tables/clipboard";
import { CellEditor } from "@/screens/tables/editors/cell-editor";
import { targetOf } from "@/screens/tables/editors/reference-search";
import { DataGrid } from "@/screens/tables/grid/data-grid";
import { gridKeys, moveOf, runGridKey } from "@/screens/tables/grid/grid-keys";
import { reportNotPasted } from "@/screens/tables/left-out";
import type { CellEdit } from "@/screens/tables/use-cell-edit";
import type { GridState } from "@/screens/tables/use-grid-state";
import type { TableEditor } from "@/screens/tables/use-table-editor";

/** Sorting more rows than this without an index may take seconds. */
const slowSortRows = 1_000_000;

interface TableGridProps {
  editor: TableEditor;
  grid: GridState;
  table: Table;
  catalog: Catalog;
  onFilter: (column: string) => void;
}

/** The grid of an open table with its states, keys and editor. */
export function TableGrid({ editor, grid, table, catalog, onFilter }: TableGridProps) {
  const { query, rows, columns, view, changeView, readOnly } = editor;
  const { hasNextPage, hasPreviousPage, isFetching, fetchNextPage, fetchPreviousPage } = query;
  const isPageError = query.isFetchNextPageError || query.isFetchPreviousPageError;
  const reach = useCallback(
    (edge: "start" | "end") => {
      if (isFetching || isPageError) return;
      if (edge === "end" && hasNextPage) void fetchNextPage();
      if (edge === "start" && hasPreviousPage) void fetchPreviousPage();
    },
    [isFetching, isPageError, hasNextPage, hasPreviousPage, fetchNextPage, fetchPreviousPage],
  );
  if (query.isPending) {
    return (
      <div className="min-h-0 flex-1 overflow-hidden">
        <SkeletonRows rows={16} label="Loading the rows" />
        {view.sort.length > 0 && table.rows > slowSortRows && (
          <p className="appear-late text-center text-ink-soft">
            Sorting {table.name} without a fitting index may take up to 5 s.
          </p>
        )}
      </div>
    );
  }
  if (query.isError && rows.length === 0) {
    return (
      <div className="min-h-0 flex-1 overflow-y-auto">
        <ErrorState
          title="The rows could not be read"
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      </div>
    );
  }
  if (rows.length === 0) return <NoRows editor={editor} />;
  return (
    <>
      {gridKeys.map((entry) => (
        <ListedKey key={entry.keys} {...entry} />
      ))}
      <DataGrid
        label={`Rows of ${table.schema}.${table.name}`}
        columns={columns}
        rows={rows}
        totalRows={undefined}
        sort={view.sort}
        active={grid.active}
        onActive={grid.activate}
        selected={grid.selected}
        onSelect={grid.select}
        onSelectAll={grid.selectAll}
        openRow={view.row}
        editor={
          grid.cellEdit === null ? null : (
            <ActiveEditor edit={grid.cellEdit} grid={grid} catalog={catalog} table={table} />
          )
        }
        onEdit={grid.edit}
        onKey={(event) => handleKey(event, editor, grid)}
        onPaste={(clipboard) => {
          if (readOnly === undefined) editor.paste(grid.active, readCells(clipboard, editor.owner));
          else reportNotPasted(readOnly);
        }}
        onCopy={(clipboard) => editor.copy(grid.active, grid.selected, clipboard)}
        onReach={reach}
        startsAtEnd={view.fromEnd}
        onSort={(name, direction) =>
          changeView({
            fromEnd: false,
            sort:
              direction === null
                ? view.sort.filter((sort) => sort.column !== name)
                : [
                    {
                      column: name,
                      descending: direction === "descending",
                      nulls_first: direction === "descending",
                    },
                  ],
          })
        }
        onFilter={onFilter}
        onHide={(name) => changeView({ hidden: [...view.hidden, name] }, { replace: true })}
        onResize={editor.resize}
        footer={<GridFooter query={query} />}
      />
    </>
  );
}

/** A key that the grid handles itself, for the list of keys alone. */
function ListedKey({ keys, label }: { keys: string; label: string }) {
  // It is never run: presses that reach the document have not been in the grid, where they are taken.
  useShortcut({ keys: `grid ${keys}`, label, group: "Grid", run: () => undefined });
  return null;
}

/** Below the rows: that more are being read, or that they could not be. */
export function GridFooter({ query }: Pick<TableEditor, "query">) {
  if (query.isError) {
    const { isFetchNextPageError, isFetchPreviousPageError } = query;
    const retry = isFetchNextPageError
      ? query.fetchNextPage
      : isFetchPreviousPageError
        ? query.fetchPreviousPage
        : query.refetch;
    return (
      <div className="max-w-lg p-3">
        <ErrorNotice
          title={
            query.isRefetchError
              ? "The rows could not be read again, and may be old"
              : "More rows could not be read"
          }
          error={query.error}
          onRetry={() => void retry()}
        />
      </div>
    );
  }
  if (query.isFetchingNextPage) return <SkeletonRows rows={2} label="Loading more rows" />;
  return null;
}

function NoRows({ editor }: { editor: TableEditor }) {
  const { view, changeView, noInsert, owner, paste } = editor;
  const canPaste = noInsert === undefined && view.filters.length === 0;
  useEffect(() => {
    if (!canPaste) return undefined;
    // Without rows there is no grid that could have the focus, so pasted cells are accepted anywhere but in input fields.
    const take = (event: ClipboardEvent) => {
      if (event.clipboardData === null || isTyping(event.target)) return;
      const block = readCells(event.clipboardData, owner);
      if (block.length === 0) return;
      event.preventDefault();
      paste({ row: 0, column: 0 }, block);
    };
    document.addEventListener("paste", take);
    return () => document.removeEventListener("paste", take);
  }, [canPaste, owner, paste]);
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      {view.filters.length > 0 ? (
        <EmptyState
          icon={Rows3}
          title="No row matches the filters"
          action={
            <Button size="dense" onClick={() => changeView({ filters: [] })}>
              Remove the filters
            </Button>
          }
        />
      ) : view.subject.kind !== "admin" ? (
        <EmptyState
          icon={Rows3}
          title="No row is visible to them"
          text="Policies decide what they see; the simulator explains why."
        />
      ) : (
        <EmptyState
          icon={Rows3}
          title="This table is empty"
          text="Insert a row, or paste cells that you have copied from a spreadsheet."
          action={
            <Button
              size="dense"
              disabled={noInsert !== undefined}
              title={noInsert}
              onClick={editor.insert}
            >
              Insert the first row
            </Button>
          }
        />
      )}
    </div>
  );
}

interface ActiveEditorProps {
  edit: CellEdit;
  grid: GridState;
  table: Table;
  catalog: Catalog;
}

function ActiveEditor({ edit, grid, table, catalog }: ActiveEditorProps) {
  const { row, column, cell } = edit;
  return (
    <CellEditor
      key={`${row.key} ${column.column.name}`}
      column={column.column}
      kind={column.kind}
      enumType={enumOf(column.column.type, catalog.enums)}
      target={targetOf(catalog.foreignKeys, table, column.column.name, catalog)}
      cell={cell}
      onChange={grid.changeCell}
      onCommit={grid.commit}
      onCancel={grid.cancel}
    />
  );
}

function handleKey(event: KeyboardEvent, editor: TableEditor, grid: GridState): void {
  const { rows, columns, changeView, readOnly, noInsert, noDelete, view } = editor;
  const move = moveOf(keyOf(event), grid.active, rows.length, columns.length);
  if (move !== null) {
    event.preventDefault();
    grid.activate(move);
    return;
  }
  const { row, column } = grid;
  const canWrite = readOnly === undefined;
  runGridKey(event, {
    edit: () => grid.edit(grid.active),
    open: () => changeView({ row: row?.key ?? null }),
    select: (isRange) => grid.select(grid.active.row, isRange),
    setNull() {
      if (canWrite && row !== undefined && column?.column.nullable) {
        editor.stage(row, { [column.column.name]: { value: null } });
      }
    },
    remove() {
      if (noDelete !== undefined || row === undefined) return;
      editor.remove(grid.selectedRows.length > 0 ? grid.selectedRows : [row]);
      grid.clearSelection();
    },
    duplicate() {
      if (noInsert === undefined && row !== undefined) editor.duplicate(row);
    },
    toStart() {
      // The first of the present rows would load those before it, which are not wanted.
      if (view.fromEnd) changeView({ fromEnd: false }, { replace: true });
      else grid.activate({ row: 0, column: grid.active.column });
    },
    toEnd() {
      if (view.fromEnd || !editor.query.hasNextPage) {
        grid.activate({ row: rows.length - 1, column: grid.active.column });
      } else changeView({ fromEnd: true }, { replace: true });
    },
  });
}
