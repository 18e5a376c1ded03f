import type { Catalog, Table } from "@/api/catalog-model";
import { ShowAs } from "@/components/show-as";
import { SubjectPicker } from "@/components/subject-picker";
import { formatDuration } from "@/lib/format";
import { curlOfRead, javascriptOfRead } from "@/lib/rows/action-forms";
import { useShortcut } from "@/lib/shortcuts";
import { ColumnsMenu } from "@/screens/tables/toolbar/columns-menu";
import { FilterBar } from "@/screens/tables/toolbar/filter-bar";
import { RowCount } from "@/screens/tables/toolbar/row-count";
import { SortMenu } from "@/screens/tables/toolbar/sort-menu";
import { Export } from "@/screens/tables/transfer/export-dialog";
import { ImportButton } from "@/screens/tables/transfer/import/import-button";
import { pageSize } from "@/screens/tables/use-row-pages";
import type { TableEditor } from "@/screens/tables/use-table-editor";

interface TableToolbarProps {
  editor: TableEditor;
  table: Table;
  catalog: Catalog;
  /** Column of a new filter whose form is open, or null. */
  filtered: string | null;
  onFilter: (column: string | null) => void;
}

/** Filters, sort order, columns, the role as which rows are read, and the row count. */
export function TableToolbar({ editor, table, catalog, filtered, onFilter }: TableToolbarProps) {
  const { view, changeView, session, pages, names } = editor;
  const last = pages.at(-1);
  useShortcut({
    keys: "f",
    label: "New filter",
    group: "Table editor",
    run: () => onFilter(table.columns[0]?.name ?? null),
  });
  const action = {
    apiUrl: session.api_url ?? "",
    table,
    columns: view.hidden.length === 0 ? null : names,
    filters: view.filters,
    sort: view.sort,
    limit: pageSize,
  };
  const isExposed = catalog.schemas.some(({ name, exposed }) => name === table.schema && exposed);
  return (
    <div className="@container/tools no-scrollbar flex min-h-10 shrink-0 flex-wrap items-center gap-x-1 gap-y-1 border-line border-b bg-canvas px-2 py-1 max-md:flex-nowrap max-md:overflow-x-auto">
      <FilterBar
        table={table}
        catalog={catalog}
        filters={view.filters}
        onChange={(filters) => changeView({ filters, fromEnd: false })}
        opened={filtered}
        onOpen={onFilter}
      />
      <SortMenu
        table={table}
        sort={view.sort}
        onChange={(sort) => changeView({ sort, fromEnd: false })}
      />
      <ColumnsMenu
        table={table}
        hidden={view.hidden}
        onChange={(hidden) => changeView({ hidden }, { replace: true })}
      />
      <SubjectPicker
        verb="View as"
        value={view.subject}
        without={["claims"]}
        onChange={(subject) => changeView({ subject })}
      />
      <ShowAs
        title={`Read ${table.schema}.${table.name}`}
        forms={{
          sql: last?.sql,
          ...(isExposed && { curl: curlOfRead(action), javascript: javascriptOfRead(action) }),
        }}
      />
      <ImportButton table={table} refusal={editor.noInsert} />
      <Export table={table} view={view} />
      <span className="ml-auto flex shrink-0 items-center gap-3 pl-2 text-label">
        {last !== undefined && last.elapsed_ms > 250 && (
          <span
            className="text-ink-soft"
            title={last.index_used ? undefined : "No index fits this filter or sort"}
          >
            {formatDuration(last.elapsed_ms)}
            {!last.index_used && ", no index"}
          </span>
        )}
        <RowCount table={table} filters={view.filters} subject={view.subject} />
      </span>
    </div>
  );
}
