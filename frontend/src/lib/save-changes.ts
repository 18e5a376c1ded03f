/**
 * Saves what an edit has changed, and nothing that somebody else has saved since it began: only changed columns are written, and a
 * column that both have changed is asked about.
 */
import { isSameValue } from "@ui/merge-edit";
import type { CatalogueTable } from "@/lib/admin-rows";
import { isUuid } from "@/lib/patterns";
import { type RestResponse, resultOf, rowsOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Columns that somebody else has saved since the edit began, with what they have saved. */
export class OvertakenError extends ServiceError {
  readonly theirs: Readonly<Record<string, unknown>>;

  constructor(theirs: Readonly<Record<string, unknown>>) {
    super(`${describe(theirs)} Save again to replace that.`, "overtaken", 409);
    this.theirs = theirs;
  }

  /** Why an Undo was not carried out. */
  get undoText(): string {
    return describe(this.theirs);
  }
}

/** Longer texts are not repeated in a toast. */
const shownLength = 60;

function describe(theirs: Readonly<Record<string, unknown>>): string {
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

const isBlank = (value: unknown): boolean => value === null || value === "" || value === undefined;

/** Whether a column has the same value in both. The database stores an empty text as null. */
const isSame = (a: unknown, b: unknown): boolean => (isBlank(a) && isBlank(b)) || isSameValue(a, b);

/** The columns whose values differ. */
export function changedColumns<Row extends object>(before: Row, after: Row): Partial<Row> {
  const old = before as Record<string, unknown>;
  const changed = Object.entries(after).filter(([column, value]) => !isSame(old[column], value));
  return Object.fromEntries(changed) as Partial<Row>;
}

/** Throws when the present row has other values than the edit began with, and than it is to have, in the changed columns. */
export function refuseOvertaken<Row extends object>(
  before: Row,
  changes: Partial<Row>,
  present: object,
): void {
  const [old, now] = [before as Record<string, unknown>, present as Record<string, unknown>];
  const met = Object.entries(changes).filter(
    ([column, value]) => !isSame(now[column], old[column]) && !isSame(now[column], value),
  );
  if (met.length === 0) return;
  throw new OvertakenError(Object.fromEntries(met.map(([column]) => [column, now[column]])));
}

type Row = Record<string, unknown>;

/** The parts of PostgREST's query builder that are needed here, for a table that is not known when this is compiled. */
interface Reading {
  eq(column: string, value: unknown): { maybeSingle(): PromiseLike<RestResponse<Row | null>> };
}
interface Writing {
  eq(column: string, value: unknown): Writing;
  is(column: string, value: null): Writing;
  select(columns: string): PromiseLike<RestResponse<Row[] | null>>;
}
interface EditableTable {
  select(columns: string): Reading;
  update(values: object): Writing;
}

/** Longer texts are compared when they are read, and not once more in the address of the update. In characters. */
const longestFilter = 300;
/** How often a row that changes between reading and writing is read again. */
const attempts = 5;

/** Restricts an update to rows that still have these values. */
function unchanged(update: Writing, present: Row): Writing {
  let restricted = update;
  for (const [column, value] of Object.entries(present)) {
    const text = Array.isArray(value) ? `{${value.join(",")}}` : String(value);
    if (value === null) restricted = restricted.is(column, null);
    else if (text.length <= longestFilter) restricted = restricted.eq(column, text);
  }
  return restricted;
}

/**
 * Saves the changed columns of the row whose column `key` has the value `id`. The update names the values that were compared, so
 * that what somebody saves between reading and writing is compared, too. Returns the saved columns, or null when nothing is
 * changed.
 */
export async function saveChangesBy<Values extends object>(
  name: CatalogueTable | "site_settings" | "profiles",
  key: { column: string; value: unknown },
  before: Values,
  after: Values,
  returned = "*",
): Promise<Row | null> {
  const changes = changedColumns(before, after);
  const columns = Object.keys(changes);
  if (columns.length === 0) return null;
  const table = () => supabase.from(name) as unknown as EditableTable;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const read = table().select(columns.join(",")).eq(key.column, key.value);
    const present = resultOf(await read.maybeSingle());
    if (present === null) break;
    refuseOvertaken(before, changes, present);
    const update = table().update(changes).eq(key.column, key.value);
    const [saved] = rowsOf(await unchanged(update, present).select(returned));
    if (saved !== undefined) return saved;
  }
  throw new ServiceError("The row is gone, or you may not change it.", "", 404);
}

/** Saves an edit of a row. `before` is the row as the edit began with it. */
export async function saveChanges<Values extends object>(
  name: CatalogueTable,
  id: string,
  before: Values,
  after: Values,
): Promise<void> {
  await saveChangesBy(name, { column: "id", value: id }, before, after, "id");
}
