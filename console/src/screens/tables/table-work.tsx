import { useState } from "react";
import type { Catalog, Table } from "@/api/catalog-model";
import { describeSubject } from "@/api/subject";
import { Badge } from "@/components/badge";
import { WorkArea } from "@/components/screen-layout";
import { Text } from "@/components/text";
import { formatBytes } from "@/lib/format";
import { BulkEdit } from "@/screens/tables/bulk-edit";
import { RowPanel } from "@/screens/tables/row-panel";
import type { Staging } from "@/screens/tables/staged/use-staging";
import { TableActions } from "@/screens/tables/table-actions";
import { TableGrid } from "@/screens/tables/table-grid";
import { TableToolbar } from "@/screens/tables/table-toolbar";
import { useGridState } from "@/screens/tables/use-grid-state";
import { useTableEditor } from "@/screens/tables/use-table-editor";
import { WholeValue } from "@/screens/tables/whole-value";

interface TableWorkProps {
  table: Table;
  catalog: Catalog;
  staging: Staging;
  onBack: () => void;
}

/** The rows of one table, its toolbar, and the panel of a row. */
export function TableWork({ table, catalog, staging, onBack }: TableWorkProps) {
  const editor = useTableEditor(table, catalog, staging);
  const grid = useGridState(table, editor);
  const [isBulkEdit, setBulkEdit] = useState(false);
  const [filtered, setFiltered] = useState<string | null>(null);
  const { view, changeView, readOnly, open } = editor;
  const refusal = staging.refusal;
  const isRefusedHere = refusal?.staged !== undefined && refusal.staged.id === open.row?.staged?.id;
  // A new row has its own address only once it is written, so the panel that made it closes when it is applied or taken back.
  const isInsertGone =
    view.row?.startsWith("new:") === true &&
    (view.subject.kind !== "admin" || !staging.changes.some(({ id }) => `new:${id}` === view.row));
  const isAnyStaged = staging.changes.some(({ change }) => change.table === table.oid);
  return (
    <WorkArea
      title={<Text>{table.name}</Text>}
      detail={<TableDetail table={table} />}
      actions={<TableActions editor={editor} grid={grid} onBulkEdit={() => setBulkEdit(true)} />}
      onBack={onBack}
      scrolls={false}
      panel={
        view.row === null || isInsertGone
          ? undefined
          : {
              label: open.row?.mark === "added" ? "New row" : "Row",
              onClose: () => changeView({ row: null }),
              content: (
                <RowPanel
                  key={view.row}
                  table={table}
                  catalog={catalog}
                  row={open.row}
                  isPending={open.isPending}
                  error={open.error}
                  disabledReason={open.row?.mark === "added" ? editor.noInsert : readOnly}
                  noInsert={editor.noInsert}
                  noDelete={editor.noDelete}
                  fault={
                    isRefusedHere
                      ? { column: refusal.column, message: refusal.error.message }
                      : undefined
                  }
                  subject={view.subject}
                  onChange={editor.type}
                  onDuplicate={(row) => editor.duplicate(row)}
                  onDelete={(row) => {
                    editor.remove([row]);
                    if (row.mark === "added") changeView({ row: null });
                  }}
                  onLoadWhole={(row, column) => grid.setWhole({ row, column })}
                />
              ),
            }
      }
    >
      <TableToolbar
        editor={editor}
        table={table}
        catalog={catalog}
        filtered={filtered}
        onFilter={setFiltered}
      />
      {view.subject.kind !== "admin" && (
        <p
          role="status"
          className="flex min-h-7 shrink-0 items-center justify-center gap-2 border-info/40 border-b bg-hover px-3 text-label"
        >
          <span>
            You see what <strong>{describeSubject(view.subject)}</strong> sees
            {isAnyStaged && ", without your staged changes"}.
          </span>
          <button
            type="button"
            className="underline underline-offset-2"
            onClick={() => changeView({ subject: { kind: "admin" } })}
          >
            Back to your own login
          </button>
        </p>
      )}
      <TableGrid
        editor={editor}
        grid={grid}
        table={table}
        catalog={catalog}
        onFilter={setFiltered}
      />
      {isBulkEdit && (
        <BulkEdit
          table={table}
          catalog={catalog}
          filters={view.filters}
          selected={grid.selectedRows}
          onStageSelected={editor.stageSelected}
          onStageMatching={editor.stageMatching}
          onClose={() => setBulkEdit(false)}
        />
      )}
      {grid.whole?.row.read !== undefined && grid.whole.row.read !== null && (
        <WholeValue
          table={table}
          row={grid.whole.row.read.id}
          column={grid.whole.column}
          subject={view.subject}
          disabledReason={readOnly}
          onStage={(value) => {
            if (grid.whole !== null) {
              editor.stage(grid.whole.row, { [grid.whole.column.name]: { value } });
            }
            grid.setWhole(null);
          }}
          onClose={() => grid.setWhole(null)}
        />
      )}
    </WorkArea>
  );
}

function TableDetail({ table }: { table: Table }) {
  const isTable = table.kind === "r" || table.kind === "p";
  return (
    <span className="flex items-center gap-2">
      <Text>{table.schema}</Text>
      {isTable && <span>{formatBytes(table.bytes)}</span>}
      {isTable &&
        (table.rls ? (
          <Badge tone="success" title="Row-level security is on">
            RLS
          </Badge>
        ) : (
          <Badge
            tone="warning"
            title="Row-level security is off: whoever may use the table sees every row"
          >
            no RLS
          </Badge>
        ))}
      {isTable && table.key.length === 0 && (
        <Badge title="Rows are addressed by their place (ctid)">no key</Badge>
      )}
    </span>
  );
}
