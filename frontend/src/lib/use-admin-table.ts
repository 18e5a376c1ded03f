import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import { useSearchParams } from "react-router";
import { adminListQuery, type ListRequest, type ReadList } from "@/lib/admin-list";

interface AdminTableOptions<Row> {
  /** Name of the section, part of the query key. */
  section: string;
  read: ReadList<Row>;
  pageSize: number;
  /** Column and direction when the address names none. */
  sort: string;
  ascending: boolean;
  /** Search parameters of further filters. */
  filters?: readonly string[];
}

export interface AdminTable<Row> {
  section: string;
  read: ReadList<Row>;
  /** Absent until the first page is loaded. */
  rows: readonly Row[] | undefined;
  total: number;
  error: unknown;
  refetch: () => void;
  request: ListRequest;
  /** Whether a search or filter leaves rows out. */
  isNarrowed: boolean;
  page: number;
  pageCount: number;
  setPage: (page: number) => void;
  /** Rows of a page, and what may be chosen. */
  pageSize: number;
  pageSizes: readonly number[];
  setPageSize: (size: number) => void;
  search: (term: string) => void;
  /** Sorts by a column: ascending when it is another one, otherwise the other way round. */
  sortBy: (column: string) => void;
  setFilter: (name: string, value: string) => void;
  /** Id of the row that is open in a panel, or `new` for the form of a new one; null when no panel is open. */
  openId: string | null;
  setOpenId: (id: string | null) => void;
}

const noFilters: readonly string[] = [];

/** Sizes of a page that can be chosen, beside the one that a section begins with. */
const pageSizes = [10, 20, 50, 100];

function pageChange(page: number): { page: string | null } {
  return { page: page === 1 ? null : `${page}` };
}

/** State of a table in the admin area: the search parameters, and the page of rows that they name. */
export function useAdminTable<Row>({
  section,
  read,
  pageSize: defaultSize,
  sort: defaultSort,
  ascending: defaultAscending,
  filters = noFilters,
}: AdminTableOptions<Row>): AdminTable<Row> {
  const [params, setParams] = useSearchParams();
  const page = Math.max(1, Math.floor(Number(params.get("page") ?? "1")) || 1);
  const wantedSize = Number(params.get("size"));
  const pageSize = pageSizes.includes(wantedSize) ? wantedSize : defaultSize;
  const sort = params.get("sort") ?? defaultSort;
  const ascending = params.has("sort") ? params.get("dir") !== "desc" : defaultAscending;
  const request: ListRequest = {
    term: params.get("q")?.trim() ?? "",
    sort,
    ascending,
    filters: Object.fromEntries(
      filters.flatMap((name) => {
        const value = params.get(name);
        return value === null || value === "" ? [] : [[name, value]];
      }),
    ),
    from: (page - 1) * pageSize,
    to: page * pageSize - 1,
  };
  const list = useQuery(adminListQuery(section, request, read));

  /** Changes search parameters; null removes one. Changes of what the table lists begin at the first page. */
  const change = useCallback(
    (changes: Record<string, string | null>, replace = true) => {
      // From the address and not from the last render: a search that waits for the end of typing would undo a click made meanwhile.
      const next = new URLSearchParams(window.location.search);
      if (!("page" in changes || "row" in changes)) next.delete("page");
      for (const [name, value] of Object.entries(changes)) {
        if (value === null || value === "") next.delete(name);
        else next.set(name, value);
      }
      setParams(next, { replace, preventScrollReset: true });
    },
    [setParams],
  );
  // Pages and panels are steps that Back takes back; what is typed and sorted is not.
  const setPage = useCallback((next: number) => change(pageChange(next), false), [change]);

  // Closing leaves no second entry of the open panel behind.
  // Nor does the panel of the next row, which takes the place of the one before.
  const setOpenId = useCallback(
    (id: string | null) =>
      change({ row: id }, id === null || new URLSearchParams(window.location.search).has("row")),
    [change],
  );

  // An empty result of the previous filter must not be shown for the new one.
  const isUnknown = list.isPlaceholderData && list.data?.rows.length === 0;

  // Deleting the only row of the last page leaves the address behind the end of the list: the page before is the last one then. An
  // address far behind the end leads to the first page, because a page without rows does not say how many there are.
  const isBehindEnd = page > 1 && !list.isFetching && list.data?.rows.length === 0;
  const hasRows = (list.data?.rows.length ?? 0) > 0;
  const hasStepped = useRef(false);
  useEffect(() => {
    if (hasRows) hasStepped.current = false;
    if (!isBehindEnd) return;
    change(pageChange(hasStepped.current ? 1 : page - 1), true);
    hasStepped.current = true;
  }, [isBehindEnd, hasRows, page, change]);

  return {
    section,
    read,
    rows: isUnknown ? undefined : list.data?.rows,
    total: list.data?.total ?? 0,
    error: list.data === undefined ? list.error : null,
    refetch: () => void list.refetch(),
    request,
    isNarrowed: request.term !== "" || Object.keys(request.filters).length > 0,
    page,
    pageCount: Math.max(1, Math.ceil((list.data?.total ?? 0) / pageSize)),
    setPage,
    pageSize,
    pageSizes: [...new Set([...pageSizes, defaultSize])].sort((one, other) => one - other),
    setPageSize: (size) => change({ size: size === defaultSize ? null : `${size}` }),
    search: (term) => change({ q: term }),
    sortBy: (column) =>
      change({ sort: column, dir: column === sort && ascending ? "desc" : "asc" }),
    setFilter: (name, value) => change({ [name]: value }),
    openId: params.get("row"),
    setOpenId,
  };
}
