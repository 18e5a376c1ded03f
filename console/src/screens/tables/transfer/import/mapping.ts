/** Which column of the file goes into which column of the table. */
import type { Column, Table } from "@/api/catalog-model";
import { nameColumn } from "./read-file";

/** For each column of the file the table's column, or null where it is left out. */
export type Mapping = (string | null)[];

/** Columns that a file may fill. PostgreSQL computes the others. */
export function fillableColumns(table: Table): Column[] {
  return table.columns.filter(({ isGenerated }) => !isGenerated);
}

/** Columns with equal names belong together; without titles, those in the same place. */
export function guessMapping(table: Table, titles: readonly string[]): Mapping {
  const columns = fillableColumns(table).map(({ name }) => name);
  const free = new Set(columns);
  const hasTitles = titles.some((title) => title !== "");
  return titles.map((title, index) => {
    const wanted = [title, title.toLowerCase(), nameColumn(title, index)];
    const found = hasTitles
      ? columns.find(
          (name) =>
            free.has(name) && (wanted.includes(name) || wanted.includes(name.toLowerCase())),
        )
      : columns[index];
    if (found === undefined) return null;
    free.delete(found);
    return found;
  });
}

/** What stands in the way of an import, as a sentence; null when nothing does. */
export function findMappingFault(mapping: Mapping): string | null {
  const chosen = mapping.filter((name) => name !== null);
  if (chosen.length === 0) return "Choose a column of the table for at least one of the file.";
  const repeated = chosen.find((name, index) => chosen.indexOf(name) !== index);
  return repeated === undefined ? null : `${repeated} is chosen twice.`;
}

/** Columns that need a value and get none from the file. */
export function missingColumns(table: Table, mapping: Mapping): string[] {
  return fillableColumns(table)
    .filter(
      (column) =>
        !column.nullable &&
        column.default === null &&
        column.identity === null &&
        !mapping.includes(column.name),
    )
    .map(({ name }) => name);
}
