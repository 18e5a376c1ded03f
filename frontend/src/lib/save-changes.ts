/**
 * Saves what an edit has changed, and nothing that somebody else has saved since it began: only changed columns are written, and a
 * column that both have changed is asked about.
 */
import { isSameValue } from "@ui/merge-edit";
import { type CatalogueTable, type ChangeResponse, changedRow } from "@/lib/admin-rows";
import { isUuid } from "@/lib/patterns";
import { resultOf, ServiceError } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** Columns that somebody else has saved since the edit began, with what they have saved. */
export class OvertakenError extends ServiceError {
  readonly theirs: Readonly<Record<string, unknown>>;

  constructor(theirs: Readonly<Record<string, unknown>>) {
    super(describe(theirs), "overtaken", 409);
    this.theirs = theirs;
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
  return `Changed by somebody else since you opened it: ${fields.join(", ")}. Save again to replace that.`;
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

/** The parts of PostgREST's query builder that are needed here, for a table that is not known when this is compiled. */
interface EditableTable {
  select(columns: string): {
    eq(
      column: "id",
      id: string,
    ): {
      maybeSingle(): PromiseLike<{
        data: Record<string, unknown> | null;
        error: { message: string; code: string } | null;
        status: number;
      }>;
    };
  };
  update(values: object): {
    eq(column: "id", id: string): { select(columns: "id"): PromiseLike<ChangeResponse> };
  };
}

/** Saves an edit of a row. `before` is the row as the edit began with it. */
export async function saveChanges<Row extends object>(
  name: CatalogueTable,
  id: string,
  before: Row,
  after: Row,
): Promise<void> {
  const changes = changedColumns(before, after);
  const columns = Object.keys(changes);
  if (columns.length === 0) return;
  const table = () => supabase.from(name) as unknown as EditableTable;
  const present = resultOf(await table().select(columns.join(",")).eq("id", id).maybeSingle());
  if (present !== null) refuseOvertaken(before, changes, present);
  changedRow(await table().update(changes).eq("id", id).select("id"));
}
