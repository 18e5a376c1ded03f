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

/** A decoder for a file that begins with these bytes, which say the order of UTF-16. */
export function makeDecoder(bytes: Uint8Array, encoding: FileEncoding): TextDecoder {
  const isBigEndian = encoding === "utf-16" && bytes[0] === 0xfe && bytes[1] === 0xff;
  return new TextDecoder(isBigEndian ? "utf-16be" : encoding === "utf-16" ? "utf-16le" : encoding);
}

function decode(bytes: Uint8Array, encoding: FileEncoding): string {
  return makeDecoder(bytes, encoding).decode(bytes, { stream: true });
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

/** The types that are guessed, and what their values look like. No guess may change a value when it is read back. */
const tests: readonly (readonly [type: string, pattern: RegExp])[] = [
  ["boolean", /^(true|false|t|f|yes|no)$/i],
  // A sign or zeros in front belong to a phone number or a code, and an E stands in codes, too.
  ["bigint", /^(0|-?[1-9]\d{0,17})$/],
  ["numeric", /^(?!-0(\.0+)?$)-?(0|[1-9]\d*)(\.\d+)?$/],
  ["date", /^\d{4}-\d{2}-\d{2}$/],
  [
    "timestamptz",
    /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)? ?(Z|[-+]\d{2}(:?\d{2})?)$/,
  ],
  ["timestamp", /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$/],
  ["uuid", /^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i],
  ["jsonb", /^\s*[[{]/],
];

/** Guesses the narrowest type that accepts all values of the preview; text when in doubt. */
export function guessType(values: readonly string[]): string {
  const given = values.map((value) => value.trim()).filter((value) => value !== "");
  if (given.length === 0) return "text";
  const fits = tests.find(([type]) => given.every((value) => fitsType(type, value)));
  const type = fits?.[0] ?? "text";
  // Words such as NO alone may be names of countries.
  const isWord = type === "boolean" && !given.every((value) => /^(true|false)$/i.test(value));
  if (isWord && new Set(given.map((value) => value.toLowerCase())).size < 2) return "text";
  return type;
}

/** Whether a column of this type, one that is guessed, keeps the value as it is. */
export function fitsType(type: string, value: string): boolean {
  const trimmed = value.trim();
  if (type === "text" || trimmed === "") return true;
  const pattern = tests.find(([name]) => name === type)?.[1];
  if (pattern === undefined || !pattern.test(trimmed)) return false;
  return type !== "jsonb" || isJson(trimmed);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Converts a title to a column name: lower-case words joined by underscores. Accents are left out, and letters of other alphabets
 * stay.
 */
export function nameColumn(title: string, index: number): string {
  const words =
    title
      .toLowerCase()
      .replaceAll("ß", "ss")
      .normalize("NFKD")
      // Accents alone: marks of other scripts, such as Hindi vowels, belong to the word.
      .replaceAll(/\p{Script=Latin}[\u0300-\u036f]+/gu, ([letter = ""]) => letter)
      .normalize("NFC")
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  const name = cutToBytes(words.join("_"), longestName);
  if (name === "") return `column_${index + 1}`;
  return /^\p{N}/u.test(name) ? `_${name}` : name;
}

/** PostgreSQL's limit of a name is 63 bytes; some are left for a number. */
const longestName = 58;

/** The beginning of a text that has at most so many bytes in UTF-8. */
function cutToBytes(text: string, bytes: number): string {
  let cut = "";
  let used = 0;
  for (const sign of text) {
    used += new TextEncoder().encode(sign).length;
    if (used > bytes) break;
    cut += sign;
  }
  return cut;
}
