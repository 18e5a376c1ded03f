import { infiniteQueryOptions, type QueryClient, useInfiniteQuery } from "@tanstack/react-query";
import { isSameValue } from "@ui/merge-edit";
import { useMemo } from "react";
import { isView, type Table } from "@/api/catalog-model";
import type { Subject } from "@/api/subject";
import { readPage } from "@/lib/rows/read-page";
import { readView, type TableView } from "@/lib/rows/table-view";
import { readRows } from "@/lib/rows/types";

export const pageSize = 100;
/** Pages kept in memory; those farthest from the visible ones are dropped and read again when they are needed. */
const keptPages = 12;

type Cursor = { after?: string; before?: string; end?: boolean };

function rowPagesQuery(table: Table, columns: readonly string[], view: TableView) {
  const { filters, sort, fromEnd, subject } = view;
  return infiniteQueryOptions({
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
    staleTime: 10_000,
  });
}

/**
 * Reads the first rows of a table that is about to be opened; resolves when they are there or cannot be read. A view may cost
 * anything, so its rows are not read ahead.
 */
export async function prefetchRows(client: QueryClient, table: Table): Promise<void> {
  if (isView(table) || table.kind === "f") return;
  const names = table.columns.map(({ name }) => name);
  const view = readView(new URLSearchParams());
  await client.prefetchInfiniteQuery(rowPagesQuery(table, names, view));
}

function isSameSubject(queryKey: readonly unknown[] | undefined, subject: Subject): boolean {
  const of = queryKey?.at(-1);
  return typeof of === "object" && of !== null && "subject" in of
    ? isSameValue(of.subject, subject)
    : false;
}

/** The rows of a table around the visible ones, read by keyset in both directions. Hidden columns are not read. */
export function useRowPages(table: Table, columns: readonly string[], view: TableView) {
  const query = useInfiniteQuery({
    ...rowPagesQuery(table, columns, view),
    // Rows stay until those of another filter or order are there, but never rows that another person sees.
    placeholderData: (before, query) =>
      isSameSubject(query?.queryKey, view.subject) ? before : undefined,
  });
  const pages = query.data?.pages;
  const rows = useMemo(() => (pages ?? []).flatMap(readPage), [pages]);
  return { query, rows, pages: pages ?? [] };
}
