import { useCallback, useMemo, useState } from "react";
import type { Catalog, Table } from "@/api/catalog-model";
import { localStore } from "@/lib/browser-storage";
import { type ColumnKind, columnKind } from "@/lib/rows/column-kind";
import type { GridColumn } from "@/screens/tables/grid/data-grid";

const widths: Record<ColumnKind, number> = {
  text: 190,
  number: 110,
  boolean: 90,
  timestamp: 210,
  date: 110,
  time: 120,
  uuid: 160,
  enum: 120,
  array: 180,
  json: 220,
  bytea: 160,
  range: 180,
};

function readWidths(key: string): Record<string, number> {
  try {
    const stored: unknown = JSON.parse(localStore.get(key) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    return Object.fromEntries(
      Object.entries(stored).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      ),
    );
  } catch {
    return {};
  }
}

/** The visible columns of a table with their kinds and widths; changed widths are kept in this browser. */
export function useGridColumns(table: Table, catalog: Catalog, hidden: readonly string[]) {
  const key = `console:widths:${table.schema}.${table.name}`;
  const [changed, setChanged] = useState({ key, widths: readWidths(key) });
  if (changed.key !== key) setChanged({ key, widths: readWidths(key) });
  const own = changed.widths;
  const columns = useMemo(() => {
    const foreign = new Set(
      catalog.foreignKeys.filter((fk) => fk.table === table.oid).flatMap((fk) => fk.columns),
    );
    return table.columns
      .filter(({ name }) => !hidden.includes(name))
      .map((column): GridColumn => {
        const kind = columnKind(column, catalog);
        // The heading should be readable, too.
        const heading = column.name.length * 8 + Math.min(60, column.type.length * 6) + 44;
        return {
          column,
          kind,
          width: own[column.name] ?? Math.min(320, Math.max(widths[kind], heading)),
          isKey: table.key.includes(column.name),
          isForeignKey: foreign.has(column.name),
        };
      });
  }, [table, catalog, hidden, own]);
  const resize = useCallback(
    (name: string, width: number) => {
      setChanged((before) => {
        const next = { ...before.widths, [name]: Math.round(width) };
        localStore.set(key, JSON.stringify(next));
        return { key, widths: next };
      });
    },
    [key],
  );
  return { columns, resize };
}
