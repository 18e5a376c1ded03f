import { type QueryKey, queryOptions } from "@tanstack/react-query";
import { adminKey } from "@/lib/admin-key";
import { rowsOf, ServiceError } from "@/lib/service-error";

/** Which rows of a table in the admin area are shown. All of it is in the address. */
export interface ListRequest {
  /** Part of a name; empty for all rows. */
  term: string;
  /** Column to sort by. */
  sort: string;
  ascending: boolean;
  /** Values of further filters, by the names of their search parameters; absent when not set. */
  filters: Readonly<Record<string, string>>;
  /** First row, counted from 0. */
  from: number;
  /** Last row, inclusive, as PostgREST's `range` counts. */
  to: number;
  /** Only the row with this id. */
  id?: string;
}

export interface ListResult<Row> {
  rows: Row[];
  /** How many rows match on all pages together. */
  total: number;
}

export type ReadList<Row> = (request: ListRequest, signal: AbortSignal) => Promise<ListResult<Row>>;

/** Error code of PostgREST for a page behind the last row. */
const rangeNotSatisfiable = "PGRST103";

interface CountedResponse<Row> {
  data: Row[] | null;
  error: { message: string; code: string } | null;
  status: number;
  count: number | null;
}

/** The rows of a response that was asked for with `count: "exact"`. A page behind the last row is empty. */
export function listOf<Row>(response: CountedResponse<Row>): ListResult<Row> {
  if (response.error?.code === rangeNotSatisfiable) return { rows: [], total: 0 };
  const rows = rowsOf(response);
  if (response.count === null) {
    throw new ServiceError("The service responded without a count.", "", response.status);
  }
  return { rows, total: response.count };
}

/** Milliseconds for which a list that was just read is not read again. */
const freshMs = 10_000;

export function adminListKey(section: string): QueryKey {
  return [...adminKey, "list", section];
}

/** One row of a section, whatever page it is on; null when it does not exist. */
export function adminRowQuery<Row>(section: string, id: string, read: ReadList<Row>) {
  return queryOptions({
    queryKey: [...adminKey, "row", section, id],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const request = { term: "", sort: "", ascending: true, filters: {}, from: 0, to: 0, id };
      const { rows } = await read(request, signal);
      return rows[0] ?? null;
    },
  });
}

/** One page of a section's table. While another page or filter loads, the rows before it stay visible. */
export function adminListQuery<Row>(section: string, request: ListRequest, read: ReadList<Row>) {
  return queryOptions({
    queryKey: [...adminListKey(section), request],
    queryFn: ({ signal }) => read(request, signal),
    placeholderData: (previous) => previous,
    // Others work on the same lists: who comes back to the window sees what they have done.
    staleTime: freshMs,
    refetchOnWindowFocus: true,
  });
}
