import type { CsvRow } from "@/lib/csv";
import { messageOf, rowsOf } from "@/lib/service-error";
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

/** A row that was not imported, by its number among those that were sent; the first is 1. */
export interface RefusedRow {
  number: number;
  name: string;
  reason: string;
}

export interface ImportResult {
  imported: number;
  /** Rows that an earlier import had made already. */
  present: number;
  refused: RefusedRow[];
  /** How many rows were not sent, because the import was stopped, or of how many it is not known. */
  left: number;
  /** Why the import ended before its last row; null when it did not. */
  failure: string | null;
}

/** Rows sent at a time; the function of the database takes no more. */
const batchSize = 500;

async function sendRows(target: ImportTarget, entries: readonly CsvRow[]) {
  return rowsOf(await supabase.rpc("import_rows", { target, entries: [...entries] }));
}

/**
 * Imports rows in batches. `onProgress` is told how many have been sent; after `signal` no further batch is. What was imported before a
 * batch fails is part of the result.
 */
export async function importRows(
  target: ImportTarget,
  rows: readonly CsvRow[],
  onProgress: (done: number) => void,
  signal?: AbortSignal,
): Promise<ImportResult> {
  const result: ImportResult = { imported: 0, present: 0, refused: [], left: 0, failure: null };
  for (let first = 0; first < rows.length; first += batchSize) {
    if (signal?.aborted === true) {
      result.left = rows.length - first;
      break;
    }
    const batch = rows.slice(first, first + batchSize);
    const answers = await sendRows(target, batch).catch((error: unknown) => {
      if (first === 0) throw error;
      result.left = rows.length - first;
      result.failure = messageOf(error, "The server gave no reason.");
      return null;
    });
    if (answers === null) break;
    for (const { place, error, was_there: wasThere } of answers) {
      // The generator does not know that the column may be null.
      const reason: string | null = error;
      if (reason === null) {
        if (wasThere) result.present += 1;
        else result.imported += 1;
      } else {
        const name = batch[place]?.name ?? "";
        result.refused.push({ number: first + place + 1, name, reason });
      }
    }
    onProgress(Math.min(first + batchSize, rows.length));
  }
  return result;
}
