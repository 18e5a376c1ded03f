import { Button } from "@ui/button";
import { FileDown } from "lucide-react";
import { useState } from "react";
import type { ListRequest, ReadList } from "@/lib/admin-list";
import { writeCsv } from "@/lib/csv";
import { messageOf } from "@/lib/service-error";
import { toast } from "@/lib/toast";
import type { AdminTable } from "@/lib/use-admin-table";

/** Rows that are read at a time. */
const batchSize = 500;

/** All rows of a list, whatever page is shown. A row that moves to another batch meanwhile is taken once. */
export async function readAll<Row extends { id: string }>(
  read: ReadList<Row>,
  request: ListRequest,
): Promise<Row[]> {
  const rows = new Map<string, Row>();
  for (let from = 0; ; from += batchSize) {
    const page = await read(
      { ...request, from, to: from + batchSize - 1 },
      new AbortController().signal,
    );
    for (const row of page.rows) rows.set(row.id, row);
    if (page.rows.length < batchSize) return [...rows.values()];
  }
}

interface CsvExportProps<Row> {
  table: AdminTable<Row>;
  /** Name of the file, without its ending. */
  name: string;
  columns: readonly string[];
  /** Cells by their columns. */
  cellsOf: (row: Row) => Record<string, string>;
}

/** Saves all rows that match search and filters as a file that the import of the section takes. */
export function CsvExport<Row extends { id: string }>(props: CsvExportProps<Row>) {
  const { table, name, columns, cellsOf } = props;
  const [isReading, setReading] = useState(false);

  async function save() {
    setReading(true);
    try {
      const rows = await readAll(table.read, table.request);
      const file = new Blob(["\uFEFF", writeCsv(columns, rows.map(cellsOf))], {
        type: "text/csv;charset=utf-8",
      });
      const url = URL.createObjectURL(file);
      Object.assign(document.createElement("a"), { href: url, download: `${name}.csv` }).click();
      URL.revokeObjectURL(url);
    } catch (error) {
      toast("Export failed", messageOf(error, "The rows could not be read."), "danger");
    } finally {
      setReading(false);
    }
  }

  return (
    <Button pending={isReading} onClick={() => void save()}>
      {!isReading && <FileDown aria-hidden="true" className="size-4" strokeWidth={1.7} />}
      Export CSV
    </Button>
  );
}
