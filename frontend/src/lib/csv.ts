import Papa from "papaparse";

/** A row of a CSV file: texts by the names of the header. */
export type CsvRow = Record<string, string>;

export interface CsvFile {
  rows: CsvRow[];
  /** Columns that the file should have and has not. */
  missing: string[];
}

/**
 * The text of a file: UTF-16 where it begins so, UTF-8 where it is valid, and otherwise Windows-1252, in which spreadsheets save
 * CSV files.
 */
export function decodeCsv(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Reads a CSV file whose first line is the header. Quoted cells may hold commas, quotes and line breaks (RFC 4180). */
export function parseCsv(text: string, required: readonly string[]): CsvFile {
  const { data, meta } = Papa.parse<CsvRow>(text, {
    header: true,
    // A byte order mark, as spreadsheets write it, would become part of the first name.
    transformHeader: (name) => name.replace(/^\uFEFF/, "").trim(),
    skipEmptyLines: "greedy",
  });
  const columns = meta.fields ?? [];
  return { rows: data, missing: required.filter((name) => !columns.includes(name)) };
}

/** Writes a CSV file. A spreadsheet would run a cell that begins with `= + - @`, so such cells get an apostrophe. */
export function writeCsv(columns: readonly string[], rows: readonly CsvRow[]): string {
  return Papa.unparse(
    { fields: [...columns], data: rows.map((row) => columns.map((name) => row[name] ?? "")) },
    { escapeFormulae: true },
  );
}
