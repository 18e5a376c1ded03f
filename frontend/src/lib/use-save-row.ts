import {
  type CatalogueTable,
  type ChangeResponse,
  changedRow,
  type RowChange,
  saveFailureText,
  undoEdit,
} from "@/lib/admin-rows";
import { saveChanges } from "@/lib/save-changes";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";

interface SaveRowOptions<Values> {
  table: CatalogueTable;
  /** The noun with which messages about a row begin, such as "Color". */
  noun: string;
  /**
   * The noun in the message about a name that exists, where `noun` is not precise enough, such as "subcategory of this
   * category".
   */
  unique?: string;
  /** The column with a picture. An edit that replaces it cannot be undone, because its file is deleted. */
  picture?: keyof Values;
}

/** The part of PostgREST's query builder that creates a row. */
interface WritableTable {
  insert(values: object): { select(columns: "id"): PromiseLike<ChangeResponse> };
}

function insertInto(table: CatalogueTable, values: object): PromiseLike<ChangeResponse> {
  return (supabase.from(table) as unknown as WritableTable).insert(values).select("id");
}

/** Creates or changes a row of the catalogue; the toast afterwards says which, and offers to undo an edit. */
export function useSaveRow<Values extends object>({
  table,
  noun,
  unique = noun.toLowerCase(),
  picture,
}: SaveRowOptions<Values>) {
  async function saveRow({ id, values, before }: RowChange<Values>) {
    if (id === null) changedRow(await insertInto(table, values));
    else await saveChanges(table, id, before, values);
    return `${noun} ${id === null ? "created" : "updated"}`;
  }
  return useAdminChange({
    change: saveRow,
    success: (title) => title,
    undo: undoEdit(saveRow, picture),
    failureText: saveFailureText(unique),
  });
}
