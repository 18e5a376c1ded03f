/** The draft of a new table for a file: a column for each of the file's columns, with a type guessed from the first values. */
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
