import {
  type ChangeResponse,
  changedRow,
  type RowChange,
  saveFailureText,
  undoEdit,
} from "@/lib/admin-rows";
import { useAdminChange } from "@/lib/use-admin-change";

/** The response to a change that requests the ids of the changed rows. */
interface ReturnsIds {
  select(columns: "id"): PromiseLike<ChangeResponse>;
}

/** The part of PostgREST's query builder that saves a row. */
interface WritableTable<Values> {
  insert(values: Values): ReturnsIds;
  update(values: Values): { eq(column: "id", id: string): ReturnsIds };
}

interface SaveRowOptions<Values> {
  table: () => WritableTable<Values>;
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

/** Creates or changes a row of the catalogue; the toast afterwards says which, and offers to undo an edit. */
export function useSaveRow<Values extends object>({
  table,
  noun,
  unique = noun.toLowerCase(),
  picture,
}: SaveRowOptions<Values>) {
  async function saveRow({ id, values }: RowChange<Values>) {
    changedRow(
      id === null
        ? await table().insert(values).select("id")
        : await table().update(values).eq("id", id).select("id"),
    );
    return `${noun} ${id === null ? "created" : "updated"}`;
  }
  return useAdminChange({
    change: saveRow,
    success: (title) => title,
    undo: undoEdit(saveRow, picture),
    failureText: saveFailureText(unique),
  });
}
