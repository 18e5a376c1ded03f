/** Assigns the columns of a file to the columns of a table. */
import type { Column, Table } from "@/api/catalog-model";
import { nameColumn } from "./read-file";

/** For each column of the file the name of the table's column; null if the column is not imported. */
export type Mapping = (string | null)[];

/** The columns that a file may fill: all but generated ones. */
export function fillableColumns(table: Table): Column[] {
  return table.columns.filter(({ isGenerated }) => !isGenerated);
}

/** Guesses a mapping: by name, or by position if the file has no titles. */
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

/** A sentence that says why the mapping cannot be used; null when it can. */
export function findMappingFault(mapping: Mapping): string | null {
  const chosen = mapping.filter((name) => name !== null);
  if (chosen.length === 0) return "Choose a column of the table for at least one of the file.";
  const repeated = chosen.find((name, index) => chosen.indexOf(name) !== index);
  return repeated === undefined ? null : `${repeated} is chosen twice.`;
}

/** The table's columns that are NOT NULL without default and not in the mapping. */
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
