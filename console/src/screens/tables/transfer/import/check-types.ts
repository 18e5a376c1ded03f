/** Checks the guessed types of a file's columns against more of its values than the preview shows. */
import Papa from "papaparse";
import { pause } from "@/lib/pause";
import { type FileForm, fitsType, makeDecoder } from "./read-file";

/** In bytes. Reading this much takes seconds; a larger file is checked by PostgreSQL, which names the line of a fault. */
const checkedBytes = 64_000_000;
/** In bytes; parsing so much takes some milliseconds. */
const chunkBytes = 256_000;
/**
 * In characters. A row that has no end after this many is one whose quote is never closed: reading on would parse its beginning again
 * with every piece.
 */
const longestRow = 4_000_000;

type Newline = "\n" | "\r\n" | "\r";

/** The line end of the file, guessed as for the preview: what stands within quotes does not count. */
function guessNewline(text: string, delimiter: string): Newline {
  const { linebreak } = Papa.parse(text, { delimiter, preview: 1 }).meta;
  return linebreak === "\r\n" || linebreak === "\r" ? linebreak : "\n";
}

/** The rows of a text, and where the first incomplete one begins. A row is complete when another one follows, or the file ends. */
function parseRows(text: string, delimiter: string, newline: Newline, isLast: boolean) {
  const parser = new Papa.Parser({ delimiter, newline });
  const { data, meta }: { data: string[][]; meta: { cursor: number } } = parser.parse(
    text,
    0,
    !isLast,
  );
  return { rows: data, end: isLast ? text.length : meta.cursor };
}

export interface CheckedTypes {
  misfits: ReadonlySet<number>;
  /** How many rows were looked at, with the titles; null when it was the whole file. */
  checkedRows: number | null;
}

/**
 * Reads the file in small pieces and returns the indexes of the columns whose guessed type would change or refuse one of its values,
 * such as a code with zeros in front that first occurs after the preview.
 */
export async function findMisfits(
  file: File,
  form: FileForm,
  types: readonly string[],
  signal: AbortSignal,
): Promise<CheckedTypes> {
  const misfits = new Set<number>();
  let rowCount = 0;
  const first = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const decoder = makeDecoder(first, form.encoding);
  let newline: Newline | undefined;
  let rest = "";
  let hasTitles = form.hasTitles;
  for (let start = 0; start < Math.min(file.size, checkedBytes); start += chunkBytes) {
    const bytes = await file.slice(start, start + chunkBytes).arrayBuffer();
    if (signal.aborted) break;
    const isLast = start + chunkBytes >= file.size;
    const text = rest + decoder.decode(bytes, { stream: !isLast });
    newline ??= guessNewline(text, form.delimiter);
    const { rows, end } = parseRows(text, form.delimiter, newline, isLast);
    rest = text.slice(end);
    for (const row of hasTitles ? rows.slice(1) : rows) {
      for (const [index, value] of row.entries()) {
        const type = types[index];
        if (type !== undefined && !misfits.has(index) && !fitsType(type, value)) misfits.add(index);
      }
    }
    rowCount += rows.length;
    if (rows.length > 0) hasTitles = false;
    if (isLast) return { misfits, checkedRows: null };
    if (rest.length > longestRow) break;
    await pause();
  }
  return { misfits, checkedRows: file.size === 0 ? null : rowCount };
}
