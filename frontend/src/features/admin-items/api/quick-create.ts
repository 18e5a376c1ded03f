import {
  type QueryClient,
  type QueryKey,
  queryOptions,
  useQueryClient,
} from "@tanstack/react-query";
import { useRef } from "react";
import { useFormWork } from "@/components/admin/form-work";
import { adminKey } from "@/lib/admin-key";
import { adminListKey, type ListResult } from "@/lib/admin-list";
import { type CatalogueTable, saveFailureText } from "@/lib/admin-rows";
import { allRows } from "@/lib/all-rows";
import { insertOnce } from "@/lib/insert-once";
import { isOvertaken } from "@/lib/save-changes";
import { rowsOf } from "@/lib/service-error";
import { supabase } from "@/lib/supabase";
import { useAdminChange } from "@/lib/use-admin-change";
import { brandsQuery, byName, colorsQuery, type NamedColor, type NamedRow } from "@/lib/vocabulary";

/** Subcategories of one category, by name. */
export function subcategoriesOfQuery(categoryId: string) {
  return queryOptions({
    queryKey: [...adminKey, "subcategories-of", categoryId],
    queryFn: async ({ signal, client }): Promise<NamedRow[]> => {
      const rows = () => supabase.from("subcategories").select("id, name");
      try {
        return await allRows(async (from, to) =>
          rowsOf(await byName(rows().eq("category_id", categoryId), from, to).abortSignal(signal)),
        );
      } catch (error) {
        // When they cannot be read, those that the subcategories' own section has loaded are better than none.
        const loaded = findLoaded(client, categoryId);
        if (loaded.length > 0) return loaded;
        throw error;
      }
    },
  });
}

function findLoaded(client: QueryClient, categoryId: string): NamedRow[] {
  const lists = client.getQueriesData<ListResult<NamedRow & { category_id: string }>>({
    queryKey: adminListKey("subcategories"),
  });
  const rows = lists.flatMap(([, list]) => list?.rows ?? []);
  return rows.filter(({ category_id }) => category_id === categoryId);
}

/**
 * Puts a new row into a list that is loaded already, by name. The row can then be shown as chosen before the list is read anew;
 * a list that is still being loaded will contain it.
 */
function addRow<Row extends NamedRow>(client: QueryClient, queryKey: QueryKey, row: Row): void {
  client.setQueryData<Row[]>(
    queryKey,
    (rows) => rows && [...rows, row].sort((one, other) => one.name.localeCompare(other.name)),
  );
}

/**
 * Returns a function that creates a row and returns its id. The same row has the same id in each attempt of a form, so that one which
 * was stored although its answer was lost is neither refused nor made twice.
 */
function useInsertRow(table: CatalogueTable): (values: object) => Promise<string> {
  const { during } = useFormWork();
  const ids = useRef(new Map<string, string>());
  return (values) => {
    const key = JSON.stringify(values);
    const id = ids.current.get(key) ?? crypto.randomUUID();
    ids.current.set(key, id);
    return during(insertOnce(table, id, values).then(() => id));
  };
}

/** Why a row could not be created. `noun` is what the row is, as in "brand". */
function createFailureText(noun: string): (error: unknown) => string {
  const otherwise = saveFailureText(noun);
  return (error) =>
    isOvertaken(error) ? `The ${noun} is there. ${error.undoText}` : otherwise(error);
}

// Rows that the form of an item can create on the way. `onCreated` receives the id of the new row, and what it was made of.

export function useCreateBrand(onCreated: (id: string, name: string) => void) {
  const client = useQueryClient();
  const insertRow = useInsertRow("brands");
  return useAdminChange({
    change: (name: string) => insertRow({ name }),
    onChanged: (id, name) => {
      addRow(client, brandsQuery().queryKey, { id, name });
      onCreated(id, name);
    },
    success: "Brand created",
    failure: "Error creating brand",
    failureText: createFailureText("brand"),
  });
}

interface NewSubcategory {
  name: string;
  category_id: string;
}

export function useCreateSubcategory(onCreated: (id: string, row: NewSubcategory) => void) {
  const client = useQueryClient();
  const insertRow = useInsertRow("subcategories");
  return useAdminChange({
    change: (row: NewSubcategory) => insertRow(row),
    onChanged: (id, row) => {
      addRow(client, subcategoriesOfQuery(row.category_id).queryKey, { id, name: row.name });
      onCreated(id, row);
    },
    success: "Subcategory created",
    failure: "Error creating subcategory",
    failureText: createFailureText("subcategory"),
  });
}

export function useCreateColor(onCreated: (id: string) => void) {
  const client = useQueryClient();
  const insertRow = useInsertRow("colors");
  return useAdminChange({
    change: (row: Omit<NamedColor, "id">) => insertRow(row),
    onChanged: (id, row) => {
      addRow<NamedColor>(client, colorsQuery().queryKey, { id, ...row });
      onCreated(id);
    },
    success: "Color created",
    failureText: createFailureText("color"),
  });
}
