import { useMemo } from "react";
import type { Column, Table } from "@/api/catalog-model";
import type { Subject } from "@/api/subject";
import { type ReadRow, readValue } from "@/lib/rows/read-page";
import type { StagedChange, StagedChanges } from "@/lib/rows/staged";
import { type Cell, rowKey, type Value } from "@/lib/rows/types";

/** A cell as the grid shows it: what was read, or what is staged instead. */
export interface GridCell {
  value: Value;
  isDefault?: boolean;
  isChanged?: boolean;
  /** Whether the row was read without this column; it is being read again. */
  isMissing?: boolean;
  /** Whole size when the value was cut. */
  bytes?: number;
}

/** A row of the grid: one that was read, with its staged changes, or one that is staged to be inserted. */
export interface GridRow {
  key: string;
  read: ReadRow | null;
  staged: StagedChange | undefined;
  mark: "added" | "changed" | "removed" | undefined;
}

function markOf(staged: StagedChange | undefined): GridRow["mark"] {
  if (staged === undefined) return undefined;
  if (staged.change.kind === "delete") return "removed";
  return staged.change.kind === "insert" ? "added" : "changed";
}

/** Staged inserts first, then the rows that were read. */
export function gridRows(table: Table, read: readonly ReadRow[], staged: StagedChanges): GridRow[] {
  const own = staged.filter(({ change }) => change.table === table.oid);
  const inserts = own
    .filter(({ change }) => change.kind === "insert")
    .map(
      (entry): GridRow => ({ key: `new:${entry.id}`, read: null, staged: entry, mark: "added" }),
    );
  const byRow = new Map(
    own.flatMap((entry): [string, StagedChange][] =>
      entry.change.kind === "update" || entry.change.kind === "delete"
        ? [[rowKey(entry.change.row), entry]]
        : [],
    ),
  );
  return [
    ...inserts,
    ...read.map((row): GridRow => {
      const entry = byRow.get(row.key);
      return { key: row.key, read: row, staged: entry, mark: markOf(entry) };
    }),
  ];
}

const nothingStaged: StagedChanges = [];

/** What is staged, as this person sees it: nothing, because only the own login's eyes see what is not applied. */
export const stagedFor = (subject: Subject, staged: StagedChanges): StagedChanges =>
  subject.kind === "admin" ? staged : nothingStaged;

export function useGridRows(table: Table, read: readonly ReadRow[], staged: StagedChanges) {
  return useMemo(() => gridRows(table, read, staged), [table, read, staged]);
}

function ofCell(cell: Cell): GridCell {
  return "default" in cell
    ? { value: null, isDefault: true, isChanged: true }
    : { value: cell.value, isChanged: true };
}

/** The grid's cell for a row and a column. */
export function cellOf(row: GridRow, column: Column): GridCell {
  const change = row.staged?.change;
  if (change?.kind === "insert") {
    const cell = change.values[column.name];
    return cell === undefined ? { value: null, isDefault: true } : ofCell(cell);
  }
  const cell = change?.kind === "update" ? change.values[column.name] : undefined;
  if (cell !== undefined) return ofCell(cell);
  const value = readValue(row.read, column.name);
  if (value === undefined) return { value: null, isMissing: true };
  const bytes = row.read?.cuts?.get(column.name);
  return { value, ...(bytes !== undefined && { bytes }) };
}

/** Why a column cannot be written, or undefined. */
export function whyFixed(column: Column): string | undefined {
  if (column.isGenerated) return "PostgreSQL computes this column.";
  if (column.identity === "a") return "PostgreSQL numbers this column itself (generated always).";
  return undefined;
}
