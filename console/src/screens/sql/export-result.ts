/** The rows of a result as a file or in the clipboard. */
import type { StatementResult } from "./runs/run-model";

/** Hands the text over as a download; it never leaves this browser. */
export function download(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // Revoked later, because some browsers read the blob after the click and would cancel the download.
  window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Comma-separated as COPY writes it: null is nothing, the empty text is a pair of quotes. */
export function toCsv({ columns, rows }: Pick<StatementResult, "columns" | "rows">): string {
  const lines = [columns?.map(({ name }) => name) ?? [], ...rows];
  return `${lines.map((line) => line.map(toCsvField).join(",")).join("\n")}\n`;
}

function toCsvField(value: string | null): string {
  if (value === null) return "";
  const isPlain = value !== "" && value !== "\\." && !/[",\n\r]/.test(value);
  return isPlain ? value : `"${value.replaceAll('"', '""')}"`;
}

/** Tab-separated, which spreadsheets take from the clipboard as cells. */
export function toTabSeparated({ columns, rows }: StatementResult): string {
  const lines = [columns?.map(({ name }) => name) ?? [], ...rows];
  return lines.map((line) => line.map(toField).join("\t")).join("\n");
}

function toField(value: string | null): string {
  if (value === null) return "";
  return /["\t\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Objects by column name; the values stay PostgreSQL's texts, so that no number loses digits. */
export function toJson({ columns, rows }: StatementResult): string {
  const names = columns?.map(({ name }) => name) ?? [];
  const objects = rows.map((row) =>
    Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])),
  );
  return JSON.stringify(objects, null, 2);
}
