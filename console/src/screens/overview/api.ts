/** Requests of the overview: measurements, slow queries, advisors and sizes. */
import { queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useCatalog } from "@/api/catalog";
import { request, withQuery } from "@/api/client";
import { appendSeries, newestTime, type SeriesAnswer } from "./series";

const seriesKey = ["series"];

/**
 * All series of measurements. The first response contains everything; later ones contain only the values since the newest
 * step of each series, and are appended, so that an open page transfers little more than a hundred bytes a second.
 */
export const seriesQuery = queryOptions({
  queryKey: seriesKey,
  queryFn: async ({ client, signal }) => {
    const known = client.getQueryData<SeriesAnswer>(seriesKey);
    const since = known === undefined ? undefined : newestTime(known, 1);
    const added = await request<SeriesAnswer>(withQuery("/api/series", { since }), { signal });
    return appendSeries(known, added);
  },
  refetchInterval: 1000,
  staleTime: 500,
  // Joined answers share no structure worth comparing, and comparing thousands of numbers a second costs more than drawing them.
  structuralSharing: false,
});

export type SlowOrder = "total" | "mean" | "calls";

export interface SlowQuery {
  /** Null where PostgreSQL keeps the statement to itself. */
  id: string | null;
  query: string | null;
  calls: number;
  total_ms: number;
  mean_ms: number;
  rows: number;
}

export interface SlowQueries {
  available: boolean;
  /** How to enable pg_stat_statements if it is missing. */
  remedy?: string | null;
  queries: SlowQuery[];
}

export function slowQueriesQuery(order: SlowOrder) {
  return queryOptions({
    queryKey: ["slow-queries", order],
    queryFn: ({ signal }) =>
      request<SlowQueries>(withQuery("/api/slow-queries", { order }), { signal }),
    refetchInterval: 15_000,
  });
}

export type FindingLevel = "error" | "warn" | "info";

export interface Finding {
  name: string;
  level: FindingLevel;
  title: string;
  why: string;
  object: { schema: string | null; name: string; kind: string };
  /** SQL that mends it, where there is one. */
  fix: string | null;
  /** Names this finding on this object, for muting. */
  key: string;
}

export interface Advice {
  findings: Finding[];
  muted: string[];
}

export const advisorsQuery = queryOptions({
  queryKey: ["advisors"],
  queryFn: ({ signal }) => request<Advice>("/api/advisors", { signal }),
  // Some findings depend on statistics and rows; those about the schema are asked for when it changes.
  refetchInterval: 30_000,
});

/** The findings. They are asked for again when the catalog has changed, so that a finding disappears soon after its fix. */
export function useAdvice() {
  const client = useQueryClient();
  const catalog = useCatalog();
  const known = useRef(catalog);
  useEffect(() => {
    if (known.current !== undefined && known.current !== catalog) {
      void client.invalidateQueries({ queryKey: advisorsQuery.queryKey });
    }
    known.current = catalog;
  }, [client, catalog]);
  return useQuery(advisorsQuery);
}

/** Mutes or unmutes a finding for all users of the console. */
export function useMuteFinding() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key, isMuted }: { key: string; isMuted: boolean }) =>
      request<void>(`/api/advisors/muted/${encodeURIComponent(key)}`, {
        method: isMuted ? "PUT" : "DELETE",
      }),
    onSettled: () => client.invalidateQueries({ queryKey: advisorsQuery.queryKey }),
  });
}

/** Of a table of Citus that other nodes store rows of, the numbers are null. */
export interface TableSize {
  schema: string;
  name: string;
  bytes: number | null;
  index_bytes: number | null;
  rows: number | null;
}

export interface Sizes {
  database_bytes: number;
  storage_bytes: number | null;
  tables: TableSize[];
}

export const sizesQuery = queryOptions({
  queryKey: ["sizes"],
  queryFn: ({ signal }) => request<Sizes>("/api/sizes", { signal }),
  refetchInterval: 30_000,
});

/** The plan of a statement whose values were replaced by `$n`, as PostgreSQL would choose it for unknown values. */
export function planQuery(text: string) {
  return queryOptions({
    queryKey: ["plan", text],
    queryFn: ({ signal }) =>
      request<{ plan: unknown }>("/api/sql/explain", {
        json: { text, analyze: false, subject: { kind: "admin" } },
        signal,
      }),
    retry: false,
    staleTime: 60_000,
  });
}
