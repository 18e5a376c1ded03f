/** The catalog in the form that completion uses; built once per version of the catalog. */
import type { Catalog } from "@/api/catalog-model";
import type { CompletionCatalog } from "./completion";

const empty: CompletionCatalog = { schemas: [], tables: [], functions: [], foreignKeys: [] };
const made = new WeakMap<Catalog, CompletionCatalog>();

export function completionCatalogOf(catalog: Catalog | undefined): CompletionCatalog {
  if (catalog === undefined) return empty;
  const known = made.get(catalog);
  if (known !== undefined) return known;
  const result: CompletionCatalog = {
    schemas: catalog.schemas.map(({ name }) => name),
    tables: catalog.tables,
    functions: catalog.functions,
    foreignKeys: catalog.foreignKeys.flatMap((key) => {
      const table = catalog.tablesByOid.get(key.table);
      const target = catalog.tablesByOid.get(key.target);
      if (table === undefined || target === undefined) return [];
      return [{ table, columns: key.columns, target, targetColumns: key.target_columns }];
    }),
  };
  made.set(catalog, result);
  return result;
}
