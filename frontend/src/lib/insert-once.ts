import { type CatalogueTable, type ChangeResponse, changedRow } from "@/lib/admin-rows";
import { firstVersion, isOtherVersion, type Row } from "@/lib/present-row";
import { changedColumns, OvertakenError } from "@/lib/save-changes";
import { hasCode, type RestResponse, resultOf, uniqueViolation } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";

/** The parts of PostgREST's query builder that are needed here, for a table that is not known when this is compiled. */
interface InsertableTable {
  insert(values: object): { select(columns: "id"): PromiseLike<ChangeResponse> };
  select(columns: string): {
    eq(column: "id", id: string): { maybeSingle(): PromiseLike<RestResponse<Row | null>> };
  };
  update(values: object): {
    eq(column: "id", id: string): { select(columns: "id"): PromiseLike<ChangeResponse> };
  };
}

/**
 * Creates a row with this id. Where an earlier attempt has made it although its response was lost, it gets the present values, unless
 * somebody has changed it since: then an `OvertakenError` has the row.
 */
export async function insertOnce(table: CatalogueTable, id: string, values: object): Promise<void> {
  const rows = () => supabase.from(table) as unknown as InsertableTable;
  const inserted = await rows()
    .insert({ ...values, id })
    .select("id");
  const isThere =
    hasCode(inserted.error, uniqueViolation) && inserted.error?.message.includes("_pkey");
  if (!isThere) {
    changedRow(inserted);
    return;
  }
  const read = async () => resultOf(await rows().select("*").eq("id", id).maybeSingle());
  const present = await read();
  // The row exists and may not be read, which the error of the insert says already.
  if (present === null) {
    changedRow(inserted);
    return;
  }
  if (Object.keys(changedColumns<Row>(present, values as Row)).length === 0) return;
  if (present.version !== firstVersion) refuse(values, present);
  const response = await rows()
    .update({ ...values, version: firstVersion })
    .eq("id", id)
    .select("id");
  if (!isOtherVersion(response.error)) {
    changedRow(response);
    return;
  }
  refuse(values, (await read()) ?? present);
}

function refuse(values: object, present: Row): never {
  const columns = Object.keys(changedColumns<Row>(present, values as Row));
  const theirs = columns.map((column) => [column, present[column]]);
  throw new OvertakenError(Object.fromEntries(theirs), [], present);
}
