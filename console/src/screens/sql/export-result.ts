/** The rows of a result as a file or in the clipboard, and what of them would be missing there. */
import type { ResultColumn, StatementResult } from "./runs/run-model";

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

type Rows = Pick<StatementResult, "columns" | "rows">;

/** A value of which only the beginning is here. */
export interface MissingPart {
  /** As numbered in the grid, from 1. */
  row: number;
  column: string;
  bytes: number;
}

/** The values that a file of this result would hold only in part. */
export function findMissingParts({
  columns,
  cuts,
}: Pick<StatementResult, "columns" | "cuts">): MissingPart[] {
  return [...cuts].map(([place, bytes]) => {
    const [row = 0, column = 0] = place.split(":").map(Number);
    return { row: row + 1, column: columns?.[column]?.name ?? "", bytes };
  });
}

/** Names of the columns, each once: a join may return `id` twice, and an object has one member of a name. */
export function distinctNames(columns: readonly Pick<ResultColumn, "name">[]): string[] {
  const given = new Set(columns.map(({ name }) => name));
  const taken = new Set<string>();
  return columns.map(({ name }) => {
    let distinct = name;
    for (let number = 2; taken.has(distinct); number += 1) {
      const candidate = `${name}_${number}`;
      if (!given.has(candidate)) distinct = candidate;
    }
    taken.add(distinct);
    return distinct;
  });
}

/** Comma-separated as COPY writes it: null is nothing, the empty text is a pair of quotes. */
export function toCsv({ columns, rows }: Rows): string {
  const lines = [distinctNames(columns ?? []), ...rows];
  return `${lines.map((line) => line.map(toCsvField).join(",")).join("\n")}\n`;
}

function toCsvField(value: string | null): string {
  if (value === null) return "";
  const isPlain = value !== "" && value !== "\\." && !/[",\n\r]/.test(value);
  return isPlain ? value : `"${value.replaceAll('"', '""')}"`;
}

/** Tab-separated, which spreadsheets take from the clipboard as cells. */
export function toTabSeparated({ columns, rows }: Rows): string {
  const lines = [distinctNames(columns ?? []), ...rows];
  return lines.map((line) => line.map(toField).join("\t")).join("\n");
}

function toField(value: string | null): string {
  if (value === null) return "";
  return /["\t\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Objects by column name; the values stay PostgreSQL's texts, so that no number loses digits. */
export function toJson({ columns, rows }: Rows): string {
  const names = distinctNames(columns ?? []);
  const objects = rows.map((row) =>
    Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])),
  );
  return JSON.stringify(objects, null, 2);
}
