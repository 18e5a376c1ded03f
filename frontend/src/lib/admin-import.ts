import type { CsvRow } from "@/lib/csv";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Tables that a CSV file can be imported into. */
export type ImportTarget = "colors" | "styles" | "outfit_styles";

/** The columns of each template. */
export const importColumns: Readonly<Record<ImportTarget, readonly string[]>> = {
  colors: ["name", "hexCode"],
  styles: ["name", "description", "metaDescription", "image"],
  outfit_styles: ["name", "description", "metaDescription", "image"],
};

/** Columns without which a file is not read. */
export const requiredColumns: Readonly<Record<ImportTarget, readonly string[]>> = {
  colors: ["name", "hexCode"],
  styles: ["name"],
  outfit_styles: ["name"],
};

/** A row that was not imported, by its number in the file; the first row after the header is 1. */
export interface RefusedRow {
  number: number;
  name: string;
  reason: string;
}

export interface ImportResult {
  imported: number;
  refused: RefusedRow[];
}

/** Rows sent at a time; the function of the database takes no more. */
const batchSize = 500;

/** Imports rows in batches. `onProgress` is told how many have been sent. */
export async function importRows(
  target: ImportTarget,
  rows: readonly CsvRow[],
  onProgress: (done: number) => void,
): Promise<ImportResult> {
  const result: ImportResult = { imported: 0, refused: [] };
  for (let first = 0; first < rows.length; first += batchSize) {
    const batch = rows.slice(first, first + batchSize);
    const answers = rowsOf(await supabase.rpc("import_rows", { target, entries: batch }));
    for (const { place, error } of answers) {
      // The generator does not know that the column may be null.
      const reason: string | null = error;
      if (reason === null) result.imported += 1;
      else {
        const name = batch[place]?.name ?? "";
        result.refused.push({ number: first + place + 1, name, reason });
      }
    }
    onProgress(Math.min(first + batchSize, rows.length));
  }
  return result;
}
