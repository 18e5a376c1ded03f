import { Button } from "@ui/button";
import { FileDown } from "lucide-react";
import { useState } from "react";
import { exportColumns, type ImportTarget } from "@/lib/admin-import";
import type { ListRequest, ReadList } from "@/lib/admin-list";
import { type CsvRow, idColumn, writeCsv } from "@/lib/csv";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import type { AdminTable } from "@/lib/use-admin-table";
import { fileButtonClass } from "./file-button-class";

/** Rows that are read at a time. */
const batchSize = 500;
/** How often a list that changes meanwhile is read from its beginning. */
const attempts = 5;

/**
 * Rows from the first on, in batches; null when the list has changed meanwhile. Each batch begins with the last row of the one before:
 * if another row stands there, rows were deleted, added or moved, and one may be missing.
 */
async function readOnce<Row extends { id: string }>(
  read: ReadList<Row>,
  request: ListRequest,
): Promise<Row[] | null> {
  const rows: Row[] = [];
  for (;;) {
    const from = Math.max(0, rows.length - 1);
    const page = await read(
      { ...request, from, to: from + batchSize - 1 },
      new AbortController().signal,
    );
    const last = rows.at(-1);
    if (last !== undefined && page.rows[0]?.id !== last.id) return null;
    rows.push(...(last === undefined ? page.rows : page.rows.slice(1)));
    if (page.rows.length < batchSize) return rows;
  }
}

/** All rows of a list, whatever page is shown, each of them once. */
export async function readAll<Row extends { id: string }>(
  read: ReadList<Row>,
  request: ListRequest,
): Promise<Row[]> {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const rows = await readOnce(read, request);
    if (rows !== null) return rows;
  }
  throw new Error("Others are changing the list at this moment. Please try again.");
}

interface CsvExportProps<Row> {
  table: AdminTable<Row>;
  target: ImportTarget;
  /** Cells of the rows by their columns, without the id. What they name is read after the rows, so that it has names for all of them. */
  cellsOf: (rows: readonly Row[]) => CsvRow[] | Promise<CsvRow[]>;
}

/** Saves all rows that match search and filters as a file that the import of the section takes. */
export function CsvExport<Row extends { id: string }>(props: CsvExportProps<Row>) {
  const { table, target, cellsOf } = props;
  const [isReading, setReading] = useState(false);

  async function save() {
    setReading(true);
    try {
      const rows = await readAll(table.read, table.request);
      const cells = await cellsOf(rows);
      const named = cells.map((row, place) => ({ ...row, [idColumn]: rows[place]?.id ?? "" }));
      const text = writeCsv(exportColumns(target), named);
      // As in the export of a user's data, which loads it when it is needed, too.
      const { saveFile } = await import("@/lib/save-file");
      saveFile(new Blob(["\uFEFF", text], { type: "text/csv;charset=utf-8" }), `${target}.csv`);
    } catch (error) {
      toast("Export failed", messageOf(error, "The rows could not be read."), "danger");
    } finally {
      setReading(false);
    }
  }

  return (
    <Button className={fileButtonClass} pending={isReading} onClick={() => void save()}>
      {!isReading && <FileDown aria-hidden="true" className="size-4" strokeWidth={1.7} />}
      <span className="max-sm:sr-only">Export CSV</span>
    </Button>
  );
}
