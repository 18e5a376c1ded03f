import { isSameValue } from "@ui/merge-edit";
import {
  type Base,
  type Cell,
  type Change,
  type Conflict,
  type RowId,
  rowKey,
  type Values,
} from "@/lib/rows/types";

/** A change that waits to be applied. Several edits of one row are one change. */
export interface StagedChange {
  /** Names the change in this browser, for its mark in the grid and for discarding it. */
  id: string;
  change: Change;
}

/** The staged changes, in the order in which they will be applied. */
export type StagedChanges = readonly StagedChange[];

let counter = 0;
const newId = (): string => `${Date.now().toString(36)}-${(counter++).toString(36)}`;

const placeOf = (table: string, row: RowId): string => `${table} ${rowKey(row)}`;

function isSameCell(cell: Cell, value: string | null | undefined): boolean {
  return "value" in cell && cell.value === value;
}

/**
 * Stages rows one after the other. The changes are found by their ids and their rows' keys, so that thousands of rows take no longer
 * than reading the list once.
 */
export class StagedBatch {
  readonly #before: StagedChanges;
  /** In the order in which they will be applied. */
  readonly #byId: Map<string, StagedChange>;
  /** The ids of updates and deletions, by their rows. */
  readonly #byRow = new Map<string, string>();
  #isChanged = false;

  constructor(before: StagedChanges) {
    this.#before = before;
    this.#byId = new Map(before.map((staged) => [staged.id, staged]));
    for (const { id, change } of before) {
      if (change.kind !== "update" && change.kind !== "delete") continue;
      const place = placeOf(change.table, change.row);
      if (!this.#byRow.has(place)) this.#byRow.set(place, id);
    }
  }

  /** The changes by now; the same list where nothing was changed. */
  get changes(): StagedChanges {
    return this.#isChanged ? [...this.#byId.values()] : this.#before;
  }

  has(id: string): boolean {
    return this.#byId.has(id);
  }

  find(table: string, row: RowId): StagedChange | undefined {
    return this.#byId.get(this.#byRow.get(placeOf(table, row)) ?? "");
  }

  #put(id: string, change: Change): void {
    this.#byId.set(id, { id, change });
    this.#isChanged = true;
  }

  discard(id: string): void {
    const change = this.#byId.get(id)?.change;
    if (change === undefined) return;
    if (change.kind === "update" || change.kind === "delete") {
      this.#byRow.delete(placeOf(change.table, change.row));
    }
    this.#byId.delete(id);
    this.#isChanged = true;
  }

  update(table: string, row: RowId, base: Base, values: Values): void {
    const known = this.find(table, row);
    if (known?.change.kind === "delete") return;
    const before = known?.change.kind === "update" ? known.change : null;
    const merged: Values = { ...before?.values, ...values };
    // The values read first stay the base, because the edits were made on them.
    const mergedBase: Base = { ...base, ...before?.base };
    for (const [column, cell] of Object.entries(merged)) {
      if (isSameCell(cell, mergedBase[column])) delete merged[column];
    }
    if (Object.keys(merged).length === 0) {
      if (known !== undefined) this.discard(known.id);
      return;
    }
    const kept = Object.fromEntries(
      Object.entries(mergedBase).filter(([column]) => column in merged),
    );
    const id = known?.id ?? newId();
    const address = before?.row ?? row;
    this.#byRow.set(placeOf(table, address), id);
    this.#put(id, { kind: "update", table, row: address, base: kept, values: merged });
  }

  insert(table: string, values: Values): void {
    this.#put(newId(), { kind: "insert", table, values });
  }

  editInsert(id: string, values: Values): void {
    const change = this.#byId.get(id)?.change;
    if (change?.kind !== "insert") return;
    this.#put(id, { ...change, values: { ...change.values, ...values } });
  }

  remove(table: string, row: RowId, base: Base): void {
    const known = this.find(table, row);
    if (known?.change.kind === "delete") return;
    const address = known?.change.kind === "update" ? known.change.row : row;
    if (known !== undefined) this.discard(known.id);
    const id = newId();
    this.#byRow.set(placeOf(table, address), id);
    this.#put(id, { kind: "delete", table, row: address, base });
  }
}

/** Stages in one go. */
export function inBatch(
  changes: StagedChanges,
  stage: (batch: StagedBatch) => void,
): StagedChanges {
  const batch = new StagedBatch(changes);
  stage(batch);
  return batch.changes;
}

/**
 * Stages cells of an existing row. The row keeps the id with which it was read, so that a change of its key and later
 * changes of other cells are one change. A cell that gets its old value back is no longer changed.
 */
export const stageUpdate = (
  changes: StagedChanges,
  table: string,
  row: RowId,
  base: Base,
  values: Values,
): StagedChanges => inBatch(changes, (batch) => batch.update(table, row, base, values));

export const stageInsert = (changes: StagedChanges, table: string, values: Values): StagedChanges =>
  inBatch(changes, (batch) => batch.insert(table, values));

/** Changes cells of a row that is staged to be inserted. */
export const editInsert = (changes: StagedChanges, id: string, values: Values): StagedChanges =>
  inBatch(changes, (batch) => batch.editInsert(id, values));

/** Stages the deletion of a row; its staged edits are dropped, because the row is deleted as it was read. */
export const stageDelete = (
  changes: StagedChanges,
  table: string,
  row: RowId,
  base: Base,
): StagedChanges => inBatch(changes, (batch) => batch.remove(table, row, base));

export function stageBulk(
  changes: StagedChanges,
  change: Extract<Change, { kind: "update_matching" }>,
): StagedChanges {
  return [...changes, { id: newId(), change }];
}

/** Stages changes that the server has named, such as the inverse of what was applied. */
export function stageAll(changes: StagedChanges, added: readonly Change[]): StagedChanges {
  return [...changes, ...added.map((change) => ({ id: newId(), change }))];
}

/** Also takes back an insert, which then was never there. */
export function discard(changes: StagedChanges, id: string): StagedChanges {
  return changes.filter((staged) => staged.id !== id);
}

/** Takes one cell out of a change; the change goes with its last cell. */
export function discardCell(changes: StagedChanges, id: string, column: string): StagedChanges {
  return changes.flatMap((staged) => {
    const { change } = staged;
    if (staged.id !== id || change.kind === "delete") return [staged];
    const { [column]: _, ...values } = change.values;
    if (Object.keys(values).length === 0 && change.kind !== "insert") return [];
    return [{ ...staged, change: { ...change, values } }];
  });
}

/** How a conflict is resolved: which of my fields are kept, or that my change is dropped because the row was deleted. */
export type Resolution = { keep: ReadonlySet<string> } | { drop: true };

/**
 * Stages a change anew on top of what the other person wrote. `sent` is the change that has met the conflict: cells that were staged
 * since are not decided about, and stay with what they were typed on.
 */
export function resolveConflict(
  changes: StagedChanges,
  sent: StagedChange,
  conflict: Conflict,
  resolution: Resolution,
): StagedChanges {
  return changes.flatMap((staged): StagedChange[] => {
    if (staged.id !== sent.id) return [staged];
    const { change } = staged;
    if ("drop" in resolution || conflict.theirs === null) return [];
    if (change.kind === "insert" || change.kind === "update_matching") return [staged];
    const { theirs } = conflict;
    const row = conflict.id ?? change.row;
    if (change.kind === "delete") {
      return resolution.keep.size === 0
        ? []
        : [{ ...staged, change: { ...change, row, base: theirs } }];
    }
    const decided = sent.change.kind === "update" ? sent.change.values : {};
    const isLater = (column: string) => !isSameValue(decided[column], change.values[column]);
    const columns = Object.keys(change.values).filter(
      (column) => isLater(column) || resolution.keep.has(column),
    );
    if (columns.length === 0) return [];
    // With the former version the row is compared, and asked about, once more.
    const isOvertaken = columns.some(
      (column) => isLater(column) && change.base[column] !== theirs[column],
    );
    const { xmin } = change.row;
    const base = Object.fromEntries(
      columns.flatMap((column) => {
        const value = isLater(column) ? change.base[column] : (theirs[column] ?? null);
        return value === undefined ? [] : [[column, value]];
      }),
    );
    const values = Object.fromEntries(
      Object.entries(change.values).filter(([column]) => columns.includes(column)),
    );
    const address = isOvertaken && xmin !== undefined ? { ...row, xmin } : row;
    return [{ ...staged, change: { ...change, row: address, base, values } }];
  });
}
