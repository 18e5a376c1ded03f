import { useMutation } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import type { Table } from "@/api/catalog-model";
import { request } from "@/api/client";
import { Dialog } from "@/components/dialog";
import { ErrorNotice } from "@/components/error-state";
import { Checkbox } from "@/components/input";
import type { TableView } from "@/lib/rows/table-view";

const formats = [
  {
    name: "csv",
    title: "CSV, exact",
    text: "Every value as PostgreSQL writes it; null and empty differ.",
  },
  {
    name: "spreadsheet",
    title: "CSV for spreadsheets",
    text: "Texts that a spreadsheet would run as a formula are guarded.",
  },
  { name: "json", title: "JSON", text: "One array of objects." },
  { name: "sql", title: "SQL", text: "Insert statements." },
] as const;

interface ExportDialogProps {
  table: Table;
  view: TableView;
  visibleColumns: readonly string[];
  onClose: () => void;
}

/** Saves a table or the filtered part of it as a file. The server streams it, so its size does not matter. */
export function ExportDialog({ table, view, visibleColumns, onClose }: ExportDialogProps) {
  const [format, setFormat] = useState<(typeof formats)[number]["name"]>("csv");
  const [isFiltered, setFiltered] = useState(view.filters.length > 0);
  const [isVisibleOnly, setVisibleOnly] = useState(false);
  const start = useMutation({
    mutationFn: () =>
      request<{ ticket: string }>("/api/rows/export", {
        json: {
          table: table.oid,
          ...(isVisibleOnly && { columns: visibleColumns }),
          filters: isFiltered ? view.filters : [],
          sort: view.sort,
          format,
        },
      }),
    onSuccess: ({ ticket }) => {
      // A link and not fetch: the browser writes the file while it arrives, and shows how to cancel it.
      const link = document.createElement("a");
      link.href = `/api/rows/export/${encodeURIComponent(ticket)}`;
      link.download = "";
      link.click();
      onClose();
    },
  });
  return (
    <Dialog
      title="Export"
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
            Export
          </Button>
        </>
      }
    >
      <fieldset className="grid gap-2">
        <legend className="mb-1 font-medium">Format</legend>
        {formats.map(({ name, title, text }) => (
          <label key={name} className="flex items-start gap-2.5">
            <input
              type="radio"
              name="format"
              className="mt-1"
              checked={format === name}
              onChange={() => setFormat(name)}
            />
            <span>
              {title}
              <span className="block text-ink-soft text-label">{text}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <fieldset className="mt-4 grid gap-2">
        <legend className="mb-1 font-medium">Rows and columns</legend>
        <label className="flex items-center gap-2.5">
          <Checkbox
            checked={isFiltered}
            disabled={view.filters.length === 0}
            onChange={(event) => setFiltered(event.target.checked)}
          />
          Only rows that match the filters
        </label>
        <label className="flex items-center gap-2.5">
          <Checkbox
            checked={isVisibleOnly}
            disabled={view.hidden.length === 0}
            onChange={(event) => setVisibleOnly(event.target.checked)}
          />
          Only visible columns
        </label>
      </fieldset>
      {start.isError && (
        <div className="mt-4">
          <ErrorNotice title="The export could not be started" error={start.error} />
        </div>
      )}
    </Dialog>
  );
}
