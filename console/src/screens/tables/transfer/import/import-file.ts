/** Sends a file to the server, which imports all of its rows or none. */
import Papa from "papaparse";
import { withQuery } from "@/api/client";
import { ApiError, type ErrorBody } from "@/api/error";
import { announceSignedOut, currentSecret } from "@/api/secret";
import type { Mapping } from "./mapping";
import type { FileForm } from "./read-file";

export interface ImportOptions {
  /** The oid of the table. */
  table: string;
  mapping: Mapping;
  form: FileForm;
  /** The text that means null. */
  nullText: string;
  /** Whether faulty rows are left out. */
  leavesOut: boolean;
}

export interface Reject {
  line: number;
  message: string;
  values: (string | null)[];
}

export interface ImportResult {
  rows: number;
  rejects?: Reject[];
}

export interface RunningImport {
  result: Promise<ImportResult>;
  /** Ends the upload; nothing is imported then. */
  cancel: () => void;
}

export function importPath({ table, mapping, form, nullText, leavesOut }: ImportOptions): string {
  return withQuery("/api/rows/import", {
    table,
    columns: JSON.stringify(mapping),
    header: form.hasTitles,
    delimiter: form.delimiter,
    null: nullText,
    encoding: form.encoding,
    rejects: leavesOut ? true : null,
  });
}

/**
 * Uploads the file, which the browser reads from the disk piece by piece. XMLHttpRequest, because fetch tells nothing about how
 * much of an upload has been sent.
 */
export function importFile(
  file: File,
  options: ImportOptions,
  onProgress: (sent: number) => void,
): RunningImport {
  const upload = new XMLHttpRequest();
  const result = new Promise<ImportResult>((resolve, reject) => {
    upload.upload.onprogress = ({ loaded }) => onProgress(loaded);
    upload.onload = () => {
      if (upload.status === 200) resolve(JSON.parse(upload.responseText) as ImportResult);
      else {
        if (upload.status === 401) announceSignedOut();
        reject(new ApiError(upload.status, readBody(upload)));
      }
    };
    upload.onerror = () =>
      reject(
        new ApiError(0, {
          code: "unreachable",
          message: "The connection to the server broke off.",
        }),
      );
    upload.onabort = () => reject(new DOMException("The import was cancelled.", "AbortError"));
    upload.open("POST", importPath(options));
    upload.setRequestHeader("x-selvedge-console", currentSecret());
    upload.setRequestHeader("content-type", "text/csv");
    upload.send(file);
  });
  return { result, cancel: () => upload.abort() };
}

function readBody(upload: XMLHttpRequest): ErrorBody {
  try {
    return JSON.parse(upload.responseText) as ErrorBody;
  } catch {
    const message = `The server answered with status ${upload.status}.`;
    return { code: String(upload.status), message };
  }
}

/** Where in the file a fault is: `line 4, column price`. */
export function placeOfFault(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  const body = error.body as { line?: unknown; column?: unknown };
  if (typeof body.line !== "number") return null;
  return `line ${body.line}${typeof body.column === "string" ? `, column ${body.column}` : ""}`;
}

/** The rows that were left out as a file: their lines, why, and their values, to be mended and imported again. */
export function writeRejects(rejects: readonly Reject[], mapping: Mapping): string {
  const columns = mapping.filter((name) => name !== null);
  // A spreadsheet would run a text that begins like this as a formula. The values stay as they are, or they would be imported
  // with an apostrophe.
  const guard = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return Papa.unparse([
    ["line", "error", ...columns],
    ...rejects.map(({ line, message, values }) => [line, guard(message), ...values]),
  ]);
}
