import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Table } from "@/api/catalog-model";
import type { TableView } from "@/lib/rows/table-view";
import { type RowId, type RowPage, readRows, rowKey, type Value } from "@/lib/rows/types";

export const pageSize = 100;
/** Pages kept in memory; those farthest from the visible ones are dropped and read again when they are needed. */
const keptPages = 12;

type Cursor = { after?: string; before?: string; end?: boolean };

/** A row as it was read. */
export interface ReadRow {
  key: string;
  id: RowId;
  cells: readonly Value[];
  /** Size in bytes of cells that were cut, by index of the column. */
  cuts: ReadonlyMap<number, number> | undefined;
}

/** Rows of views and of other servers have no address; what they contain and their place in the page tell them apart. */
function keyOfRow(id: RowId, cells: readonly Value[], index: number): string {
  return id.key === undefined && id.ctid === undefined
    ? `row:${index}:${JSON.stringify(cells)}`
    : rowKey(id);
}

function readPage(page: RowPage): ReadRow[] {
  const cuts = new Map<number, Map<number, number>>();
  for (const { row, column, bytes } of page.cuts) {
    const ofRow = cuts.get(row) ?? new Map<number, number>();
    cuts.set(row, ofRow.set(column, bytes));
  }
  return page.rows.map((cells, index) => {
    const id = page.ids[index] ?? {};
    return { key: keyOfRow(id, cells, index), id, cells, cuts: cuts.get(index) };
  });
}

/** The rows of a table around the visible ones, read by keyset in both directions. Hidden columns are not read. */
export function useRowPages(table: Table, columns: readonly string[], view: TableView) {
  const { filters, sort, fromEnd, subject } = view;
  const query = useInfiniteQuery({
    queryKey: ["rows", table.oid, { columns, filters, sort, fromEnd, subject }],
    queryFn: ({ pageParam, signal }) =>
      readRows(
        {
          table: table.oid,
          columns: [...columns],
          filters,
          sort,
          limit: pageSize,
          ...(subject.kind !== "admin" && { subject }),
          ...pageParam,
        },
        signal,
      ),
    initialPageParam: (fromEnd ? { end: true } : {}) as Cursor,
    getNextPageParam: (page): Cursor | undefined =>
      page.next === null ? undefined : { after: page.next },
    getPreviousPageParam: (page): Cursor | undefined =>
      page.previous === null ? undefined : { before: page.previous },
    maxPages: keptPages,
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });
  const pages = query.data?.pages;
  const rows = useMemo(() => (pages ?? []).flatMap(readPage), [pages]);
  return { query, rows, pages: pages ?? [] };
}
