import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Table } from "@/api/catalog-model";
import type { Subject } from "@/api/subject";
import { readPage } from "@/lib/rows/read-page";
import type { StagedChanges } from "@/lib/rows/staged";
import { type Filter, readRows, type Value } from "@/lib/rows/types";
import { type GridRow, gridRows } from "@/screens/tables/table-rows";

function keyFilters(table: Table, key: string | null): Filter[] | null {
  if (key === null || key.startsWith("new:") || table.key.length === 0) return null;
  try {
    const values = JSON.parse(key) as Value[];
    return table.key.map((column, index) => ({
      column,
      operator: "eq",
      value: values[index] ?? "",
    }));
  } catch {
    return null;
  }
}

interface OpenRowOptions {
  table: Table;
  key: string | null;
  rows: readonly GridRow[];
  hasAllColumns: boolean;
  staged: StagedChanges;
  /** As whom the rows are viewed: the panel shows no row and no column that they cannot see. */
  subject: Subject;
}

/**
 * The row of the open panel with all of its columns. The grid's own row is taken while it has them all; otherwise, and for an
 * address that names a row on no loaded page, it is read by its key.
 */
export function useOpenRow({ table, key, rows, hasAllColumns, staged, subject }: OpenRowOptions) {
  const known = rows.find((row) => row.key === key);
  const filters = keyFilters(table, key);
  const isComplete = known !== undefined && (hasAllColumns || known.read === null);
  const { data, isPending, error } = useQuery({
    queryKey: ["rows", table.oid, "one", key, subject],
    queryFn: ({ signal }) =>
      readRows(
        {
          table: table.oid,
          filters: filters ?? [],
          sort: [],
          limit: 1,
          ...(subject.kind !== "admin" && { subject }),
        },
        signal,
      ),
    enabled: filters !== null && !isComplete,
  });
  const read = useMemo((): GridRow | undefined => {
    const [row] = data === undefined ? [] : readPage(data);
    return row === undefined ? undefined : gridRows(table, [row], staged).at(-1);
  }, [data, table, staged]);
  return {
    row: isComplete ? known : (read ?? known),
    isPending: filters !== null && !isComplete && isPending,
    error,
  };
}
