/** Requests of the log screen. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { request } from "@/api/client";
import { parseExactMembers } from "@/lib/json-text";
import type { LogPage, RequestDetails } from "./log-entry";
import { type LogFilter, logQuery } from "./log-filter";

const pageSize = "200";

/** Entries that match, newest first, with the histogram of the whole span in the first page. */
export function logsQuery(filter: LogFilter) {
  const query = logQuery(filter);
  return infiniteQueryOptions({
    queryKey: ["logs", query.toString()],
    initialPageParam: null as string | null,
    queryFn: ({ signal, pageParam }) => {
      const asked = new URLSearchParams(query);
      asked.set("limit", pageSize);
      if (pageParam !== null) asked.set("before", pageParam);
      return request<LogPage>(`/api/logs?${asked}`, { signal });
    },
    getNextPageParam: (page) => page.next,
  });
}

export function requestQuery(requestId: string) {
  return queryOptions({
    queryKey: ["logs", "request", requestId],
    queryFn: ({ signal }) =>
      request<RequestDetails>(`/api/logs/${encodeURIComponent(requestId)}`, {
        signal,
        parse: (text) => parseExactMembers(text, ["claims"]),
      }),
    retry: false,
  });
}
