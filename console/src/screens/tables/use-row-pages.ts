import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Table } from "@/api/catalog-model";
import { readPage } from "@/lib/rows/read-page";
import type { TableView } from "@/lib/rows/table-view";
import { readRows } from "@/lib/rows/types";

export const pageSize = 100;
/** Pages kept in memory; those farthest from the visible ones are dropped and read again when they are needed. */
const keptPages = 12;

type Cursor = { after?: string; before?: string; end?: boolean };

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
