/** Results as files: all rows by a ticket from the server, or the shown ones into the clipboard. */
import { request } from "@/api/client";
import type { StatementResult } from "./runs/run-model";

export type ExportFormat = "csv" | "spreadsheet" | "json" | "sql";

/**
 * Runs the statement again in the server and streams it into a file. The ticket works once and for 30 seconds, so that
 * the address in the list of downloads opens nothing.
 */
export async function downloadResult(sql: string, format: ExportFormat): Promise<void> {
  const { ticket } = await request<{ ticket: string }>("/api/rows/export", {
    json: { sql, format, filters: [], sort: [] },
  });
  const link = document.createElement("a");
  link.href = `/api/rows/export/${encodeURIComponent(ticket)}`;
  link.download = "";
  link.click();
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
