/** Filters of the log as they stand in the address, as the server is asked for them, and as chips. */

export interface LogFilter {
  service: string;
  /** A status (`404`), or a class (`4xx`). */
  status: string;
  path: string;
  user: string;
  /** Least duration in milliseconds, as typed. */
  minMs: string;
  requestId: string;
  /** Span as ISO times; empty means from the oldest entry, or up to now. */
  from: string;
  to: string;
}

export type LogFilterKey = keyof LogFilter;

export const logServices = [
  "rest",
  "auth",
  "storage",
  "realtime",
  "functions",
  "graphql",
  "meta",
  "other",
] as const;

export const statusClasses = ["2xx", "3xx", "4xx", "5xx"] as const;

/** Names of the filters in the address, which are also those of `GET /api/logs`. */
const parameters: Record<LogFilterKey, string> = {
  service: "service",
  status: "status",
  path: "path",
  user: "user",
  minMs: "min_ms",
  requestId: "request_id",
  from: "from",
  to: "to",
};

export const logFilterKeys = Object.keys(parameters) as LogFilterKey[];

export const filterLabels: Record<LogFilterKey, string> = {
  service: "Service",
  status: "Status",
  path: "Path",
  user: "User",
  minMs: "At least",
  requestId: "Request",
  from: "From",
  to: "To",
};

/** Reads the filters of an address. What would be refused by the server is ignored, because addresses are edited by hand. */
export function parseLogFilter(search: URLSearchParams): LogFilter {
  const read = (key: LogFilterKey) => search.get(parameters[key])?.trim() ?? "";
  return {
    service: read("service"),
    status: /^([1-5]\d\d|[1-5]xx)$/.test(read("status")) ? read("status") : "",
    path: read("path"),
    user: read("user"),
    minMs: /^\d+(\.\d+)?$/.test(read("minMs")) ? read("minMs") : "",
    requestId: read("requestId"),
    from: isTime(read("from")) ? read("from") : "",
    to: isTime(read("to")) ? read("to") : "",
  };
}

function isTime(text: string): boolean {
  return text !== "" && !Number.isNaN(Date.parse(text));
}

/** A copy of the address with this filter; other parameters, such as the opened request, stay. */
export function writeLogFilter(search: URLSearchParams, filter: LogFilter): URLSearchParams {
  const next = new URLSearchParams(search);
  for (const key of logFilterKeys) {
    if (filter[key] === "") next.delete(parameters[key]);
    else next.set(parameters[key], filter[key]);
  }
  return next;
}

/** The parameters of the address that change with some of the filters; null removes one. */
export function logFilterChange(change: Partial<LogFilter>): Record<string, string | null> {
  return Object.fromEntries(
    logFilterKeys.flatMap((key) => {
      const value = change[key];
      return value === undefined ? [] : [[parameters[key], value === "" ? null : value]];
    }),
  );
}

/** Query of `GET /api/logs` and of the live tail for this filter. */
export function logQuery(filter: LogFilter): URLSearchParams {
  return writeLogFilter(new URLSearchParams(), filter);
}

/** The filters that are set, with the text of their chip. Both ends of a span make one chip. */
export function describeFilter(
  filter: LogFilter,
  formatTime: (iso: string) => string,
): { keys: LogFilterKey[]; label: string; value: string }[] {
  const chips = logFilterKeys
    .filter((key) => key !== "from" && key !== "to" && filter[key] !== "")
    .map((key) => ({
      keys: [key],
      label: filterLabels[key],
      value: key === "minMs" ? `${filter[key]} ms` : filter[key],
    }));
  if (filter.from === "" && filter.to === "") return chips;
  const start = filter.from === "" ? "the oldest" : formatTime(filter.from);
  const end = filter.to === "" ? "now" : formatTime(filter.to);
  return [...chips, { keys: ["from", "to"], label: "Time", value: `${start} – ${end}` }];
}

/**
 * Recognizes the text in the search field: a request id, a status, a duration (`>200ms`), a user's id, or else a part of
 * the path, so that one field accepts whatever was copied from elsewhere.
 */
export function classifySearch(text: string): Partial<LogFilter> {
  const term = text.trim();
  if (/^[1-5](\d\d|xx)$/i.test(term)) return { status: term.toLowerCase() };
  const duration = /^>\s*(\d+(?:\.\d+)?)\s*(ms|s)?$/.exec(term);
  if (duration?.[1] !== undefined) {
    const factor = duration[2] === "s" ? 1000 : 1;
    return { minMs: String(Number(duration[1]) * factor) };
  }
  const id = /^(user:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(term);
  if (id?.[2] !== undefined) return id[1] === undefined ? { requestId: id[2] } : { user: id[2] };
  return { path: term };
}
