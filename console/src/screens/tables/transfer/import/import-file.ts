/** Uploads a file to the server, which imports it in one transaction. */
import Papa from "papaparse";
import { withQuery } from "@/api/client";
import { ApiError, type ErrorBody } from "@/api/error";
import { announceRefusal, pageHeaders } from "@/api/project";
import type { Mapping } from "./mapping";
import type { FileForm } from "./read-file";

export interface ImportOptions {
  /** The oid of the table. */
  table: string;
  mapping: Mapping;
  form: FileForm;
  /** The text that is imported as null. */
  nullText: string;
  /** Whether rows that PostgreSQL refuses are skipped and returned. */
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
  /** Aborts the upload, so that nothing is imported. */
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
 * Uploads the file, which the browser streams from the disk. By XMLHttpRequest, because fetch does not report the progress of an
 * upload.
 */
export function importFile(
  file: File,
  options: ImportOptions,
  onProgress: (sent: number) => void,
): RunningImport {
  const upload = new XMLHttpRequest();
  const own = pageHeaders();
  const result = new Promise<ImportResult>((resolve, reject) => {
    upload.upload.onprogress = ({ loaded }) => onProgress(loaded);
    upload.onload = () => {
      const result = upload.status === 200 ? readResult(upload.responseText) : null;
      if (result !== null) resolve(result);
      else {
        const error = new ApiError(upload.status, readBody(upload));
        announceRefusal(error, own);
        reject(error);
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
    for (const [name, value] of Object.entries(own)) upload.setRequestHeader(name, value);
    upload.setRequestHeader("content-type", "text/csv");
    upload.send(file);
  });
  return { result, cancel: () => upload.abort() };
}

/** The result of an answer; null when it is cut or not the console's own, such as a proxy's page. */
function readResult(text: string): ImportResult | null {
  try {
    const result: unknown = JSON.parse(text);
    const isResult =
      typeof result === "object" &&
      result !== null &&
      "rows" in result &&
      typeof result.rows === "number";
    return isResult ? (result as ImportResult) : null;
  } catch {
    return null;
  }
}

function readBody(upload: XMLHttpRequest): ErrorBody {
  if (upload.status === 200) {
    return {
      code: "malformed",
      message:
        "The answer could not be read, so it is not known whether the rows were imported. Look at the table before you import again.",
    };
  }
  try {
    return JSON.parse(upload.responseText) as ErrorBody;
  } catch {
    const message = `The server answered with status ${upload.status}.`;
    return { code: String(upload.status), message };
  }
}

/** The position of an import error in the file, such as `line 4, column price`; null if the error has none. */
export function placeOfFault(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  const body = error.body as { line?: unknown; column?: unknown };
  if (typeof body.line !== "number") return null;
  return `line ${body.line}${typeof body.column === "string" ? `, column ${body.column}` : ""}`;
}

/** Writes skipped rows as CSV with line, reason and values, so that they can be corrected and imported again. */
export function writeRejects(rejects: readonly Reject[], mapping: Mapping): string {
  const columns = mapping.filter((name) => name !== null);
  // A spreadsheet would run a text that begins like this as a formula. Only the reasons are guarded: the values would otherwise
  // be imported with the apostrophe.
  const guard = (text: string) => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);
  return Papa.unparse([
    ["line", "error", ...columns],
    ...rejects.map(({ line, message, values }) => [line, guard(message), ...values]),
  ]);
}
