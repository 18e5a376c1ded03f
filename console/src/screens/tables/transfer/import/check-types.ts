/** Checks the guessed types of a file's columns against more of its values than the preview shows. */
import Papa from "papaparse";
import { pause } from "@/lib/pause";
import { type FileForm, fitsType } from "./read-file";

/** In bytes. Reading this much takes seconds; a larger file is checked by PostgreSQL, which names the line of a fault. */
const checkedBytes = 64_000_000;
/** In bytes; parsing so much takes some milliseconds. */
const chunkBytes = 256_000;

/**
 * Reads the file in small pieces and returns the indexes of the columns whose guessed type would change or refuse one of its values,
 * such as a code with zeros in front that first occurs after the preview.
 */
export async function findMisfits(
  file: File,
  form: FileForm,
  types: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlySet<number>> {
  const misfits = new Set<number>();
  const decoder = new TextDecoder(form.encoding === "utf-16" ? "utf-16le" : form.encoding);
  let rest = "";
  let isFirst = form.hasTitles;
  for (let start = 0; start < Math.min(file.size, checkedBytes); start += chunkBytes) {
    const bytes = await file.slice(start, start + chunkBytes).arrayBuffer();
    if (signal.aborted) return misfits;
    const isLast = start + chunkBytes >= file.size;
    const text = rest + decoder.decode(bytes, { stream: !isLast });
    const { data, meta } = Papa.parse<string[]>(text, {
      delimiter: form.delimiter,
      skipEmptyLines: true,
    });
    // The last row may go on in the next piece.
    const rows = isLast ? data : data.slice(0, -1);
    rest = isLast ? "" : lastLineOf(text, data.at(-1), meta.linebreak);
    for (const row of isFirst ? rows.slice(1) : rows) {
      for (const [index, value] of row.entries()) {
        const type = types[index];
        if (type !== undefined && !misfits.has(index) && !fitsType(type, value)) misfits.add(index);
      }
    }
    if (rows.length > 0) isFirst = false;
    await pause();
  }
  return misfits;
}

/** The text of the last row, which begins behind the last line break that is not within quotes. */
function lastLineOf(text: string, row: readonly string[] | undefined, linebreak: string): string {
  if (row === undefined) return "";
  const breaks = row.join("").split("\n").length - 1;
  let start = text.length;
  for (let left = breaks + 1; left > 0 && start > 0; left -= 1) {
    start = text.lastIndexOf(linebreak, start - 1);
    if (start < 0) return text;
  }
  return text.slice(start + linebreak.length);
}
