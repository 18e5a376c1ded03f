/**
 * Saves what an edit has changed, and nothing that somebody else has saved since it began: only changed columns are written, with the
 * version of the row that the edit began with. The database refuses another version, and the present row is read. Where both have
 * changed a column the person is asked; a row in which the others changed other columns is saved without a question.
 */
import { isSameValue } from "@ui/merge-edit";
import type { CatalogueTable } from "@/lib/admin-rows";
import { isUuid } from "@/lib/patterns";
import { isOtherVersion, notOneRowCode, overtakenCode, type Row } from "@/lib/present-row";
import { type RestResponse, resultOf, rowsOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Columns that both this edit and somebody else have changed since it began. */
export class OvertakenError extends ServiceError {
  /** These columns with what the other person has saved. */
  readonly theirs: Readonly<Row>;
  /** Columns that only the other person has changed. */
  readonly others: readonly string[];
  /** The present row, as far as this person may read it. */
  readonly present: Readonly<Row>;

  constructor(theirs: Readonly<Row>, others: readonly string[] = [], present: Readonly<Row> = {}) {
    super(`${describe(theirs)} Save again to replace that.`, overtakenCode, 409);
    this.theirs = theirs;
    this.others = others;
    this.present = present;
  }

  /** Why an Undo was not carried out. */
  get undoText(): string {
    return describe(this.theirs);
  }
}

export const isOvertaken = (error: unknown): error is OvertakenError =>
  error instanceof OvertakenError;

/** Longer texts are not repeated in a toast. */
const shownLength = 60;

function describe(theirs: Readonly<Row>): string {
  const fields = Object.entries(theirs).map(([column, value]) => {
    const label = labelOf(column);
    const isShown = typeof value === "string" && value.length <= shownLength && !isUuid(value);
    const text = isBlank(value) ? "empty" : isShown ? `“${value}”` : null;
    return text === null ? label : `${label} (now ${text})`;
  });
  return `Changed by somebody else since you opened it: ${fields.join(", ")}.`;
}

function labelOf(column: string): string {
  const words = column.replace(/_ids?$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** What is said after a save beside which somebody else has changed other columns; nothing where there are none. */
export function keptText(others: readonly string[]): string | undefined {
  if (others.length === 0) return undefined;
  return `Changed by somebody else meanwhile, and kept: ${others.map(labelOf).join(", ")}.`;
}

const isBlank = (value: unknown): boolean => value === null || value === "" || value === undefined;

/** Whether a column has the same value in both. The database stores an empty text as null. */
const isSame = (a: unknown, b: unknown): boolean => (isBlank(a) && isBlank(b)) || isSameValue(a, b);

/** The columns whose values differ. */
export function changedColumns<Values extends object>(
  before: Values,
  after: Values,
): Partial<Values> {
  const old = before as Row;
  const changed = Object.entries(after).filter(([column, value]) => !isSame(old[column], value));
  return Object.fromEntries(changed) as Partial<Values>;
}

/**
 * Compares the row as it is with the one that the edit began with. Throws when somebody else has changed what is to be saved to
 * something else; returns the columns that only they have changed. Columns that belong `together` count as one.
 */
export function refuseOvertaken<Values extends object>(
  before: Values,
  changes: Partial<Values>,
  present: Row,
  together: readonly string[] = [],
): string[] {
  const [old, mine] = [before as Row, { ...before, ...changes } as Row];
  const columns = Object.keys(before).filter((column) => column in present);
  const isTheirs = (column: string) => !isSame(present[column], old[column]);
  const differs = (column: string) => !isSame(present[column], mine[column]);
  const isShared = together.some((column) => column in changes) && together.some(isTheirs);
  const met = columns.filter(
    (column) =>
      differs(column) &&
      ((column in changes && isTheirs(column)) || (isShared && together.includes(column))),
  );
  const others = columns.filter(
    (column) => isTheirs(column) && !(column in changes) && !met.includes(column),
  );
  if (met.length === 0) return others;
  const both = met.map((column) => [column, present[column]]);
  throw new OvertakenError(Object.fromEntries(both), others, present);
}

/** The parts of PostgREST's query builder that are needed here, for a table that is not known when this is compiled. */
interface Reading {
  eq(column: string, value: unknown): { maybeSingle(): PromiseLike<RestResponse<Row | null>> };
}
interface Writing {
  eq(column: string, value: unknown): Writing;
  select(columns: string): PromiseLike<RestResponse<Row[] | null>>;
}
interface EditableTable {
  select(columns: string): Reading;
  update(values: object): Writing;
}

/** How often a row that others change at the same moment is tried. */
const attempts = 5;

/** A row to be changed: its table, and the column that tells it from others. */
export interface EditedRow {
  table: CatalogueTable | "site_settings" | "profiles";
  column: string;
  value: unknown;
  /** The version that the edit began with. Where it is not known, the row is read and compared first. */
  version?: number | undefined;
  /** Whether the row is written although nothing was changed, because each save means something. */
  isAlwaysWritten?: boolean;
  /** Columns that are changed as one, because the values of one depend on another. */
  together?: readonly string[] | undefined;
}

export interface SavedChanges {
  /** The returned columns; null when nothing was changed. */
  row: Row | null;
  /** Columns that somebody else has changed since the edit began, and that are kept. */
  others: string[];
}

/** Saves the changed columns of a row. `before` has the values that the edit began with. */
export async function saveChangesBy<Values extends object>(
  edited: EditedRow,
  before: Values,
  after: Values,
  returned = "*",
): Promise<SavedChanges> {
  const changes = changedColumns(before, after);
  const isUnchanged = Object.keys(changes).length === 0;
  if (isUnchanged && edited.isAlwaysWritten !== true) return { row: null, others: [] };
  const table = () => supabase.from(edited.table) as unknown as EditableTable;
  let { version } = edited;
  let others: string[] = [];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (version === undefined) {
      const read = table().select([...Object.keys(before), "version"].join(","));
      const present = resultOf(await read.eq(edited.column, edited.value).maybeSingle());
      if (present === null) throw goneError();
      others = refuseOvertaken(before, changes, present, edited.together);
      version = present.version as number;
    }
    // Of a row that is always written and was not changed, the version alone is sent: triggers see an edit.
    const update = table().update({ ...changes, version });
    const response = await update.eq(edited.column, edited.value).select(returned);
    if (!isOtherVersion(response.error)) {
      const [row] = rowsOf(response);
      if (row === undefined) throw goneError();
      return { row, others };
    }
    version = undefined;
  }
  throw new ServiceError("Others are changing it at the moment. Please try again.", "", 409);
}

const goneError = () =>
  new ServiceError("The row is gone, or you may not change it.", notOneRowCode, 404);

/** Saves an edit of a row. Returns the columns that somebody else has changed meanwhile. */
export async function saveChanges<Values extends object>(
  table: CatalogueTable,
  edited: { id: string; version?: number | undefined },
  before: Values,
  after: Values,
  together?: readonly string[],
): Promise<string[]> {
  const row = { table, column: "id", value: edited.id, version: edited.version, together };
  return (await saveChangesBy(row, before, after, "id")).others;
}
