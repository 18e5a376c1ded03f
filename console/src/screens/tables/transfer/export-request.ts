/** Asks for a file of rows, and starts its download. */
import type { Table } from "@/api/catalog-model";
import { request } from "@/api/client";
import type { Subject } from "@/api/subject";
import type { TableView } from "@/lib/rows/table-view";
import type { Filter, Sort } from "@/lib/rows/types";

export type ExportFormat = "spreadsheet" | "csv" | "json" | "sql";

/** The formats with a sentence for each, in the order in which they are offered. */
export const exportFormats: readonly { value: ExportFormat; label: string; text: string }[] = [
  {
    value: "spreadsheet",
    label: "CSV for spreadsheets",
    text: "Opens in Excel and others; text that they would run as a formula gets an apostrophe.",
  },
  {
    value: "csv",
    label: "Exact CSV",
    text: "Every value as PostgreSQL writes it; COPY reads it back unchanged.",
  },
  { value: "json", label: "JSON", text: "An array with one object per row." },
  {
    value: "sql",
    label: "SQL",
    text: "One insert per row, without the columns that PostgreSQL computes.",
  },
];

interface ExportBody {
  table: string;
  format: ExportFormat;
  filters: Filter[];
  sort: Sort[];
  /** Only where columns are hidden. */
  columns?: string[];
  subject?: Subject;
}

/** The export request for what the grid shows: its filters, sort order, columns and subject. */
export function exportBody(
  table: Table,
  view: Pick<TableView, "filters" | "sort" | "hidden" | "subject">,
  format: ExportFormat,
): ExportBody {
  const shown = table.columns.map(({ name }) => name).filter((name) => !view.hidden.includes(name));
  return {
    table: table.oid,
    format,
    filters: view.filters,
    sort: view.sort,
    ...(view.hidden.length > 0 && { columns: shown }),
    ...(view.subject.kind !== "admin" && { subject: view.subject }),
  };
}

/** Lets the browser download the file, which is written to its disk while it comes and never held in the page. */
export async function startExport(body: ExportBody): Promise<void> {
  const { ticket } = await request<{ ticket: string }>("/api/rows/export", { json: body });
  const link = document.createElement("a");
  link.href = `/api/rows/export/${encodeURIComponent(ticket)}`;
  // The server's response determines the file name.
  link.download = "";
  link.click();
}
