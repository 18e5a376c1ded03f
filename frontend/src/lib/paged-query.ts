import { infiniteQueryOptions, type QueryKey } from "@tanstack/react-query";
import { pageSize } from "./page-size";

/** Which rows of a list a request is for. */
export interface PageRequest {
  /** First row, counted from 0. */
  from: number;
  /** Last row, inclusive, as PostgREST's `range` counts. */
  to: number;
  signal: AbortSignal;
}

/** The part of PostgREST's query builder that paging uses. */
interface Pageable {
  order(column: string, options?: { ascending?: boolean }): this;
  range(from: number, to: number): this;
  abortSignal(signal: AbortSignal): this;
}

/** Restricts a query to one page of its rows, newest first. The id breaks ties, so that pages never overlap by chance. */
export function newestFirst<Query extends Pageable>(query: Query, page: PageRequest): Query {
  return query
    .order("created_at", { ascending: false })
    .order("id")
    .range(page.from, page.to)
    .abortSignal(page.signal);
}

export interface Page<Row> {
  rows: Row[];
  /** Offset of the next page; absent after the last one. */
  nextOffset: number | undefined;
}

/**
 * Builds a page from what the service returned. A row is null where it refers to something that the reader may not see;
 * it counts as read, but is not shown. A page that came back full may have a successor; a shorter one is the last.
 */
export function buildPage<Row>(read: readonly (Row | null)[], offset: number): Page<Row> {
  return {
    rows: read.filter((row) => row !== null),
    nextOffset: read.length < pageSize ? undefined : offset + read.length,
  };
}

/**
 * Joins the pages to one list. A row published while a user scrolls shifts the others onto the next page, so each is kept
 * once.
 */
export function joinPages<Row extends { id: string }>(pages: readonly Page<Row>[]): Row[] {
  const byId = new Map<string, Row>();
  for (const page of pages) for (const row of page.rows) byId.set(row.id, row);
  return [...byId.values()];
}

interface PagedQuery<Row> {
  queryKey: QueryKey;
  readPage: (page: PageRequest) => Promise<(Row | null)[]>;
  /** Shows the last results while those of a changed filter are loading. */
  keepsPrevious?: boolean;
}

/** A list that is fetched in pages and read as one array. */
export function pagedQuery<Row extends { id: string }>({
  queryKey,
  readPage,
  keepsPrevious = false,
}: PagedQuery<Row>) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: 0,
    queryFn: async ({ pageParam, signal }): Promise<Page<Row>> =>
      buildPage(
        await readPage({ from: pageParam, to: pageParam + pageSize - 1, signal }),
        pageParam,
      ),
    getNextPageParam: (last) => last.nextOffset,
    select: (data) => joinPages(data.pages),
    placeholderData: (previous) => (keepsPrevious ? previous : undefined),
  });
}
