import { Button } from "@ui/button";
import { IconButton } from "@ui/icon-button";
import { Download, MoreHorizontal, Pencil, Plus, RefreshCw, Trash2, Upload } from "lucide-react";
import type { Table } from "@/api/catalog-model";
import { Menu, MenuItem } from "@/components/menu";
import { plural } from "@/lib/format";
import { useShortcut } from "@/lib/shortcuts";
import type { GridState, TableEditor } from "@/screens/tables/use-table-editor";

export type TableDialog = "export" | "import" | "bulk";

interface TableActionsProps {
  editor: TableEditor;
  grid: GridState;
  table: Table;
  onDialog: (dialog: TableDialog) => void;
}

/** What can be done with the table or the selected rows. */
export function TableActions({ editor, grid, table, onDialog }: TableActionsProps) {
  const { readOnly, query } = editor;
  const count = grid.selectedRows.length;
  const isDisabled = readOnly !== undefined;
  useShortcut(
    { keys: "n", label: "Insert a row", group: "Table editor", run: editor.insert },
    !isDisabled,
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
            disabled={isDisabled}
            title={readOnly}
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
      <Menu
        label="More"
        trigger={
          <IconButton size="dense" label="More">
            <MoreHorizontal className="size-4" />
          </IconButton>
        }
      >
        <MenuItem disabled={isDisabled} onSelect={() => onDialog("bulk")}>
          <Pencil aria-hidden="true" />
          Set a column of many rows
        </MenuItem>
        <MenuItem onSelect={() => onDialog("export")}>
          <Download aria-hidden="true" />
          Export
        </MenuItem>
        <MenuItem disabled={isDisabled || table.kind !== "r"} onSelect={() => onDialog("import")}>
          <Upload aria-hidden="true" />
          Import CSV
        </MenuItem>
      </Menu>
      <Button
        size="dense"
        variant="primary"
        disabled={isDisabled}
        title={readOnly ?? "Insert a row (n)"}
        onClick={editor.insert}
      >
        <Plus aria-hidden="true" className="size-3.5" />
        Insert
      </Button>
    </>
  );
}
