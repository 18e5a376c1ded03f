import { type CsvRow, idColumn } from "@/lib/csv";
import { messageOf, rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Tables that a CSV file can be imported into. */
export type ImportTarget = "colors" | "styles" | "outfit_styles" | "brands" | "items";

/** The columns of each template. */
export const importColumns: Readonly<Record<ImportTarget, readonly string[]>> = {
  colors: ["name", "hexCode"],
  styles: ["name", "description", "metaDescription", "image"],
  outfit_styles: ["name", "description", "metaDescription", "image"],
  brands: ["name", "description", "metaDescription", "logo"],
  // Brand, category, subcategory and colors are names; several colors are separated by semicolons.
  items: [
    "name",
    "productId",
    "price",
    "brand",
    "category",
    "subcategory",
    "gender",
    "colors",
    "sourceUrl",
    "image",
    "description",
    "metaDescription",
  ],
};

/** The columns of an exported file. By its id, a row that is imported again is the one that is there. */
export function exportColumns(target: ImportTarget): readonly string[] {
  return [...importColumns[target], idColumn];
}

/** Columns without which a file is not read. */
export const requiredColumns: Readonly<Record<ImportTarget, readonly string[]>> = {
  colors: ["name", "hexCode"],
  styles: ["name"],
  outfit_styles: ["name"],
  brands: ["name"],
  items: ["name", "price", "brand"],
};

/** A row by its number among those that were sent; the first is 1. */
interface SentRow {
  number: number;
  name: string;
}

export interface RefusedRow extends SentRow {
  reason: string;
}

/** A row that an earlier import had made already. */
export interface PresentRow extends SentRow {
  /** The name that it has by now, where somebody has changed it; null otherwise. */
  renamed: string | null;
}

export interface ImportResult {
  imported: number;
  present: PresentRow[];
  refused: RefusedRow[];
  /** How many rows were not sent, because the import was stopped, or of how many it is not known. */
  left: number;
  /** Why the import ended before its last row; null when it did not. */
  failure: string | null;
}

/** Rows sent at a time; the function of the database takes no more. */
const batchSize = 500;

/** The stored name where it is another than that of the file. A style without one has been given a name when it was imported. */
function newName(name: string, stored: string | null): string | null {
  return name === "" || !stored || stored === name ? null : stored;
}

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
  const result: ImportResult = { imported: 0, present: [], refused: [], left: 0, failure: null };
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
    for (const { place, error, was_there: wasThere, stored_name } of answers) {
      // The generator does not know that the columns may be null.
      const reason: string | null = error;
      const row = { number: first + place + 1, name: batch[place]?.name?.trim() ?? "" };
      if (reason !== null) result.refused.push({ ...row, reason });
      else if (wasThere) result.present.push({ ...row, renamed: newName(row.name, stored_name) });
      else result.imported += 1;
    }
    onProgress(Math.min(first + batchSize, rows.length));
  }
  return result;
}
