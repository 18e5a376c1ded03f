import Papa from "papaparse";
import { isUuid } from "@/lib/patterns";

/** A row of a CSV file: texts by the names of the header. */
export type CsvRow = Record<string, string>;

export interface CsvFile {
  rows: CsvRow[];
  /** The row of each in the spreadsheet, which counts the header and blank rows: the first row after the header is 2. */
  places: number[];
  /** The names of the columns that the file has. */
  columns: string[];
  /** Numbers of columns without a name that have cells, such as the one in which pandas writes its index; the first is 1. */
  untitled: number[];
  /** Columns that the file should have and has not. */
  missing: string[];
  /** Places of rows with more cells than the header, such as those with a comma that is not quoted: nobody knows what belongs where. */
  surplus: number[];
  /** Places of rows with fewer cells than the header, such as those that a line break without quotes has cut. */
  short: number[];
  /** Place of a quotation mark that does not end its cell, or is not ended; null where there is none. */
  openQuote: number | null;
}

export interface CsvText {
  text: string;
  /** A sentence for the person who imports the file, where its letters are guessed or damaged; null where they are certain. */
  doubt: string | null;
}

/** Whatever is no ASCII in a text, with the word around it. */
const wordWithLetter = /[\p{L}\p{M}\p{N}]*[^\0-\x7f\uFFFD][\p{L}\p{M}\p{N}]*/u;

const countOf = (text: string, sign: RegExp): number => text.match(sign)?.length ?? 0;

/**
 * The text of a file: UTF-16 where it begins so, UTF-8 where the whole file is valid or begins with the mark of UTF-8, and
 * otherwise Windows-1252, in which spreadsheets save CSV files. A file with more letters in valid UTF-8 than invalid places is
 * damaged UTF-8: read as Windows-1252, each of those letters would become two others.
 */
export function decodeCsv(bytes: Uint8Array): CsvText {
  const [first, second, third] = bytes;
  if (first === 0xff && second === 0xfe)
    return { text: new TextDecoder("utf-16le").decode(bytes), doubt: null };
  if (first === 0xfe && second === 0xff)
    return { text: new TextDecoder("utf-16be").decode(bytes), doubt: null };
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), doubt: null };
  } catch {
    const isMarked = first === 0xef && second === 0xbb && third === 0xbf;
    return decodeDoubtful(bytes, isMarked);
  }
}

function decodeDoubtful(bytes: Uint8Array, isMarked: boolean): CsvText {
  const utf8 = new TextDecoder("utf-8").decode(bytes);
  const damaged = countOf(utf8, /\uFFFD/g);
  if (isMarked || countOf(utf8, /[^\0-\x7f\uFFFD]/gu) > damaged) {
    const places = damaged === 1 ? "1 character" : `${damaged} characters`;
    return {
      text: utf8,
      doubt: `The file is damaged: ${places} could not be read and would be imported as \uFFFD.`,
    };
  }
  const text = new TextDecoder("windows-1252").decode(bytes);
  const example = text.match(wordWithLetter)?.[0] ?? "";
  return {
    text,
    doubt: `The file is not UTF-8 and was read as Windows-1252, for example \u201c${example}\u201d. If letters look wrong, save it as UTF-8 and choose it again.`,
  };
}

/** What a spreadsheet would run, also behind apostrophes of its own, which would otherwise be taken for those of `writeCsv`. */
const isFormula = /^'*[=+\-@\t\r]/;
const isProtected = /^'+[=+\-@\t\r]/;

/** Where the parser puts cells beyond the last column. */
const surplusKey = "__parsed_extra";

function surplusOf(row: object): readonly string[] {
  return (row as Record<string, readonly string[] | undefined>)[surplusKey] ?? [];
}

const isBlank = (cell: string | undefined) => cell === undefined || cell.trim() === "";

/** Reads a CSV file whose first line is the header. Quoted cells may hold commas, quotes and line breaks (RFC 4180). */
export function parseCsv(text: string, required: readonly string[]): CsvFile {
  const titles: string[] = [];
  const { data, meta, errors } = Papa.parse<CsvRow>(text, {
    header: true,
    // The apostrophe that `writeCsv` puts before signs of formulas.
    transform: (cell) => (isProtected.test(cell) ? cell.slice(1) : cell),
    transformHeader(name, index) {
      // A byte order mark, as spreadsheets write it, would become part of the first name.
      const title = name.replace(/^\uFEFF/, "").trim();
      titles[index] = title;
      return title;
    },
  });
  // Of columns with one name, or none, the parser makes different names.
  const fields = meta.fields ?? [];
  const columns = fields.filter((_, index) => titles[index] !== "");
  const numbered = data
    .map((row, index) => ({ row, place: index + 2 }))
    .filter(({ row }) =>
      Object.values(row)
        .flat()
        .some((cell) => !isBlank(cell)),
    );
  const hasSurplus = ({ row }: { row: CsvRow }) => surplusOf(row).some((cell) => !isBlank(cell));
  const whole = numbered.filter((one) => !hasSurplus(one));
  const isShort = ({ row }: { row: CsvRow }) => fields.some((name) => !(name in row));
  const quote = errors.find(({ type }) => type === "Quotes");
  return {
    rows: whole.map(({ row: { [surplusKey]: _, ...row } }) => row),
    places: whole.map(({ place }) => place),
    columns,
    untitled: fields.flatMap((name, index) =>
      titles[index] === "" && numbered.some(({ row }) => !isBlank(row[name])) ? [index + 1] : [],
    ),
    missing: required.filter((name) => !columns.includes(name)),
    surplus: numbered.filter(hasSurplus).map(({ place }) => place),
    short: whole.filter(isShort).map(({ place }) => place),
    openQuote: quote === undefined ? null : (quote.row ?? 0) + 1,
  };
}

/** An id that follows from a text, of the version for ids that an application makes in its own way (RFC 9562, version 8). */
async function idOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const hex = Array.from(new Uint8Array(digest.slice(0, 16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20),
  ];
  return parts.join("-");
}

/** The column of a row's own id, which an exported file has beside the columns of the import. */
export const idColumn = "id";

const ownId = (row: CsvRow): string => row[idColumn]?.trim().toLowerCase() ?? "";

/** Whether a file was exported, so that its rows name themselves. Programs number their rows in a column of this name, too. */
export function hasIds(rows: readonly CsvRow[]): boolean {
  return rows.some((row) => isUuid(ownId(row)));
}

/** Columns that came later: blank, they count as absent, so that rows of older files keep their ids. */
const laterColumns = new Set(["subcategory"]);

/**
 * Gives each row without an id one that follows from its own cells in these columns, and from how many equal rows stand before it: sent
 * once more, also from a file in which other rows were corrected, it is the same row.
 */
export function identifyRows(
  rows: readonly CsvRow[],
  columns: readonly string[],
): Promise<CsvRow[]> {
  const seen = new Map<string, number>();
  return Promise.all(
    rows.map(async (row) => {
      const counted = columns.filter((name) => !laterColumns.has(name) || !isBlank(row[name]));
      const cells = JSON.stringify(counted.map((name) => [name, (row[name] ?? "").trim()]));
      const before = seen.get(cells) ?? 0;
      seen.set(cells, before + 1);
      const id = isUuid(ownId(row)) ? ownId(row) : await idOf(`${before} ${cells}`);
      return { ...row, [idColumn]: id };
    }),
  );
}

/** Writes a CSV file. A spreadsheet would run a cell that begins with `= + - @`, so such cells get an apostrophe (one more, if they have some). */
export function writeCsv(columns: readonly string[], rows: readonly CsvRow[]): string {
  return Papa.unparse(
    { fields: [...columns], data: rows.map((row) => columns.map((name) => row[name] ?? "")) },
    { escapeFormulae: isFormula },
  );
}
