/** Detects encoding, delimiter, titles and columns from the beginning of a file, for the preview. The server parses the file itself. */
import Papa from "papaparse";

/** How many bytes are read for the preview. */
const previewBytes = 256_000;
const previewRows = 200;

export type FileEncoding = "utf-8" | "utf-16" | "windows-1252";

export interface FileForm {
  encoding: FileEncoding;
  delimiter: string;
  /** Whether the first line contains the columns' titles. */
  hasTitles: boolean;
}

export interface FilePreview {
  titles: string[];
  /** The first rows without the titles; the last one may be incomplete. */
  rows: string[][];
}

/** Guesses the encoding from the first bytes: by a byte order mark, else UTF-8 if they are valid UTF-8, else Windows-1252. */
export function guessEncoding(bytes: Uint8Array): FileEncoding {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return "utf-16";
  try {
    // `stream`, because the bytes may end within a character.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch {
    return "windows-1252";
  }
}

function decode(bytes: Uint8Array, encoding: FileEncoding): string {
  const isBigEndian = encoding === "utf-16" && bytes[0] === 0xfe && bytes[1] === 0xff;
  const label = isBigEndian ? "utf-16be" : encoding === "utf-16" ? "utf-16le" : encoding;
  return new TextDecoder(label).decode(bytes, { stream: true });
}

function parse(text: string, delimiter: string): { rows: string[][]; delimiter: string } {
  const { data, meta } = Papa.parse<string[]>(text, {
    delimiter,
    preview: previewRows,
    skipEmptyLines: true,
  });
  return { rows: data, delimiter: meta.delimiter };
}

export async function readBeginning(file: File): Promise<Uint8Array> {
  return new Uint8Array(await file.slice(0, previewBytes).arrayBuffer());
}

/** Guesses encoding, delimiter, and whether the first line contains titles. */
export function guessForm(bytes: Uint8Array): FileForm {
  const encoding = guessEncoding(bytes);
  const { rows, delimiter } = parse(decode(bytes, encoding), "");
  return { encoding, delimiter, hasTitles: looksLikeTitles(rows[0] ?? [], rows[1]) };
}

/** Whether the first row probably contains titles: distinct words, while data rows usually contain a number, a date or an empty cell. */
export function looksLikeTitles(first: readonly string[], second: readonly string[] | undefined) {
  const isWord = (text: string) => text.trim() !== "" && !/^[-+]?\d/.test(text.trim());
  if (!first.every(isWord) || new Set(first).size !== first.length) return false;
  return second === undefined || first.some((text, index) => text !== second[index]);
}

export function previewFile(bytes: Uint8Array, form: FileForm): FilePreview {
  const { rows } = parse(decode(bytes, form.encoding), form.delimiter);
  const width = Math.max(0, ...rows.slice(0, 20).map((row) => row.length));
  const titles = Array.from({ length: width }, (_, index) =>
    form.hasTitles ? (rows[0]?.[index] ?? "").trim() : "",
  );
  return { titles, rows: form.hasTitles ? rows.slice(1) : rows };
}

const tests: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["boolean", /^(true|false|t|f|yes|no)$/i],
  ["bigint", /^[-+]?\d{1,18}$/],
  ["numeric", /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i],
  ["date", /^\d{4}-\d{2}-\d{2}$/],
  [
    "timestamptz",
    /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?( ?(Z|[-+]\d{2}(:?\d{2})?))?$/,
  ],
  ["uuid", /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i],
  ["jsonb", /^\s*[[{]/],
];

/** Guesses the narrowest type that accepts all values of the preview; text when in doubt. */
export function guessType(values: readonly string[]): string {
  const given = values.map((value) => value.trim()).filter((value) => value !== "");
  if (given.length === 0) return "text";
  // A number with a leading zero is a code, such as a postal code, and would lose the zero as a number.
  const isCode = given.some((value) => /^0\d/.test(value));
  const fits = tests.find(([type, pattern]) => {
    if (isCode && (type === "bigint" || type === "numeric")) return false;
    if (!given.every((value) => pattern.test(value))) return false;
    return type !== "jsonb" || given.every(isJson);
  });
  return fits?.[0] ?? "text";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Converts a title to a column name: lower-case words joined by underscores. */
export function nameColumn(title: string, index: number): string {
  const words =
    title
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  const name = words.join("_").slice(0, 60);
  if (name === "") return `column_${index + 1}`;
  return /^\d/.test(name) ? `_${name}` : name;
}
