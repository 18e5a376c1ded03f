import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { Download } from "lucide-react";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import { describeSubject } from "@/api/subject";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Text } from "@/components/text";
import { ToolLabel } from "@/components/tool-label";
import { plural } from "@/lib/format";
import type { TableView } from "@/lib/rows/table-view";
import { toast } from "@/lib/toast";
import { useRowCount } from "@/screens/tables/toolbar/row-count";
import {
  type ExportFormat,
  exportBody,
  exportFormats,
  startExport,
} from "@/screens/tables/transfer/export-request";

interface ExportProps {
  table: Table;
  view: TableView;
}

/** The button that opens the dialog. */
export function Export({ table, view }: ExportProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button size="dense" variant="quiet" title="Export" onClick={() => setOpen(true)}>
        <Download aria-hidden="true" className="size-3.5" />
        <ToolLabel>Export</ToolLabel>
      </Button>
      {isOpen && <ExportDialog table={table} view={view} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Chooses the form of a file with the rows that the grid shows, and starts its download. */
function ExportDialog({ table, view, onClose }: ExportProps & { onClose: () => void }) {
  const [format, setFormat] = useState<ExportFormat>("spreadsheet");
  const { filters, subject } = view;
  const { data: count } = useRowCount({ table, filters, subject }, false);
  const start = useMutation({
    mutationFn: () => startExport(exportBody(table, view, format)),
    onSuccess: () => {
      toast({
        title: "The download has begun",
        description: "The browser shows its progress. Cancelling it there ends it on the server.",
      });
      onClose();
    },
  });
  return (
    <Dialog
      title={
        <>
          Export <Text>{table.name}</Text>
        </>
      }
      // A format and a choice of rows are chosen again with two presses.
      isDirty={false}
      onClose={onClose}
      footer={
        <>
          <Button size="dense" onClick={onClose}>
            Cancel
          </Button>
          <Button
            size="dense"
            variant="primary"
            pending={start.isPending}
            onClick={() => start.mutate()}
          >
            <Download aria-hidden="true" className="size-3.5" />
            Download
          </Button>
        </>
      }
    >
      <div className="grid gap-4">
        <p className="text-caption">{describeRows(view, count)}</p>
        <fieldset className="grid gap-2.5">
          <legend className="mb-1 font-medium">Format</legend>
          {exportFormats.map(({ value, label, text }) => (
            <label key={value} className="flex items-start gap-2">
              <input
                type="radio"
                name="format"
                className="mt-1"
                checked={format === value}
                onChange={() => setFormat(value)}
              />
              <span>
                {label}
                <span className="block text-caption text-ink-soft">{text}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {start.error !== null && <ErrorNotice title="The export was refused" error={start.error} />}
      </div>
    </Dialog>
  );
}

/** Which rows the file gets, as one sentence. */
export function describeRows(
  view: Pick<TableView, "filters" | "sort" | "hidden" | "subject">,
  count: { count: number; exact: boolean } | undefined,
): string {
  const rows =
    count === undefined ? "Rows" : `${count.exact ? "" : "≈ "}${plural(count.count, "row")}`;
  const parts = [
    `${rows} ${view.filters.length > 0 ? "that match the filters" : "of the table"}`,
    view.sort.length > 0 && "in the order of the grid",
    view.hidden.length > 0 && `without ${plural(view.hidden.length, "hidden column")}`,
    view.subject.kind !== "admin" && `as ${describeSubject(view.subject)} sees them`,
  ];
  return `${parts.filter((part) => part !== false).join(", ")}.`;
}
