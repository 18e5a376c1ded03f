import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Pencil, Plus, RefreshCw, Trash2 } from "lucide-react";
import { plural } from "@/lib/format";
import { useShortcut } from "@/lib/shortcuts";
import type { GridState } from "@/screens/tables/use-grid-state";
import type { TableEditor } from "@/screens/tables/use-table-editor";

interface TableActionsProps {
  editor: TableEditor;
  grid: GridState;
  onBulkEdit: () => void;
}

/** Actions on the table or the selected rows. */
export function TableActions({ editor, grid, onBulkEdit }: TableActionsProps) {
  const { readOnly, noInsert, noDelete, query } = editor;
  const count = grid.selectedRows.length;
  useShortcut(
    { keys: "n", label: "Insert a row", group: "Table editor", run: editor.insert },
    noInsert === undefined,
  );
  useShortcut({
    keys: "r",
    label: "Read the rows again",
    group: "Table editor",
    run: () => void query.refetch(),
  });
  return (
    <>
      {count > 0 && (
        <>
          <span className="text-ink-soft text-label">{plural(count, "row")} selected</span>
          <Button
            size="dense"
            disabled={noDelete !== undefined}
            title={noDelete}
            onClick={() => {
              editor.remove(grid.selectedRows);
              grid.clearSelection();
            }}
          >
            <Trash2 aria-hidden="true" className="size-3.5" />
            Delete
          </Button>
        </>
      )}
      <IconButton
        size="dense"
        label="Read the rows again (r)"
        busy={query.isFetching}
        onClick={() => void query.refetch()}
      >
        <RefreshCw className="size-3.5" />
      </IconButton>
      <IconButton
        size="dense"
        label="Set a column of many rows"
        disabled={readOnly !== undefined}
        title={readOnly ?? "Set a column of many rows"}
        onClick={onBulkEdit}
      >
        <Pencil className="size-3.5" />
      </IconButton>
      <Button
        size="dense"
        variant="primary"
        disabled={noInsert !== undefined}
        title={noInsert ?? "Insert a row (n)"}
        onClick={editor.insert}
      >
        <Plus aria-hidden="true" className="size-3.5" />
        Insert
      </Button>
    </>
  );
}
