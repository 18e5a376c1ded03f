import { type CatalogueTable, type RowChange, type SavedRow, undoEdit } from "@/lib/admin-rows";
import { FieldError } from "@/lib/field-error";
import { insertOnce } from "@/lib/insert-once";
import { isOvertaken, keptText, saveChanges } from "@/lib/save-changes";
import { hasCode, messageOf, ServiceError, uniqueViolation } from "@/lib/service-error";
import { useAdminChange } from "@/lib/use-admin-change";

interface SaveRowOptions {
  table: CatalogueTable;
  /** The noun with which messages about a row begin, such as "Color". */
  noun: string;
  /**
   * The noun in the message about a name that exists, where `noun` is not precise enough, such as "subcategory of this
   * category".
   */
  unique?: string;
  /** The column with a picture. An edit that replaces it cannot be undone, because its file is deleted. */
  picture?: string;
}

/** Texts by column, as the simple forms have them. */
type Values = Readonly<Record<string, string>>;

/** Creates or changes a row of the catalogue; the toast afterwards says which, and offers to undo an edit. */
export function useSaveRow({ table, noun, unique = noun.toLowerCase(), picture }: SaveRowOptions) {
  async function saveRow(change: RowChange<Values>): Promise<SavedRow> {
    try {
      return await writeRow(change);
    } catch (error) {
      if (!(error instanceof ServiceError && hasCode(error, uniqueViolation))) throw error;
      throw new FieldError("name", `There is another ${unique} with this name.`, error);
    }
  }

  async function writeRow(change: RowChange<Values>): Promise<SavedRow> {
    if (change.id === null) {
      await insertOnce(table, change.newId, change.values);
      return { title: `${noun} created`, others: [] };
    }
    const others = await saveChanges(table, change, change.before, change.values);
    return { title: `${noun} updated`, others };
  }
  return useAdminChange({
    change: saveRow,
    success: ({ title }) => title,
    successText: ({ others }) => keptText(others),
    isShownByForm: (error) => isOvertaken(error) || error instanceof FieldError,
    undo: undoEdit(saveRow, picture),
    failureText: (error) => messageOf(error, "Please try again."),
    awaitsLists: false,
  });
}
