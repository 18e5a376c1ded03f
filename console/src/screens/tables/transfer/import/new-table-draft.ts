/** The draft of a new table for a file: a column for each of the file's columns, with a type guessed from the first values. */
import { isSameValue } from "@ui/merge-edit";
import type { Table } from "@/api/catalog-model";
import { emptyColumn } from "@/lib/sql/ddl/columns";
import type { TableDraft } from "@/lib/sql/ddl/tables";
import type { Mapping } from "./mapping";
import { type FilePreview, guessType, nameColumn } from "./read-file";

export interface ImportedColumn {
  isIncluded: boolean;
  name: string;
  type: string;
}

export interface ImportedTable {
  name: string;
  columns: ImportedColumn[];
}

/** What was changed by hand of the table that is guessed for a file. The rest follows the guess. */
export interface ImportedTableChanges {
  file: File;
  name?: string;
  /** The titles of the columns that `columns` are for, by their places. */
  titles: readonly string[];
  columns: Readonly<Record<number, Partial<ImportedColumn>>>;
}

/**
 * The guess with what was changed by hand. Another file takes nothing over, and the same file read in another way only the name: by
 * their places, other columns would get what was chosen for these.
 */
export function withChanges(
  guess: ImportedTable,
  changes: ImportedTableChanges | null,
  file: File | undefined,
  titles: readonly string[],
): ImportedTable {
  if (changes === null || changes.file !== file) return guess;
  const isSameColumns = isSameValue(changes.titles, titles);
  return {
    name: changes.name ?? guess.name,
    columns: guess.columns.map((column, index) =>
      isSameColumns ? { ...column, ...changes.columns[index] } : column,
    ),
  };
}

/** `misfits` are the columns whose values further down in the file do not fit the type that the preview suggests. */
export function guessTable(
  fileName: string,
  preview: FilePreview,
  misfits: ReadonlySet<number>,
): ImportedTable {
  const names = new Set<string>();
  const columns = preview.titles.map((title, index) => {
    const wanted = nameColumn(title, index);
    let name = wanted;
    for (let number = 2; names.has(name); number += 1) name = `${wanted}_${number}`;
    names.add(name);
    const type = misfits.has(index)
      ? "text"
      : guessType(preview.rows.map((row) => row[index] ?? ""));
    return { isIncluded: true, name, type };
  });
  return { name: nameColumn(fileName.replace(/\.[^.]*$/, ""), 0), columns };
}

/** Drafts the table. Its primary key is the file's column `id`, if its values in the preview are complete and distinct; else a new identity column. */
export function draftTable(table: ImportedTable, preview: FilePreview): TableDraft {
  const included = table.columns.filter(({ isIncluded }) => isIncluded);
  const keyIndex = table.columns.findIndex(({ name, isIncluded }) => isIncluded && name === "id");
  const values = preview.rows.map((row) => row[keyIndex] ?? "");
  const hasKey =
    keyIndex >= 0 &&
    values.every((value) => value !== "") &&
    new Set(values).size === values.length;
  const columns = included.map(({ name, type }) => ({
    ...emptyColumn,
    name,
    type,
    isPrimary: hasKey && name === "id",
    isNullable: !(hasKey && name === "id"),
  }));
  const counted = {
    ...emptyColumn,
    name: included.some(({ name }) => name === "id") ? "row_id" : "id",
    type: "bigint",
    identity: "always" as const,
    isPrimary: true,
  };
  return {
    schema: "public",
    name: table.name,
    comment: "",
    enablesRls: true,
    columns: hasKey ? columns : [counted, ...columns],
  };
}

export function mappingOf(table: ImportedTable): Mapping {
  return table.columns.map(({ isIncluded, name }) => (isIncluded ? name : null));
}

/**
 * The table that was made, or a sentence that says why it cannot be filled. Its SQL can be edited before it runs, so it may have
 * another name and other columns than the form. `known` are the tables that were there before.
 */
export function findCreated(
  tables: readonly Table[],
  wanted: ImportedTable,
  known: ReadonlySet<string>,
): Table | string {
  const made = tables.filter(({ schema, oid }) => schema === "public" && !known.has(oid));
  const found =
    made.find(({ name }) => name === wanted.name) ?? (made.length === 1 ? made[0] : undefined);
  if (found === undefined) {
    return `The table was made, but not as ${wanted.name}, so nothing was imported. Import the file on the page of the new table.`;
  }
  const names = new Set(found.columns.map(({ name }) => name));
  const missing = mappingOf(wanted).filter((name) => name !== null && !names.has(name));
  if (missing.length === 0) return found;
  return `${found.name} was made without ${missing.join(", ")}, so nothing was imported. Import the file on the page of the new table.`;
}

/** A sentence that says why the table cannot be created; null when it can. */
export function findTableFault(table: ImportedTable, taken: readonly string[]): string | null {
  if (table.name.trim() === "") return "Name the table.";
  if (taken.includes(table.name)) return `There is a table ${table.name} already.`;
  const names = table.columns.filter(({ isIncluded }) => isIncluded).map(({ name }) => name.trim());
  if (names.length === 0) return "Take at least one column.";
  if (names.includes("")) return "Each column needs a name.";
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? null : `Two columns are called ${repeated}.`;
}
