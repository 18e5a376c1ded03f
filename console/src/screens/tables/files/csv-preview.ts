import { parse } from "papaparse";
import type { Table } from "@/api/catalog-model";

/** The first lines of a file, enough for its columns and a look; the server reads the whole. */
export interface CsvPreview {
  delimiter: string;
  rows: string[][];
}

const previewBytes = 256 * 1024;
const previewRows = 20;

export async function previewCsv(
  file: Blob,
  encoding: string,
  delimiter: string,
): Promise<CsvPreview> {
  const bytes = await file.slice(0, previewBytes).arrayBuffer();
  const text = new TextDecoder(encoding).decode(bytes);
  const { data, meta } = parse<string[]>(text, {
    delimiter,
    preview: previewRows,
    skipEmptyLines: true,
  });
  return { delimiter: meta.delimiter, rows: data };
}

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** The table's column for each of the file's, by name, or by place where the file has no names; null leaves one out. */
export function mapColumns(
  table: Table,
  first: readonly string[],
  hasHeader: boolean,
): (string | null)[] {
  const columns = table.columns.filter(({ isGenerated }) => !isGenerated).map(({ name }) => name);
  if (!hasHeader) return first.map((_, index) => columns[index] ?? null);
  const free = new Set(columns);
  return first.map((name) => {
    const match =
      columns.find((column) => column === name.trim()) ??
      columns.find((column) => plain(column) === plain(name));
    if (match === undefined || !free.has(match)) return null;
    free.delete(match);
    return match;
  });
}

/** Why a mapping cannot be imported, or null. */
export function findMappingFault(table: Table, mapping: readonly (string | null)[]): string | null {
  const used = mapping.filter((name) => name !== null);
  if (used.length === 0) return "No column of the file is mapped.";
  const twice = used.find((name, index) => used.indexOf(name) !== index);
  if (twice !== undefined) return `${twice} is mapped twice.`;
  const missing = table.columns.find(
    (column) =>
      !column.nullable &&
      column.default === null &&
      column.identity === null &&
      !column.isGenerated &&
      !used.includes(column.name),
  );
  return missing === undefined ? null : `${missing.name} must not be null and has no default.`;
}
